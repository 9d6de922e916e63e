import type { CommandList, Expansion, Redirection, Span } from "./shell-commands.ts";
import {
  type ArithmeticFrame,
  type CommandFrame,
  commandFrame,
  type ExpansionFrame,
  endCommand,
  endPattern,
  endWord,
  type Frame,
  type Heredoc,
  type Hole,
  type Quoting,
} from "./shell-context.ts";
import { FrameStack } from "./shell-frames.ts";
import { readDelimiter, readHeredocBody } from "./shell-heredoc.ts";

/** Represents a value in the lexed text; a shell command cannot contain this character. */
export const HOLE = "\0";

const SEPARATORS: ReadonlySet<string> = new Set([";", "&", "|"]);
const EXPANDED = /(?:\{([#!]?))?([A-Za-z_]\w*|[\d@*])/y;
const TAKES_WORD = /[#!]?(?:\w+|[@*#?$!-])(?:\[[^\]]{0,256}\])?:?[-=?+]/y;

/** A here-document with a quoted delimiter, whose body the shell does not expand. Positions in the lexed text. */
export interface QuotedHeredoc {
  /** The delimiter as written after `<<`, including its quotes. */
  readonly delimiter: { readonly start: number; readonly end: number };
  readonly body: { readonly start: number; readonly end: number };
  /** The delimiter on the line after the body; missing if the text ends before it. */
  readonly terminator?: { readonly start: number; readonly end: number };
}

export interface LexedShell {
  readonly holes: readonly Hole[];
  /** The quoted here-documents that have holes in their bodies. */
  readonly quotedHeredocs: readonly QuotedHeredoc[];
  /** All lists of commands; the whole text is first. */
  readonly lists: readonly CommandList[];
  readonly expansions: readonly Expansion[];
  /** The contents of `$((…))` and similar constructs. */
  readonly arithmetic: readonly Span[];
}

/**
 * Finds every HOLE of a bash command and how the text around it is quoted. Follows quotes, `$'…'`, `$(…)`, backticks,
 * `${…}`, `$((…))`, here-documents, `[[ … ]]`, `case` and comments, in linear time. For text that is not valid bash
 * the result may be wrong: a value may be quoted incorrectly but never becomes syntax.
 */
export function lexShell(source: string): LexedShell {
  return new ShellLexer(source).lex();
}

/** Each reading method consumes the text at `#at` and returns the position after it. */
class ShellLexer {
  readonly #source: string;
  readonly #frames: FrameStack;
  readonly #holes: Hole[] = [];
  readonly #quotedHeredocs: QuotedHeredoc[] = [];
  readonly #expansions: Expansion[] = [];
  readonly #arithmetics: { start: number; end: number }[] = [];
  #at = 0;
  /** Position of a hole directly after an active backslash or dollar sign. */
  #escaped = -1;
  #priced = -1;

  constructor(source: string) {
    this.#source = source;
    this.#frames = new FrameStack(source);
  }

  lex(): LexedShell {
    this.#run(this.#source.length);
    this.#frames.finish(this.#source.length);
    return {
      holes: this.#holes,
      quotedHeredocs: this.#quotedHeredocs,
      lists: this.#frames.lists,
      expansions: this.#expansions,
      arithmetic: this.#arithmetics,
    };
  }

  /** Reads up to `end`, regardless of open constructs. */
  #run(end: number): void {
    while (this.#at < end) this.#at = this.#step(this.#frames.top, this.#source[this.#at] ?? "");
  }

  #step(frame: Frame, char: string): number {
    if (char === HOLE) {
      if (frame.kind === "command" && frame.wordStart === -1) frame.wordStart = this.#at;
      return this.#hole(this.#frames.quoting(this.#at), this.#at);
    }
    if (this.#frames.backticks > 0 && char === "`") {
      // A backtick closes its pair regardless of open quotes in between.
      this.#frames.closeBacktick(this.#at);
      return this.#at + 1;
    }
    if (this.#frames.backticks > 0 && char === "\\") return this.#escapeInBackticks(frame);
    return this.#read(frame, char);
  }

  #read(frame: Frame, char: string): number {
    switch (frame.kind) {
      case "command":
        return this.#command(frame, char);
      case "single":
        return char === "'" ? this.#close() : this.#at + 1;
      case "ansi":
        if (char === "\\") return this.#escape();
        return char === "'" ? this.#close() : this.#at + 1;
      case "double":
        return char === '"' ? this.#close() : this.#quotedText(char);
      case "heredoc":
        return this.#quotedText(char);
      case "expansion":
        return this.#expansion(frame, char);
      case "arithmetic":
        return this.#arithmetic(frame, char);
    }
  }

  #command(frame: CommandFrame, char: string): number {
    switch (char) {
      case "\n":
        return this.#newline(frame);
      case " ":
      case "\t":
        endWord(frame, this.#source, this.#at);
        return this.#at + 1;
      case "<":
      case ">":
        return this.#redirection(frame, char);
      case "(":
        return this.#openParen(frame);
      case ")":
        return this.#closeParen(frame);
    }
    if (SEPARATORS.has(char)) return this.#separator(frame, char);
    if (char === "#" && frame.wordStart === -1 && !frame.inTest) return this.#comment();
    if (frame.wordStart === -1) frame.wordStart = this.#at;
    return this.#bareText(char);
  }

  #separator(frame: CommandFrame, char: string): number {
    const [before = "", after = ""] = [this.#source[this.#at - 1], this.#source[this.#at + 1]];
    // `>&` and `<&` duplicate a descriptor, `&>` redirects, `>|` overwrites: the command continues.
    if (
      (char === "&" && (before === ">" || before === "<" || after === ">")) ||
      (char === "|" && before === ">")
    ) {
      endWord(frame, this.#source, this.#at);
      return this.#at + 1;
    }
    endCommand(frame, this.#source, this.#at);
    if (char === "|") {
      frame.piped = after !== "|";
      return this.#at + (after === "|" || after === "&" ? 2 : 1);
    }
    frame.piped = false;
    return this.#at + 1;
  }

  /** Text in which quotes and expansions may start: a word of a command, the inside of an unquoted `${…}`. */
  #bareText(char: string): number {
    const next = this.#source[this.#at + 1];
    if (char === "\\") return this.#escape();
    if (char === "'") return this.#open({ kind: "single" }, 1);
    if (char === '"') return this.#open({ kind: "double" }, 1);
    if (char === "$" && next === "'") return this.#open({ kind: "ansi" }, 2);
    if (char === "$" && next === '"') return this.#open({ kind: "double" }, 2);
    return this.#substitution(char, false);
  }

  /** Text inside double quotes, a here-document or arithmetic, where single quotes are literal. */
  #quotedText(char: string): number {
    return char === "\\" ? this.#escape() : this.#substitution(char, true);
  }

  #expansion(frame: ExpansionFrame, char: string): number {
    if (char === "}") return this.#close();
    if (!frame.quoted) return this.#bareText(char);
    if (char === '"') return this.#open({ kind: "double" }, 1);
    if (char === "'" && !frame.takesWord) return this.#open({ kind: "single" }, 1);
    return this.#quotedText(char);
  }

  #arithmetic(frame: ArithmeticFrame, char: string): number {
    const closes = frame.closer === "]" ? char === "]" : char === ")" && frame.depth === 0;
    if (closes) {
      this.#frames.pop(this.#at);
      if (this.#source.startsWith(frame.closer, this.#at)) return this.#at + frame.closer.length;
      frame.span.end = frame.span.start;
      this.#frames.push(frame.fallback);
      return this.#at + 1;
    }
    if (char === "(") frame.depth += 1;
    if (char === ")") frame.depth -= 1;
    if (char === '"') return this.#open({ kind: "double" }, 1);
    return this.#quotedText(char);
  }

  #substitution(char: string, quoted: boolean): number {
    if (char === "`") return this.#open(this.#commands("backtick", 1), 1);
    if (char !== "$") return this.#at + 1;
    this.#expand(this.#at);
    const next = this.#source[this.#at + 1] ?? "";
    if (next === "(" && this.#source[this.#at + 2] === "(") return this.#open(this.#calculation("))", 3), 3);
    if (next === "(") return this.#open(this.#commands("paren", 2), 2);
    if (next === "[") return this.#open(this.#calculation("]", 2), 2);
    if (next === "{") {
      const start = this.#at + 2;
      TAKES_WORD.lastIndex = start;
      return this.#open({ kind: "expansion", start, quoted, takesWord: TAKES_WORD.test(this.#source) }, 2);
    }
    if (next === HOLE) this.#priced = this.#at + 1;
    return this.#at + (/[#$?!@*-]/.test(next) ? 2 : 1);
  }

  #escape(): number {
    if (this.#source[this.#at + 1] !== HOLE) return this.#at + 2;
    this.#escaped = this.#at + 1;
    return this.#at + 1;
  }

  /** Backticks remove one level of backslashes before anything else is read. */
  #escapeInBackticks(frame: Frame): number {
    const next = this.#source[this.#at + 1];
    if (next === "`") {
      this.#at += 1;
      if (this.#frames.backticks === 1) return this.#open(this.#commands("backtick", 1), 1);
      this.#frames.closeBacktick(this.#at);
      return this.#at + 1;
    }
    if (next === "\\") {
      this.#at += 1;
      if (frame.kind === "single") return this.#at + 1;
      return this.#source[this.#at + 1] === "\\" ? this.#at + 3 : this.#escape();
    }
    if (next === "$" || (next === '"' && this.#frames.backticksAreQuoted)) {
      this.#at += 1;
      return this.#read(frame, next);
    }
    return frame.kind === "single" ? this.#at + 1 : this.#escape();
  }

  #openParen(frame: CommandFrame): number {
    if (this.#source[this.#at - 1] === "=") return this.#open(this.#commands("array", 1), 1);
    if (frame.wordStart === -1) {
      frame.wordStart = this.#at;
      if (this.#source[this.#at + 1] === "(" && !frame.inTest)
        return this.#open(this.#calculation("))", 2), 2);
    }
    return this.#open(this.#commands("paren", 1, frame.inTest), 1);
  }

  #closeParen(frame: CommandFrame): number {
    const closes = frame.cases === 0 && (frame.opener === "paren" || frame.opener === "array");
    if (closes) endCommand(frame, this.#source, this.#at);
    else endPattern(frame, this.#source, this.#at);
    return closes ? this.#close() : this.#at + 1;
  }

  #redirection(frame: CommandFrame, char: string): number {
    const source = this.#source;
    if (source[this.#at + 1] === "(" && !frame.inTest) {
      if (frame.wordStart === -1) frame.wordStart = this.#at;
      return this.#open(this.#commands("paren", 2), 2);
    }
    const descriptor = this.#descriptor(frame);
    endWord(frame, source, this.#at);
    if (frame.inTest) return this.#at + 1;
    const operator = source.startsWith("<<<", this.#at)
      ? "<<<"
      : source.startsWith("<<", this.#at)
        ? "<<"
        : char;
    if (char === ">" && source[this.#at - 1] === ">") return this.#at + 1;
    const redirection: Redirection = { operator, descriptor };
    if (operator !== "<<") {
      frame.redirections.push(redirection);
      frame.redirects = true;
      return this.#at + operator.length;
    }
    const { heredoc, end, hole } = readDelimiter(source, this.#at + 2, HOLE);
    if (hole !== undefined) this.#hole("heredoc-delimiter", hole);
    if (heredoc !== undefined) {
      heredoc.redirection = { ...redirection, quoted: heredoc.quoted };
      frame.redirections.push(heredoc.redirection);
      frame.heredocs.push(heredoc);
    }
    return end;
  }

  /** The number directly before a redirection operator, which is not a word of the command. */
  #descriptor(frame: CommandFrame): string {
    const { wordStart } = frame;
    if (frame.inTest || wordStart === -1 || frame.redirects || this.#at - wordStart > 4) return "";
    const text = this.#source.slice(wordStart, this.#at);
    if (!/^(?:\d+|\{\w+\})$/.test(text)) return "";
    frame.wordStart = -1;
    return text;
  }

  #newline(frame: CommandFrame): number {
    endCommand(frame, this.#source, this.#at);
    this.#at += 1;
    for (const heredoc of frame.heredocs.splice(0)) this.#at = this.#heredocBody(heredoc);
    return this.#at;
  }

  #heredocBody(heredoc: Heredoc): number {
    const { depth } = this.#frames;
    const { end, after, terminated } = readHeredocBody(this.#source, this.#at, heredoc, depth > 1);
    if (heredoc.redirection !== undefined) heredoc.redirection.span = { start: this.#at, end };
    if (heredoc.quoted) {
      const found = this.#holes.length;
      this.#holesUntil(end, "quoted-heredoc");
      if (this.#holes.length > found) {
        this.#quotedHeredocs.push({
          delimiter: heredoc.written,
          body: { start: this.#at, end },
          ...(terminated && { terminator: { start: after - heredoc.delimiter.length, end: after } }),
        });
      }
      return after;
    }
    this.#frames.push({ kind: "heredoc" });
    this.#run(end);
    this.#frames.closeTo(depth, end);
    return Math.max(this.#at, after);
  }

  #comment(): number {
    const newline = this.#source.indexOf("\n", this.#at);
    let end = newline === -1 ? this.#source.length : newline;
    if (this.#frames.backticks > 0) {
      const backtick = this.#source.indexOf("`", this.#at);
      if (backtick !== -1) end = Math.min(end, backtick);
    }
    this.#holesUntil(end, "comment");
    return end;
  }

  #holesUntil(end: number, quoting: Quoting): void {
    let hole = this.#source.indexOf(HOLE, this.#at);
    while (hole !== -1 && hole < end) {
      this.#hole(quoting, hole);
      hole = this.#source.indexOf(HOLE, hole + 1);
    }
  }

  #hole(quoting: Quoting, index: number): number {
    const before = this.#escaped === index ? "\\" : this.#priced === index ? "$" : "";
    this.#holes.push(this.#frames.hole(index, quoting, before));
    return index + 1;
  }

  #open(frame: Frame, length: number): number {
    this.#frames.push(frame);
    return this.#at + length;
  }

  #close(): number {
    this.#frames.pop(this.#at);
    return this.#at + 1;
  }

  /** Opens a list of commands whose content begins after `length` characters. */
  #commands(opener: CommandFrame["opener"], length: number, inTest = false): CommandFrame {
    return commandFrame(opener, this.#at + length, this.#frames.list, {
      inTest,
      arithmetic: this.#frames.isArithmetic(this.#at),
    });
  }

  #calculation(closer: ArithmeticFrame["closer"], length: number): ArithmeticFrame {
    const span = { start: this.#at + length, end: this.#source.length };
    this.#arithmetics.push(span);
    return { kind: "arithmetic", closer, depth: 0, span, fallback: this.#commands("paren", length) };
  }

  /** Records that the shell expands a variable here. */
  #expand(at: number): void {
    EXPANDED.lastIndex = at + 1;
    const found = EXPANDED.exec(this.#source);
    if (found === null) return;
    const [, prefix, name = ""] = found;
    const { kind } = this.#frames.top;
    this.#expansions.push({
      index: at,
      name,
      indirect: prefix === "!",
      arithmetic: this.#frames.isArithmetic(at),
      bare: kind === "command",
      list: this.#frames.list,
    });
  }
}
