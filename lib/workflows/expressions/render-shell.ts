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

/** The kernel takes at most 128 KiB in one string of an environment. */
const MAX_ENV_BYTES = 96 * 1024;
/** The kernel takes 2 MiB of arguments and environment together with the usual stack limit. */
const MAX_TOTAL_BYTES = 1024 * 1024;
/** Each word of `| split` is a variable of its own. */
const MAX_WORDS = 4096;
const INTEGER = /^\s*(?:[+-]?\d+\s*)?$/;
const ELEMENT = /^\s*[A-Za-z_]\w*\[/;

export interface ShellOptions {
  /** Largest value passed in the environment, in bytes; larger ones go by file. 96 KiB where not given. */
  readonly maxEnvBytes?: number;
  /** All values in the environment together, in bytes. 1 MiB where not given. */
  readonly maxTotalBytes?: number;
  /** Writes a value that is too large; without it such a value is an error. */
  readonly writeFile?: WriteFile;
  /** Names whose values are the workflow's own text (param defaults, our paths) and go in as syntax. */
  readonly trusted?: Trust;
}

export interface ShellCommand {
  /** For bash. */
  readonly script: string;
  /** To be added to the environment of the process. */
  readonly env: Readonly<Record<string, string>>;
  /** What `writeFile` wrote; to be removed when the command is done. */
  readonly files: readonly ShellFile[];
}

/** A value on its way into the command. */
interface Slot {
  readonly reference: Reference;
  readonly text: string;
  /** The text is quoted for a shell already: as one word, or as the words of a list. */
  readonly quoted?: "word" | "words";
  /** The parts of one that ends in `| split`. */
  readonly words?: readonly string[];
}

/**
 * Renders a bash command. A value becomes a reference to an environment variable, quoted as its place
 * needs: it is one word, or part of one, and never syntax; in a comment it is dropped. Exceptions, by name
 * or filter: trusted names, literals and `| raw` are text; `| split` makes each part a word of its own where
 * the shell splits words, with no glob expansion; `| shell` is quoted text, for an inner shell to read.
 * Where bash evaluates arithmetic only integers are taken. The body of a quoted here-document keeps all of its
 * other text as it is. Throws ExecutedValueError for a value that reaches an interpreter, and TemplateError for
 * one as a variable's name or with a NUL among others.
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

/** Why a value cannot stand where this interpreter reads it. */
export function executedMessage(reader: string): string {
  return `${reader} reads this value as part of a program, so the value could execute commands: pass it as an argument or in a variable (bash -c '… "$1" …' _ {{x}}), write | shell where a shell reads it as one word, or | raw if whoever sets the value may execute commands`;
}

/** A text to be put in as it stands, or a slot. */
function readSlot(reference: Reference, values: Values, trust: Trust | undefined): Slot | string {
  const { expression, offset } = reference;
  const { value, trusted } = evaluate(expression, values, trust);
  const parts = endsWith(expression, "split") ? words(value).map(toText) : undefined;
  const text = parts === undefined ? toText(value) : parts.join(" ");
  if (text.includes(HOLE))
    throw new TemplateError("a value with a NUL cannot stand in a shell command", offset);
  if (isRaw(expression)) return text;
  // Quoted text has to know what reads it before it can be put in, even where the value is trusted.
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
      // Where this shell is the one to read it; an inner one gets the quoted text as data.
      if (!inProgram && isReadHere(hole, slot)) return slot.text;
      if (slot.words !== undefined && hole.argument) {
        return slot.words.map((word) => `"${bind(word)}"`).join(" ");
      }
      return `"${bind(slot.text)}"`;
    default:
      return bind(slot.text);
  }
}

/** Whether quoted text is syntax of this command: a list only where words stand side by side, or `x=a b` runs b. */
function isReadHere(hole: Hole, slot: Slot): boolean {
  if (slot.quoted === undefined || hole.expansion) return false;
  return slot.quoted === "word" || hole.argument;
}

/** What a backslash or dollar sign before the value becomes, so that it acts on nothing. */
function rewriteBefore(hole: Hole): string {
  if (hole.before === "" || hole.arithmetic) return "";
  if (hole.before === "$") return "\\$";
  return hole.quoting === "bare" ? "" : "\\\\";
}

/** What reaches an interpreter is refused, whatever it is; what may become an option or syntax, by its text. */
function checkExecution(position: number, slot: Slot, rules: ExecutionRules): void {
  const { offset } = slot.reference;
  const reader = rules.executed.get(position);
  if (reader !== undefined) throw new ExecutedValueError(executedMessage(reader), offset);
  const texts = slot.words ?? [slot.text];
  if (rules.integers.has(position) && !texts.every((text) => INTEGER.test(text))) {
    throw new TemplateError("only an integer can stand in a variable that the shell calculates with", offset);
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
      "a value in a program of sed can only have letters, digits, spaces and the characters _ . , : @ % + = / -, and not its delimiter",
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
    fail("a value cannot stand here inside backticks; write $(…) instead");
  }
  if (hole.arithmetic && !INTEGER.test(slot.text)) {
    fail("only an integer can stand where the shell calculates; put the value into a variable first");
  }
  if (hole.names && ELEMENT.test(slot.text)) {
    fail("a value with a subscript cannot be the name of a shell variable");
  }
  if ((slot.words?.length ?? 0) > MAX_WORDS) {
    fail(`| split made more than ${MAX_WORDS} words; write them to a file and use xargs`);
  }
}
