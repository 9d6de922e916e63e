import {
  type ArithmeticFrame,
  type CommandFrame,
  commandFrame,
  type ExpansionFrame,
  endCommand,
  endWord,
  type Frame,
  type Heredoc,
  type Hole,
  type Quoting,
} from "./shell-context.ts";
import { FrameStack } from "./shell-frames.ts";
import { readDelimiter, readHeredocBody } from "./shell-heredoc.ts";

/** Stands for a value in the text to be lexed; no shell command has this character in it. */
export const HOLE = "\0";

const SEPARATORS: ReadonlySet<string> = new Set([";", "&", "|"]);
const TAKES_WORD = /[#!]?(?:\w+|[@*#?$!-])(?:\[[^\]]{0,256}\])?:?[-=?+]/y;

/**
 * Finds every HOLE of a bash command and how the text around it is quoted. Follows quotes, `$'…'`, `$(…)`,
 * backticks, `${…}`, `$((…))`, here-documents, `[[ … ]]`, `case` and comments, in linear time. Where a text
 * is not valid bash the answer may be off, which costs a wrong quote but never makes a value syntax.
 */
export function lexShell(source: string): Hole[] {
  return new ShellLexer(source).lex();
}

/** Each reading method takes what stands at `#at` and returns the position behind it. */
class ShellLexer {
  readonly #source: string;
  readonly #frames: FrameStack;
  readonly #holes: Hole[] = [];
  #at = 0;
  /** Position of a hole that an active backslash or dollar sign stands right before. */
  #escaped = -1;
  #priced = -1;

  constructor(source: string) {
    this.#source = source;
    this.#frames = new FrameStack(source);
  }

  lex(): Hole[] {
    this.#run(this.#source.length);
    return this.#holes;
  }

  /** Reads up to `end`, whatever is still open there. */
  #run(end: number): void {
    while (this.#at < end) this.#at = this.#step(this.#frames.top, this.#source[this.#at] ?? "");
  }

  #step(frame: Frame, char: string): number {
    if (char === HOLE) {
      if (frame.kind === "command" && frame.wordStart === -1) frame.wordStart = this.#at;
      return this.#hole(this.#frames.quoting(this.#at), this.#at);
    }
    if (this.#frames.backticks > 0 && char === "`") {
      // A backtick closes its pair whatever quotes are open in between.
      this.#frames.closeBacktick();
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
    // `>&` and `<&` duplicate a descriptor, `&>` redirects: the command goes on.
    if (char === "&" && (before === ">" || before === "<" || after === ">")) {
      endWord(frame, this.#source, this.#at);
    } else {
      endCommand(frame, this.#source, this.#at);
    }
    return this.#at + 1;
  }

  /** Text that quotes and expansions may start in: a word of a command, the inside of a bare `${…}`. */
  #bareText(char: string): number {
    const next = this.#source[this.#at + 1];
    if (char === "\\") return this.#escape();
    if (char === "'") return this.#open({ kind: "single" }, 1);
    if (char === '"') return this.#open({ kind: "double" }, 1);
    if (char === "$" && next === "'") return this.#open({ kind: "ansi" }, 2);
    if (char === "$" && next === '"') return this.#open({ kind: "double" }, 2);
    return this.#substitution(char, false);
  }

  /** Text inside double quotes, a here-document or arithmetic, where single quotes are text. */
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
      this.#frames.pop();
      if (this.#source.startsWith(frame.closer, this.#at)) return this.#at + frame.closer.length;
      this.#frames.push(frame.fallback);
      return this.#at + 1;
    }
    if (char === "(") frame.depth += 1;
    if (char === ")") frame.depth -= 1;
    if (char === '"') return this.#open({ kind: "double" }, 1);
    return this.#quotedText(char);
  }

  #substitution(char: string, quoted: boolean): number {
    if (char === "`") return this.#open(commandFrame("backtick"), 1);
    if (char !== "$") return this.#at + 1;
    const next = this.#source[this.#at + 1] ?? "";
    if (next === "(" && this.#source[this.#at + 2] === "(") return this.#open(arithmetic("))"), 3);
    if (next === "(") return this.#open(commandFrame("paren"), 2);
    if (next === "[") return this.#open(arithmetic("]"), 2);
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

  /** Backticks take one level of backslashes away before anything else is read. */
  #escapeInBackticks(frame: Frame): number {
    const next = this.#source[this.#at + 1];
    if (next === "`") {
      this.#at += 1;
      if (this.#frames.backticks === 1) return this.#open(commandFrame("backtick"), 1);
      this.#frames.closeBacktick();
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
    if (this.#source[this.#at - 1] === "=") return this.#open(commandFrame("array"), 1);
    if (frame.wordStart === -1) {
      frame.wordStart = this.#at;
      if (this.#source[this.#at + 1] === "(" && !frame.inTest) return this.#open(arithmetic("))"), 2);
    }
    return this.#open(commandFrame("paren", frame.inTest), 1);
  }

  #closeParen(frame: CommandFrame): number {
    endCommand(frame, this.#source, this.#at);
    const closes = frame.cases === 0 && (frame.opener === "paren" || frame.opener === "array");
    return closes ? this.#close() : this.#at + 1;
  }

  #redirection(frame: CommandFrame, char: string): number {
    const source = this.#source;
    if (source[this.#at + 1] === "(" && !frame.inTest) {
      if (frame.wordStart === -1) frame.wordStart = this.#at;
      return this.#open(commandFrame("paren"), 2);
    }
    endWord(frame, source, this.#at);
    frame.redirects = true;
    if (source.startsWith("<<<", this.#at)) return this.#at + 3;
    if (frame.inTest || char === ">" || source[this.#at + 1] !== "<") return this.#at + 1;
    const { heredoc, end, hole } = readDelimiter(source, this.#at + 2, HOLE);
    if (hole !== undefined) this.#hole("heredoc-delimiter", hole);
    if (heredoc !== undefined) frame.heredocs.push(heredoc);
    frame.redirects = false;
    return end;
  }

  #newline(frame: CommandFrame): number {
    endCommand(frame, this.#source, this.#at);
    this.#at += 1;
    for (const heredoc of frame.heredocs.splice(0)) this.#at = this.#heredocBody(heredoc);
    return this.#at;
  }

  #heredocBody(heredoc: Heredoc): number {
    const { depth } = this.#frames;
    const { end, after } = readHeredocBody(this.#source, this.#at, heredoc, depth > 1);
    if (heredoc.quoted) {
      this.#holesUntil(end, "quoted-heredoc");
      return after;
    }
    this.#frames.push({ kind: "heredoc" });
    this.#run(end);
    this.#frames.closeTo(depth);
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
    this.#frames.pop();
    return this.#at + 1;
  }
}

function arithmetic(closer: ArithmeticFrame["closer"]): ArithmeticFrame {
  return { kind: "arithmetic", closer, depth: 0, fallback: commandFrame("paren") };
}
