import type { CommandList, Expansion, Span } from "./shell-commands.ts";
import type { Hole } from "./shell-context.ts";
import { type Findings, InnerPrograms } from "./shell-inner-programs.ts";
import type { LexedShell } from "./shell-lexer.ts";
import {
  EXECUTED_VARIABLES,
  OPTIONS_START,
  PARALLEL_VALUES,
  PREFIXES,
  readerOf,
  STARTS_NOTHING,
  WRAPPERS,
} from "./shell-readers.ts";
import { ExecutionRules } from "./shell-rules.ts";
import { ASSIGNMENT } from "./shell-structure.ts";
import {
  firstFrom,
  type HoleKind,
  ShellValues,
  type Taint,
  taintOfAll,
  type ValueContext,
  type Word,
} from "./shell-values.ts";

const NO_CONTEXT: ValueContext = { names: new Map(), positional: undefined, input: undefined, depth: 0 };
/** Values propagate between variables; at most this many assignments in sequence are followed, in any order. */
const PASSES_MAX = 8;

const DECLARES: ReadonlySet<string> = new Set(["export", "declare", "typeset", "local", "readonly"]);
const READS_NAMES: ReadonlySet<string> = new Set(["read", "mapfile", "readarray"]);
const COMPARES = /^-(?:eq|ne|lt|le|gt|ge|v)$/;

/** Finds the values of a command that become part of a program that an interpreter reads. */
export function findExecution(
  source: string,
  lexed: LexedShell,
  kindOf: (hole: number) => HoleKind,
): ExecutionRules {
  const rules = new ExecutionRules();
  if (lexed.holes.length > 0) findInside(source, lexed, { kindOf, outer: (hole) => hole, rules }, NO_CONTEXT);
  return rules;
}

function findInside(source: string, lexed: LexedShell, findings: Findings, context: ValueContext): void {
  new ExecutionFinder(source, lexed, findings, context).find();
}

class ExecutionFinder {
  readonly #shared: Findings;
  readonly #rules: ExecutionRules;
  readonly #values: ShellValues;
  readonly #programs: InnerPrograms;
  readonly #integerNames = new Set<string>();
  readonly #hasKeys: boolean;
  #changed = false;

  constructor(source: string, lexed: LexedShell, findings: Findings, context: ValueContext) {
    this.#shared = findings;
    this.#rules = findings.rules;
    this.#values = new ShellValues(source, lexed, findings, context);
    this.#programs = new InnerPrograms(this.#values, findings, context, findInside);
    this.#hasKeys = /\b(?:declare|local|typeset)\s+-\w*A/.test(source);
  }

  find(): void {
    const { lists } = this.#values.lexed;
    for (let pass = 0; pass < PASSES_MAX; pass += 1) {
      this.#changed = false;
      for (const list of lists) this.#visitList(list);
      if (!this.#changed) break;
    }
    this.#visitArithmetic();
  }

  #visitList(list: CommandList): void {
    const structure = this.#values.structures.get(list);
    if (structure === undefined || list.opener === "array") return;
    for (const [index, { assignments, words }] of structure.parsed.entries()) {
      for (const span of assignments) this.#assign(span, list);
      this.#visitCommand(
        words.map((span) => this.#values.word(span, list)),
        list,
        index,
      );
    }
  }

  #assign(span: Span, list: CommandList): void {
    const written = this.#values.textOf(span);
    const [head = "", name = ""] = ASSIGNMENT.exec(written) ?? [];
    const taint = this.#values.taintOf({ start: span.start + head.length, end: span.end }, list);
    this.#setName(name, taint);
  }

  #setName(name: string, taint: Taint | undefined): void {
    if (taint === undefined) return;
    if (EXECUTED_VARIABLES.has(name)) this.#rules.execute(taint, `the variable ${name}`);
    if (this.#integerNames.has(name)) this.#rules.requireInteger(taint);
    const known = this.#values.names.get(name);
    if (known !== undefined && (known.exact || !taint.exact)) return;
    this.#values.names.set(name, taint);
    this.#changed = true;
  }

  #visitCommand(words: readonly Word[], list: CommandList, index: number): void {
    const [first, second] = words;
    if (first === undefined) return;
    const { text } = first;
    if (text === "for" || text === "select") {
      this.#setName(second?.text ?? "", taintOfAll(words.slice(2)));
      return;
    }
    if (text === "[[") this.#visitTest(words, list);
    if (text === "let") this.#calculate(words.map(({ text: word }) => word).join(" "));
    if (first.taint !== undefined && first.splits && !text.startsWith("("))
      this.#rules.execute(first.taint, "the shell, as a command");
    const name = baseName(text);
    if (DECLARES.has(name)) this.#declare(words);
    else if (READS_NAMES.has(name)) this.#readNames(words, this.#values.inputOf(list, index), list);
    else if (name === "printf" && second?.text === "-v") {
      this.#requireName(words[2]?.taint);
      this.#setName(words[2]?.text ?? "", taintOfAll(words.slice(3)));
    } else if (name === "set") this.#setPositional(taintOfAll(words.slice(1)));
    else if (this.#values.functions.has(text)) {
      this.#setPositional(taintOfAll(words.slice(1)));
      const input = this.#values.inputOf(list, index);
      if (input !== undefined && !this.#values.functionInput.has(text)) {
        this.#values.functionInput.set(text, input);
        this.#changed = true;
      }
    }
    if (name === "unset") this.#requireName(taintOfAll(words.slice(1)));
    if ((name === "test" || name === "[") && second?.text === "-v") this.#requireName(words[2]?.taint);
    if (STARTS_NOTHING.has(name)) return;
    if (OPTIONS_START.has(name)) this.#checkOperands(name, words.slice(1));
    if (Object.hasOwn(PREFIXES, name)) this.#checkCommand(name, words.slice(1));
    this.#visitReaders(words, list, index);
  }

  #setPositional(taint: Taint | undefined): void {
    if (taint === undefined || this.#values.positional !== undefined) return;
    this.#values.positional = taint;
    this.#changed = true;
  }

  #declare(words: readonly Word[]): void {
    const integers = words.some(({ text }) => /^-\w*i/.test(text));
    for (const { text, taint } of words.slice(1)) {
      const [, assigned] = ASSIGNMENT.exec(text) ?? [];
      const name = assigned ?? (/^[A-Za-z_]\w*$/.test(text) ? text : undefined);
      if (name === undefined) {
        this.#requireName(taint);
        continue;
      }
      if (integers) {
        this.#integerNames.add(name);
        const known = this.#values.names.get(name);
        if (known !== undefined) this.#rules.requireInteger(known);
      }
      if (assigned !== undefined) this.#setName(name, taint);
    }
  }

  #requireName(taint: Taint | undefined): void {
    if (taint !== undefined) this.#rules.variableNames.add(taint.hole);
  }

  #readNames(words: readonly Word[], input: Taint | undefined, list: CommandList): void {
    const callback = words.findIndex(({ text }) => text === "-C");
    const program = callback < 0 ? undefined : words[callback + 1];
    if (program !== undefined)
      this.#programs.readProgram([program], { name: "mapfile -C", isShell: true }, list, {
        positional: input,
        input,
        suffix: ' "$1" "$2"',
      });
    for (const { text, taint } of words.slice(1)) if (!text.startsWith("-")) this.#requireName(taint);
    if (input === undefined) return;
    const names = words.slice(1).filter(({ text }) => /^[A-Za-z_]\w*$/.test(text));
    for (const { text } of names) this.#setName(text, input);
    if (names.length === 0) for (const name of ["REPLY", "MAPFILE"]) this.#setName(name, input);
  }

  /** Operands of `-eq` and similar operators are evaluated as arithmetic. */
  #visitTest(words: readonly Word[], list: CommandList): void {
    for (const [at, { text }] of words.entries()) {
      if (!COMPARES.test(text)) continue;
      for (const operand of [words[at - 1], words[at + 1]]) {
        if (operand === undefined) continue;
        this.#calculate(operand.text);
        this.#requirePrinted(operand.span, list);
      }
    }
  }

  /** Requires that commands print an integer, if they print a value unchanged. */
  #requirePrinted(span: Span, list: CommandList): void {
    const { holes, expansions } = this.#values.lexed;
    for (let at = firstFrom(holes, span.start); (holes[at]?.index ?? span.end) < span.end; at += 1) {
      const hole = holes[at] as Hole;
      this.#rules.requireInteger({
        hole: this.#shared.outer(at),
        exact: this.#values.isExact(hole.list, list),
      });
    }
    for (
      let at = firstFrom(expansions, span.start);
      (expansions[at]?.index ?? span.end) < span.end;
      at += 1
    ) {
      const expansion = expansions[at] as Expansion;
      const taint = this.#values.valueOf(expansion);
      if (taint !== undefined && this.#values.isExact(expansion.list, list))
        this.#rules.requireInteger(taint);
    }
  }

  #calculate(text: string): void {
    for (const [name] of text.matchAll(/[A-Za-z_]\w*/g)) {
      const taint = this.#values.names.get(name);
      if (taint !== undefined) this.#rules.requireInteger(taint);
    }
  }

  #visitArithmetic(): void {
    for (const span of this.#values.lexed.arithmetic) this.#calculate(this.#values.textOf(span));
    for (const list of this.#values.lexed.lists)
      if (list.arithmetic && list.parent !== undefined && !this.#hasKeys)
        this.#requirePrinted(list, list.parent);
    for (const expansion of this.#values.lexed.expansions) {
      const taint = this.#values.valueOf(expansion);
      if (taint === undefined) continue;
      if (expansion.indirect) this.#rules.execute(taint, "the shell, as a variable's name");
      else if (expansion.arithmetic && !this.#hasKeys) this.#rules.requireInteger(taint);
    }
  }

  #checkOperands(name: string, words: readonly Word[]): void {
    for (const { text, taint, leads } of words) {
      if (text === "--") return;
      if (taint !== undefined && leads) this.#rules.requireOperand(taint, name);
      if (name === "make" && taint !== undefined && ASSIGNMENT.test(text)) this.#rules.execute(taint, "make");
      if (name === "env" && taint !== undefined) {
        const variable = ASSIGNMENT.exec(text)?.[1];
        if (variable !== undefined)
          this.#setName(variable, EXECUTED_VARIABLES.has(variable) ? taint : undefined);
        if (/^(?:-\w*S|--split-string)/.test(text)) this.#rules.execute(taint, "env -S");
      }
      if (taint !== undefined && /(?:Proxy|Local|Remote|KnownHosts)Command|^-o?\0$/.test(text))
        this.#rules.execute(taint, `${name} -o`);
    }
    if (name !== "env") return;
    const split = words.findIndex(({ text }) => /^(?:-\w*S|--split-string)$/.test(text));
    if (split >= 0) this.#rules.execute(words[split + 1]?.taint, "env -S");
  }

  /** Rejects a command after a prefix whose name is made of a value's words. */
  #checkCommand(name: string, words: readonly Word[]): void {
    for (let at = 0; at < words.length; at += 1) {
      const { text, taint, splits, vanishes } = words[at] as Word;
      if (taint !== undefined && splits) this.#rules.execute(taint, `${name}, as a command`);
      if (taint === undefined && PREFIXES[name]?.test(text) === true) at += 1;
      else if (!text.startsWith("-") && !ASSIGNMENT.test(text) && !/^\d/.test(text) && !vanishes) return;
    }
  }

  /**
   * Looks for interpreters: the first word, the words after `sudo` and similar prefixes, or the words of an unknown
   * command.
   */
  #visitReaders(words: readonly Word[], list: CommandList, index: number): void {
    const [first] = words;
    if (first === undefined) return;
    const wrapped = WRAPPERS.has(baseName(first.text));
    let added: Word | undefined;
    let inserted = "";
    for (let at = 0; at < words.length; at += 1) {
      const word = words[at] as Word;
      const name = baseName(word.text);
      if (name === "xargs" || name === "parallel") {
        const input =
          this.#values.inputOf(list, index) ?? (name === "parallel" ? argumentsOf(words) : undefined);
        inserted = replacementOf(name, words.slice(at + 1));
        if (input !== undefined)
          added = { span: word.span, text: "", taint: input, splits: true, leads: true, vanishes: true };
        if (name === "parallel") this.#visitParallel(words.slice(at + 1), list, added);
        if (
          added !== undefined &&
          /^(?:sudo|env|nice|timeout|nohup)$/.test(baseName(words.at(-1)?.text ?? ""))
        )
          this.#rules.execute(added.taint, name);
      }
      const reader = word.taint === undefined ? readerOf(name) : undefined;
      if (reader === undefined) continue;
      const rest = words.slice(at + 1).map((next) =>
        added !== undefined && inserted !== "" && next.text.includes(inserted)
          ? {
              ...next,
              taint: next.taint ?? added.taint,
              leads: next.leads || next.text.startsWith(inserted),
              splits: next.splits,
            }
          : next,
      );
      const given = added === undefined || inserted !== "" ? rest : [...rest, added];
      this.#programs.visitReader(name, reader, given, { list, index, isDirect: at === 0 || wrapped });
    }
  }

  /** GNU parallel passes its words to a shell, with its arguments quoted. */
  #visitParallel(words: readonly Word[], list: CommandList, added: Word | undefined): void {
    const end = words.findIndex(({ text }) => text.startsWith(":::"));
    const own = (end < 0 ? words : words.slice(0, end)).filter(
      ({ text }, at) => !text.startsWith("-") && !PARALLEL_VALUES.test(words[at - 1]?.text ?? ""),
    );
    if (own.length === 0) this.#rules.execute(added?.taint, "parallel");
    else this.#programs.readProgram(own, { name: "parallel", isShell: true }, list, {});
  }
}

/** The words after `:::` of parallel. */
function argumentsOf(words: readonly Word[]): Taint | undefined {
  const from = words.findIndex(({ text }) => text.startsWith(":::"));
  return from < 0 ? undefined : taintOfAll(words.slice(from));
}

/** The text that xargs and parallel replace with an argument; empty if the argument follows the other words. */
function replacementOf(name: string, words: readonly Word[]): string {
  for (const [at, { text }] of words.entries()) {
    if (text === "-I" || text === "--replace" || text === "-J") return words[at + 1]?.text ?? "";
    const attached = /^(?:-I|--replace=|-i)(.+)$/.exec(text)?.[1];
    if (attached !== undefined) return attached;
    if (text === "-i") return "{}";
  }
  return name === "parallel" && words.some(({ text }) => text.includes("{}")) ? "{}" : "";
}

function baseName(text: string): string {
  return text.slice(text.lastIndexOf("/") + 1) || text;
}
