import type { CommandList, Span } from "./shell-commands.ts";
import type { Hole } from "./shell-context.ts";
import { HOLE, lexShell } from "./shell-lexer.ts";
import type { Reader } from "./shell-readers.ts";
import type { ExecutionRules } from "./shell-rules.ts";
import {
  firstFrom,
  type HoleKind,
  type ShellValues,
  type Taint,
  taintOfAll,
  type ValueContext,
  type Word,
} from "./shell-values.ts";
import { unescapeHeredoc, unquote } from "./shell-words.ts";

const INPUT_FILE = /^(?:-|\/dev\/(?:stdin|fd\/0)|\/proc\/self\/fd\/0)$/;
/** Text of sed up to a value inside `s/…/…/` or `/…/`. */
const SED_SUBSTITUTE = /(?:^|[\s;{}\n\d$/!])s([^\w\s\\])(?:(?!\1).|\\.)*(?:\1(?:(?!\1).|\\.)*)?$/s;
const SED_ADDRESS = /(?:^|[;{}\n,])\s*(\/)(?:[^/\\]|\\.)*$/s;
/** Maximum depth of nested programs that are analysed. */
const DEPTH_MAX = 6;

/** Identifies the holes of a text and collects the results for them. */
export interface Findings {
  readonly kindOf: (hole: number) => HoleKind;
  /** Maps a hole to its number in the whole command. */
  readonly outer: (hole: number) => number;
  readonly rules: ExecutionRules;
}

/** Analyses a shell program inside another. */
export type FindInside = (
  text: string,
  lexed: ReturnType<typeof lexShell>,
  findings: Findings,
  context: ValueContext,
) => void;

/** Context of the shell that starts a program. */
export interface Given {
  readonly positional?: Taint | undefined;
  readonly input?: Taint | undefined;
  /** Whether another machine reads it, so that it has no variables of this shell. */
  readonly remote?: boolean;
  readonly suffix?: string;
}

/** Finds the program that a command reads: among its words, in a file or in its input. */
export class InnerPrograms {
  readonly #values: ShellValues;
  readonly #shared: Findings;
  readonly #rules: ExecutionRules;
  readonly #context: ValueContext;
  readonly #findInside: FindInside;

  constructor(values: ShellValues, findings: Findings, context: ValueContext, findInside: FindInside) {
    this.#values = values;
    this.#shared = findings;
    this.#rules = findings.rules;
    this.#context = context;
    this.#findInside = findInside;
  }

  visitReader(
    name: string,
    reader: Reader,
    words: readonly Word[],
    { list, index, isDirect }: { list: CommandList; index: number; isDirect: boolean },
  ): void {
    const input = isDirect ? this.#values.inputOf(list, index) : undefined;
    const programs: Word[] = [];
    let found = false;
    let flagged = false;
    let fromInput = false;
    let operands = 0;
    let options = true;
    const shell = reader.isShell === true;
    const read = (word: Word, rest: readonly Word[]): void => {
      found = true;
      const positional = taintOfAll(rest);
      this.readProgram([word], { name, ...reader }, list, { positional, input });
    };
    for (let at = 0; at < words.length; at += 1) {
      const word = words[at] as Word;
      const { text, taint, leads } = word;
      const rest = words.slice(at + 1);
      if (word.vanishes && taint === undefined) continue;
      if (options && taint !== undefined && leads) {
        if (taint !== undefined && (word.splits || !/^["']?\0/.test(this.#values.textOf(word.span)))) {
          this.#rules.execute(taint, name);
          return;
        }
        this.#rules.requireOperand(taint, name);
      } else if (options && text.startsWith("-") && text !== "-") {
        if (text === "--") {
          options = false;
          continue;
        }
        const head = text.split(/\0|\$/, 1)[0] ?? "";
        if (taint !== undefined && (/^-+$/.test(head) || reader.attachedFlag?.test(head) === true)) {
          this.#rules.execute(taint, name);
          return;
        }
        if (reader.programFlag?.test(text) === true) {
          if (name.startsWith("sed") || !isShellFlag(reader)) {
            const next = words[at + 1];
            if (next !== undefined) read(next, words.slice(at + 2));
            at += 1;
          } else flagged = true;
        } else if (reader.fileFlag?.test(text) === true) {
          this.#readFile(words[at + 1], name, list, input);
          if (reader.operands === "file" && !shell) return;
          if (!shell) found = true;
          at += 1;
        } else if (reader.valueFlag?.test(text) === true) at += 1;
        else if (reader.pairFlag?.test(text) === true) at += 2;
        else if (isShellFlag(reader) && /^-\w*s\w*$/.test(text)) fromInput = true;
        continue;
      } else if (reader.programFlag?.test(text) === true && name === "deno") {
        const next = words[at + 1];
        if (next !== undefined) read(next, words.slice(at + 2));
        return;
      }
      operands += 1;
      if (flagged) {
        read(word, rest);
        return;
      }
      if (fromInput) break;
      if (reader.operands === "file" && !found) {
        if (this.#readFile(word, name, list, input)) return;
        found = true;
        return;
      }
      if (reader.operands === "program" && !found) {
        read(word, rest);
        if (reader.permutes !== true) break;
      } else if (reader.operands === "programs" || (reader.operands === "after-first" && operands > 1)) {
        options = false;
        programs.push(word);
      }
    }
    if (programs.length > 0) {
      const remote = name === "ssh";
      this.readProgram(programs, { name, ...reader }, list, { input, remote });
      return;
    }
    if (shell && reader.operands === "after-first" && operands > 0 && name !== "ssh") return;
    if (!found && reader.readsInput === true) this.#readInput(name, reader, list, index, isDirect);
  }

  /** Whether the file is the input or the output of a process substitution; its program is then read. */
  #readFile(word: Word | undefined, name: string, list: CommandList, input: Taint | undefined): boolean {
    if (word === undefined) return false;
    if (INPUT_FILE.test(word.text)) {
      this.#rules.execute(input, name);
      return true;
    }
    if (word.text.startsWith("<(")) this.#rules.execute(this.#values.taintOf(word.span, list), name);
    return false;
  }

  #readInput(name: string, reader: Reader, list: CommandList, index: number, isDirect: boolean): void {
    if (!isDirect) return;
    const own = this.#values.redirectedInput(list.commands[index]?.redirections ?? [], list);
    const { span, operator, quoted } = own?.redirection ?? {};
    if (reader.isShell === true && span !== undefined && (operator === "<<" || operator === "<<<")) {
      const written = this.#values.textOf(span);
      const text =
        operator === "<<<" ? unquote(written) : quoted === true ? written : unescapeHeredoc(written);
      this.#readText(text, span, { name, isShell: true }, { remote: name === "ssh" }, quoted === true);
      return;
    }
    this.#rules.execute(this.#values.inputOf(list, index), name);
  }

  /** Words that are read together as a program. */
  readProgram(
    words: readonly Word[],
    reader: Reader & { readonly name: string },
    list: CommandList,
    given: Given,
  ): void {
    const [first] = words;
    const last = words.at(-1);
    if (first === undefined || last === undefined) return;
    const added = words.find(
      ({ span, taint }) => taint !== undefined && this.#values.taintOf(span, list) === undefined,
    );
    if (added !== undefined) this.#rules.execute(added.taint, reader.name);
    const text = words.map((word) => word.text).join(" ") + (given.suffix ?? "");
    if (reader.operands === "program" && reader.permutes === true && this.#readSed(first, list)) return;
    if (reader.starts?.test(text) === true) this.#rules.execute(given.input ?? given.positional, reader.name);
    this.#readText(text, { start: first.span.start, end: last.span.end }, reader, given, false);
  }

  /** Values inside a pattern or replacement of sed; they must not contain its syntax. */
  #readSed({ span, text }: Word, list: CommandList): boolean {
    const taint = this.#values.taintOf(span, list);
    if (taint === undefined) return false;
    const { holes, expansions } = this.#values.lexed;
    const expanded = expansions.some(
      (one) => one.index >= span.start && one.index < span.end && this.#values.valueOf(one) !== undefined,
    );
    const parts = text.split(HOLE);
    let before = parts[0] ?? "";
    for (
      let at = firstFrom(holes, span.start), part = 1;
      (holes[at]?.index ?? span.end) < span.end;
      at += 1, part += 1
    ) {
      const hole = this.#shared.outer(at);
      const inside = SED_SUBSTITUTE.exec(before) ?? SED_ADDRESS.exec(before);
      const delimiter = inside?.[1];
      if (expanded || text === HOLE) this.#rules.execute({ hole, exact: true }, "sed");
      else if (delimiter === undefined) this.#rules.integers.add(hole);
      else this.#rules.sedTexts.set(hole, delimiter);
      before += `0${parts[part] ?? ""}`;
    }
    if (expanded) this.#rules.execute(taint, "sed");
    return true;
  }

  /** Checks a text that an interpreter reads: rejects its values, or analyses it as a shell program. */
  #readText(
    text: string,
    span: Span,
    reader: Reader & { readonly name: string },
    given: Given,
    isLiteral: boolean,
  ): void {
    const { holes, expansions } = this.#values.lexed;
    const inside: number[] = [];
    for (let at = firstFrom(holes, span.start); (holes[at]?.index ?? span.end) < span.end; at += 1) {
      if (holes[at]?.quoting === "comment") continue;
      inside.push(at);
      this.#rules.inProgram.add(this.#shared.outer(at));
      if (reader.isShell !== true || this.#shared.kindOf(at) !== "shell")
        this.#rules.execute({ hole: this.#shared.outer(at), exact: true }, reader.name);
    }
    const expanded = isLiteral
      ? undefined
      : expansions
          .slice(firstFrom(expansions, span.start), firstFrom(expansions, span.end))
          .map((expansion) => this.#values.valueOf(expansion))
          .find((taint) => taint !== undefined);
    if (expanded !== undefined) this.#rules.execute(expanded, reader.name);
    const { depth } = this.#context;
    if (reader.isShell !== true || text.split(HOLE).length !== inside.length + 1) return;
    if (depth >= DEPTH_MAX) {
      this.#rules.execute(
        given.positional ?? given.input ?? taintOf(inside.map((hole) => this.#shared.outer(hole))),
        reader.name,
      );
      return;
    }
    this.#readShell(text, inside, reader.name, given);
  }

  #readShell(text: string, inside: readonly number[], name: string, given: Given): void {
    const lexed = lexShell(text);
    const outer = (hole: number): number => this.#shared.outer(inside[hole] ?? -1);
    for (const [at, hole] of lexed.holes.entries()) {
      if (!isWord(hole)) this.#rules.execute({ hole: outer(at), exact: true }, name);
    }
    const here = name === "eval" || name === "trap" || name === "mapfile -C";
    const context: ValueContext = {
      names: given.remote === true ? new Map() : this.#values.names,
      positional: here ? (this.#values.positional ?? given.positional) : given.positional,
      input: given.input,
      depth: this.#context.depth + 1,
    };
    const kindOf = (hole: number): HoleKind => this.#shared.kindOf(inside[hole] ?? -1);
    // Text quoted for this shell is data in it, and is no longer quoted for a shell inside it.
    const shared = {
      ...this.#shared,
      outer,
      kindOf: (hole: number) => (kindOf(hole) === "shell" ? undefined : kindOf(hole)),
    };
    this.#findInside(text, lexed, shared, context);
  }
}

/** Whether text quoted for a shell is one word at this hole. */
function isWord({ quoting, arithmetic, expansion, before }: Hole): boolean {
  return quoting === "comment" || (quoting === "bare" && !arithmetic && !expansion && before === "");
}

/** Whether the program is the first operand, regardless of the option's position. */
const isShellFlag = ({ isShell, operands }: Reader): boolean => isShell === true && operands === "file";

const taintOf = ([hole]: readonly number[]): Taint | undefined =>
  hole === undefined ? undefined : { hole, exact: true };
