import { endsWith, evaluate, isRaw, type Trust } from "./evaluate.ts";
import { words } from "./filters.ts";
import { type Reference, type TemplateSource, toTemplate } from "./parse.ts";
import type { Hole } from "./shell-context.ts";
import { findExecution } from "./shell-execution.ts";
import { HOLE, lexShell } from "./shell-lexer.ts";
import type { ExecutionRules } from "./shell-rules.ts";
import { applyEdits, type Edit, unquoteHeredoc, withHoles } from "./shell-source.ts";
import type { HoleKind } from "./shell-values.ts";
import { type ShellFile, ShellVariables, type WriteFile } from "./shell-variables.ts";
import { ExecutedValueError, TemplateError } from "./template-error.ts";
import { toText, type Values } from "./values.ts";

/** Linux allows at most 128 KiB in one environment string. */
const MAX_ENV_BYTES = 96 * 1024;
/** Linux allows 2 MiB of arguments and environment together with the usual stack limit. */
const MAX_TOTAL_BYTES = 1024 * 1024;
/** Each word of `| split` is a separate variable. */
const MAX_WORDS = 4096;
const INTEGER = /^\s*(?:[+-]?\d+\s*)?$/;
const ELEMENT = /^\s*[A-Za-z_]\w*\[/;

export interface ShellOptions {
  /** Largest value in the environment, bytes; larger values are written to files. Default: 96 KiB. */
  readonly maxEnvBytes?: number;
  /** Maximum total size of the values in the environment, bytes. Default: 1 MiB. */
  readonly maxTotalBytes?: number;
  /** Writes a value that is too large; without it such a value is an error. */
  readonly writeFile?: WriteFile;
  /** Names whose values are the workflow's own text (param defaults, Weft's paths) and are inserted as syntax. */
  readonly trusted?: Trust;
}

export interface ShellCommand {
  /** The script for bash. */
  readonly script: string;
  /** Variables to add to the environment of the process. */
  readonly env: Readonly<Record<string, string>>;
  /** The files that `writeFile` wrote; the caller removes them after the command. */
  readonly files: readonly ShellFile[];
}

/** A value to be inserted into the command. */
interface Slot {
  readonly reference: Reference;
  readonly text: string;
  /** The text is already quoted for a shell, as one word or as the words of a list. */
  readonly quoted?: "word" | "words";
  /** The parts of a value that ends in `| split`. */
  readonly words?: readonly string[];
}

/**
 * Renders a bash command. A value becomes a reference to an environment variable, quoted as its position requires: it
 * is one word, or part of one, and never syntax; in a comment it is dropped. Exceptions, by name or filter: trusted
 * names, literals and `| raw` are text; `| split` makes each part a separate word where the shell splits words,
 * without glob expansion; `| shell` is quoted text for an inner shell. Where bash evaluates arithmetic, only integers
 * are accepted. All other text in the body of a quoted here-document is unchanged. Throws ExecutedValueError for a
 * value that reaches an interpreter, and TemplateError for other invalid values, such as a variable's name or a value
 * with a NUL.
 */
export function renderShell(
  source: TemplateSource,
  values: Values,
  options: ShellOptions = {},
): ShellCommand {
  const template = toTemplate(source);
  const slots: Slot[] = [];
  const { source: text } = withHoles(template, (reference) => {
    const slot = readSlot(reference, values, options.trusted);
    if (typeof slot === "string") return slot;
    slots.push(slot);
    return undefined;
  });
  const variables = new ShellVariables(text, {
    maxEnvBytes: options.maxEnvBytes ?? MAX_ENV_BYTES,
    maxTotalBytes: options.maxTotalBytes ?? MAX_TOTAL_BYTES,
    writeFile: options.writeFile,
  });
  const lexed = lexShell(text);
  const { holes, quotedHeredocs } = lexed;
  const rules = findExecution(text, lexed, (hole) => kindOf(slots[hole]));
  const edits: Edit[] = quotedHeredocs.flatMap((heredoc) => unquoteHeredoc(text, heredoc));
  for (const [position, hole] of holes.entries()) {
    const slot = slots[position];
    if (slot === undefined) break;
    checkExecution(position, slot, rules);
    edits.push(fill(hole, slot, variables, rules.inProgram.has(position)));
  }
  edits.sort((one, other) => one.index - other.index);
  const script =
    variables.files.length === 0 ? applyEdits(text, edits) : variables.prelude + applyEdits(text, edits);
  return { script, env: variables.env, files: variables.files };
}

/** Explains why a value is rejected where this interpreter reads it. */
export function executedMessage(reader: string): string {
  return `${reader} reads this value as part of a program, so the value could execute commands: pass it as an argument or in a variable (bash -c '… "$1" …' _ {{x}}), write | shell where a shell reads it as one word, or | raw if whoever sets the value may execute commands`;
}

/** Returns text to insert unchanged, or a slot. */
function readSlot(reference: Reference, values: Values, trust: Trust | undefined): Slot | string {
  const { expression, offset } = reference;
  const { value, trusted } = evaluate(expression, values, trust);
  const parts = endsWith(expression, "split") ? words(value).map(toText) : undefined;
  const text = parts === undefined ? toText(value) : parts.join(" ");
  if (text.includes(HOLE))
    throw new TemplateError("a value with a NUL is not allowed in a shell command", offset);
  if (isRaw(expression)) return text;
  // The reader of quoted text must be known before the text is inserted, even if the value is trusted.
  if (expression.kind === "filter" && expression.name === "shell") {
    const { value: unquoted } = evaluate(expression.input, values);
    return { reference, text, quoted: Array.isArray(unquoted) ? "words" : "word" };
  }
  if (trusted) return text;
  return parts === undefined ? { reference, text } : { reference, text, words: parts };
}

const kindOf = (slot: Slot | undefined): HoleKind =>
  slot?.quoted !== undefined ? "shell" : slot?.words !== undefined ? "split" : undefined;

function fill(hole: Hole, slot: Slot, variables: ShellVariables, inProgram: boolean): Edit {
  const { offset } = slot.reference;
  check(hole, slot);
  const rewritten = rewriteBefore(hole);
  return {
    index: hole.index - hole.before.length,
    length: 1 + hole.before.length,
    text: rewritten + placed(hole, slot, inProgram, (text) => `\${${variables.bind(text, offset)}}`),
  };
}

function placed(hole: Hole, slot: Slot, inProgram: boolean, bind: (text: string) => string): string {
  switch (hole.quoting) {
    case "comment":
      return "";
    case "single":
      return `'"${bind(slot.text)}"'`;
    case "ansi":
      return `'"${bind(slot.text)}"$'`;
    case "bare":
      if (hole.arithmetic) return bind(slot.text);
      // Insert as is only if this shell reads the text; an inner shell receives the quoted text as data.
      if (!inProgram && isReadHere(hole, slot)) return slot.text;
      if (slot.words !== undefined && hole.argument) {
        return slot.words.map((word) => `"${bind(word)}"`).join(" ");
      }
      return `"${bind(slot.text)}"`;
    default:
      return bind(slot.text);
  }
}

/** Whether quoted text is syntax of this command. A list is allowed only between words, since `x=a b` runs b. */
function isReadHere(hole: Hole, slot: Slot): boolean {
  if (slot.quoted === undefined || hole.expansion) return false;
  return slot.quoted === "word" || hole.argument;
}

/** The replacement of a backslash or dollar sign before the value, so that it has no effect. */
function rewriteBefore(hole: Hole): string {
  if (hole.before === "" || hole.arithmetic) return "";
  if (hole.before === "$") return "\\$";
  return hole.quoting === "bare" ? "" : "\\\\";
}

/** Rejects every value that reaches an interpreter, and by its text a value that may become an option or syntax. */
function checkExecution(position: number, slot: Slot, rules: ExecutionRules): void {
  const { offset } = slot.reference;
  const reader = rules.executed.get(position);
  if (reader !== undefined) throw new ExecutedValueError(executedMessage(reader), offset);
  const texts = slot.words ?? [slot.text];
  if (rules.integers.has(position) && !texts.every((text) => INTEGER.test(text))) {
    throw new TemplateError("a variable in shell arithmetic must be an integer", offset);
  }
  if (rules.variableNames.has(position) && texts.some((text) => ELEMENT.test(text))) {
    throw new TemplateError("a value with a subscript cannot be the name of a shell variable", offset);
  }
  const command = rules.operands.get(position);
  if (command !== undefined && texts.some((text) => text.startsWith("-"))) {
    const advice = "write -- before the value, or ./ before a path";
    throw new TemplateError(
      `${command} would take a value that begins with "-" for an option: ${advice}`,
      offset,
    );
  }
  const delimiter = rules.sedTexts.get(position);
  if (delimiter !== undefined && !isSedText(slot.text, delimiter)) {
    throw new TemplateError(
      "a value in a sed program may contain only letters, digits, spaces and the characters _ . , : @ % + = / -, and not the delimiter",
      offset,
    );
  }
}

const isSedText = (text: string, delimiter: string): boolean =>
  /^[\w .,:@%+=/-]*$/.test(text) && !text.includes(delimiter);

function check(hole: Hole, slot: Slot): void {
  const fail = (message: string): never => {
    throw new TemplateError(message, slot.reference.offset);
  };
  if (hole.quoting === "heredoc-delimiter") fail("a value cannot be the delimiter of a here-document");
  if (hole.quoting === "variable-name") fail("a value cannot be the name of a shell variable in ${…}");
  if (hole.quoting === "comment") return;
  if (
    hole.backticks > 1 ||
    (hole.backticks === 1 && (hole.before !== "" || hole.quoting === "quoted-heredoc"))
  ) {
    fail("a value is not allowed here inside backticks: use $(…) instead");
  }
  if (hole.arithmetic && !INTEGER.test(slot.text)) {
    fail("a value in shell arithmetic must be an integer; assign it to a variable first");
  }
  if (hole.names && ELEMENT.test(slot.text)) {
    fail("a value with a subscript cannot be the name of a shell variable");
  }
  if ((slot.words?.length ?? 0) > MAX_WORDS) {
    fail(`| split resulted in more than ${MAX_WORDS} words: write them to a file and use xargs`);
  }
}
