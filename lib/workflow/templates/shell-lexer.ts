import {
  type ArithmeticFrame,
  type CommandFrame,
  commandFrame,
  endCommand,
  endWord,
  type ExpansionFrame,
  type Frame,
  type Heredoc,
  type Hole,
  type Quoting,
} from "./shell-context.ts";
import { readDelimiter, readHeredocBody } from "./shell-heredoc.ts";
import { TemplateError } from "./template-error.ts";

/** Stands for a value in the text to be lexed; no shell command has this character in it. */
export const HOLE = "\0";

/** Constructs nested deeper than this are no command that somebody wrote. */
const MAX_DEPTH = 256;
const SEPARATORS: ReadonlySet<string> = new Set([";", "&", "|"]);
const NAME_ONLY = /^[#!]?\w*$/;
const SUBSCRIPT_OR_OFFSET = /^[#!]?(?:\w+|[@*])(?:\[[^\]]*$|(?:\[[^\]]*\])?:(?![-=?+]))/;
const TAKES_WORD = /[#!]?(?:\w+|[@*#?$!-])(?:\[[^\]]*\])?:?[-=?+]/y;
const ELEMENT = /^[A-Za-z_]\w*\[[^\]]*$/;
const COMPARISON_BEFORE = /-(?:eq|ne|lt|le|gt|ge|v)[ \t]+["']?$/;
const COMPARISON_AFTER = /^["']?[ \t]+-(?:eq|ne|lt|le|gt|ge)\s/;

/**
 * Finds every HOLE of a bash command and how the text around it is quoted. Follows quotes, `$'…'`, `$(…)`,
 * backticks, `${…}`, `$((…))`, here-documents, `[[ … ]]`, `case` and comments, in linear time. Where a text
 * is not valid bash the answer may be off, which costs a wrong quote but never makes a value syntax.
 */
export function lexShell(source: string): Hole[] {
  return new ShellLexer(source).lex();
}

class ShellLexer {
  readonly #source: string;
  readonly #frames: Frame[] = [commandFrame("text")];
  readonly #holes: Hole[] = [];
  #at = 0;
  #backticks = 0;

  constructor(source: string) {
    this.#source = source;
  }

  lex(): Hole[] {
    this.#run(this.#source.length);
    return this.#holes;
  }

  /** Reads up to `end`, whatever is still open there. */
  #run(end: number): void {
    while (this.#at < end) {
      const frame = this.#top();
      const char = this.#source[this.#at] ?? "";
      if (char === HOLE) this.#hole(this.#quoting(frame));
      else if (char === "`" && this.#backticks > 0) this.#closeBacktick();
      else if (char === "\\" && this.#backticks > 0) this.#escapeInBackticks(frame);
      else this.#read(frame, char);
    }
  }

  #read(frame: Frame, char: string): void {
    switch (frame.kind) {
      case "command":
        return this.#command(frame, char);
      case "single":
        if (char === "'") this.#frames.pop();
        this.#at += 1;
        return;
      case "ansi":
        if (char === "\\") return this.#escape();
        if (char === "'") this.#frames.pop();
        this.#at += 1;
        return;
      case "double":
      case "heredoc":
        if (char === '"' && frame.kind === "double") {
          this.#frames.pop();
          this.#at += 1;
          return;
        }
        return this.#quotedText(char);
      case "expansion":
        return this.#expansion(frame, char);
      case "arithmetic":
        return this.#arithmetic(frame, char);
    }
  }

  #command(frame: CommandFrame, char: string): void {
    const source = this.#source;
    if (char === "\n") {
      endCommand(frame, source, this.#at);
      this.#at += 1;
      for (const heredoc of frame.heredocs.splice(0)) this.#heredocBody(heredoc);
    } else if (char === " " || char === "\t") {
      endWord(frame, source, this.#at);
      this.#at += 1;
    } else if (char === "#" && frame.wordStart === -1 && !frame.inTest) {
      this.#comment();
    } else if (SEPARATORS.has(char)) {
      // `>&` and `<&` duplicate a descriptor, `&>` redirects: the command goes on.
      const redirects = char === "&" && (/[<>]/.test(source[this.#at - 1] ?? "") || source[this.#at + 1] === ">");
      if (redirects) endWord(frame, source, this.#at);
      else endCommand(frame, source, this.#at);
      this.#at += 1;
    } else if (char === "<" || char === ">") {
      this.#redirection(frame, char);
    } else if (char === "(") {
      this.#openParen(frame);
    } else if (char === ")") {
      this.#closeParen(frame);
    } else {
      if (frame.wordStart === -1) frame.wordStart = this.#at;
      this.#bareText(char);
    }
  }

  /** Text that quotes and expansions may start in: a word of a command, the inside of a bare `${…}`. */
  #bareText(char: string): void {
    if (char === "\\") return this.#escape();
    if (char === "'") return this.#push({ kind: "single" }, 1);
    if (char === '"') return this.#push({ kind: "double" }, 1);
    if (char === "`") return this.#openBacktick(1);
    if (char === "$" && this.#source[this.#at + 1] === "'") return this.#push({ kind: "ansi" }, 2);
    if (char === "$" && this.#source[this.#at + 1] === '"') return this.#push({ kind: "double" }, 2);
    if (char === "$") return this.#dollar(false);
    this.#at += 1;
  }

  /** Text inside double quotes, a here-document or arithmetic, where single quotes are text. */
  #quotedText(char: string): void {
    if (char === "\\") return this.#escape();
    if (char === "`") return this.#openBacktick(1);
    if (char === "$") return this.#dollar(true);
    this.#at += 1;
  }

  #expansion(frame: ExpansionFrame, char: string): void {
    if (char === "}") {
      this.#frames.pop();
      this.#at += 1;
      return;
    }
    if (!frame.quoted) return this.#bareText(char);
    if (char === '"') return this.#push({ kind: "double" }, 1);
    // Inside double quotes a single quote is text in `${x:-…}`, and a quote in the patterns of the rest.
    TAKES_WORD.lastIndex = frame.start;
    if (char === "'" && !TAKES_WORD.test(this.#source)) return this.#push({ kind: "single" }, 1);
    this.#quotedText(char);
  }

  #arithmetic(frame: ArithmeticFrame, char: string): void {
    if (frame.closer === "]" ? char === "]" : char === ")" && frame.depth === 0) {
      this.#frames.pop();
      if (frame.closer === "))" && this.#source[this.#at + 1] !== ")") this.#frames.push(frame.fallback);
      else this.#at += frame.closer.length - 1;
      this.#at += 1;
      return;
    }
    if (char === "(") frame.depth += 1;
    if (char === ")") frame.depth -= 1;
    if (char === '"') return this.#push({ kind: "double" }, 1);
    this.#quotedText(char);
  }

  #dollar(quoted: boolean): void {
    const source = this.#source;
    const next = source[this.#at + 1];
    if (next === "(" && source[this.#at + 2] === "(") {
      this.#push({ kind: "arithmetic", closer: "))", depth: 0, fallback: commandFrame("paren") }, 3);
    } else if (next === "(") {
      this.#push(commandFrame("paren"), 2);
    } else if (next === "[") {
      this.#push({ kind: "arithmetic", closer: "]", depth: 0, fallback: commandFrame("paren") }, 2);
    } else if (next === "{") {
      this.#push({ kind: "expansion", start: this.#at + 2, quoted }, 2);
    } else {
      // `$#`, `$$`, `$?` and the like; names need no care, and a quote or hole is read for itself.
      this.#at += next !== undefined && /[#$?!@*-]/.test(next) ? 2 : 1;
    }
  }

  #escape(): void {
    this.#at += this.#source[this.#at + 1] === HOLE ? 1 : 2;
  }

  /** Backticks take one level of backslashes away before anything else is read. */
  #escapeInBackticks(frame: Frame): void {
    const next = this.#source[this.#at + 1];
    if (next === "`") {
      const open = this.#frames.findLast((each) => each.kind === "command" && each.opener === "backtick");
      this.#at += 1;
      if (this.#backticks > 1 && open !== undefined) return this.#closeBacktick();
      return this.#openBacktick(1);
    }
    if (next === "\\") {
      this.#at += this.#source[this.#at + 2] === "\\" ? 4 : 3;
    } else if (next === "$" || (next === '"' && this.#backticksAreQuoted())) {
      this.#at += 1;
      this.#read(frame, next);
    } else if (frame.kind === "single") {
      this.#at += 1;
    } else {
      this.#escape();
    }
  }

  #backticksAreQuoted(): boolean {
    const open = this.#frames.findIndex((frame) => frame.kind === "command" && frame.opener === "backtick");
    return this.#frames[open - 1]?.kind === "double";
  }

  #openBacktick(length: number): void {
    this.#push(commandFrame("backtick"), length);
    this.#backticks += 1;
  }

  /** A backtick closes its pair whatever quotes are open in between. */
  #closeBacktick(): void {
    this.#at += 1;
    this.#backticks -= 1;
    for (let frame = this.#frames.pop(); frame !== undefined; frame = this.#frames.pop()) {
      if (frame.kind === "command" && frame.opener === "backtick") break;
    }
  }

  #openParen(frame: CommandFrame): void {
    const before = this.#source[this.#at - 1];
    if (before === "=") return this.#push(commandFrame("array"), 1);
    const startsCommand = frame.wordStart === -1 && !frame.inTest;
    if (startsCommand && this.#source[this.#at + 1] === "(") {
      return this.#push({ kind: "arithmetic", closer: "))", depth: 0, fallback: commandFrame("paren") }, 2);
    }
    this.#push(commandFrame("paren", frame.inTest), 1);
  }

  #closeParen(frame: CommandFrame): void {
    endCommand(frame, this.#source, this.#at);
    this.#at += 1;
    if (frame.cases > 0 || frame.opener === "text" || frame.opener === "backtick") return;
    this.#frames.pop();
  }

  #redirection(frame: CommandFrame, char: string): void {
    const source = this.#source;
    if (source[this.#at + 1] === "(" && !frame.inTest) {
      if (frame.wordStart === -1) frame.wordStart = this.#at;
      return this.#push(commandFrame("paren"), 2);
    }
    endWord(frame, source, this.#at);
    if (char === "<" && source.startsWith("<<<", this.#at)) {
      this.#at += 3;
    } else if (char === "<" && source[this.#at + 1] === "<" && !frame.inTest) {
      const { heredoc, end, hole } = readDelimiter(source, this.#at + 2);
      if (hole !== undefined) {
        this.#at = hole;
        this.#hole("heredoc-delimiter");
      }
      this.#at = end;
      if (heredoc !== undefined) frame.heredocs.push(heredoc);
    } else {
      this.#at += 1;
    }
  }

  #heredocBody(heredoc: Heredoc): void {
    const nested = this.#frames.length > 1;
    const { end, after } = readHeredocBody(this.#source, this.#at, heredoc, nested);
    if (heredoc.quoted) {
      this.#holesUntil(end, "quoted-heredoc");
    } else {
      const depth = this.#frames.length;
      this.#push({ kind: "heredoc" }, 0);
      const backticks = this.#backticks;
      this.#run(end);
      this.#frames.length = depth;
      this.#backticks = backticks;
    }
    this.#at = Math.max(this.#at, after);
  }

  #comment(): void {
    const newline = this.#source.indexOf("\n", this.#at);
    let end = newline === -1 ? this.#source.length : newline;
    if (this.#backticks > 0) {
      const backtick = this.#source.indexOf("`", this.#at);
      if (backtick !== -1) end = Math.min(end, backtick);
    }
    this.#holesUntil(end, "comment");
  }

  #holesUntil(end: number, quoting: Quoting): void {
    for (let hole = this.#source.indexOf(HOLE, this.#at); hole !== -1 && hole < end; ) {
      this.#at = hole;
      this.#hole(quoting);
      hole = this.#source.indexOf(HOLE, this.#at);
    }
    this.#at = end;
  }

  #push(frame: Frame, length: number): void {
    if (this.#frames.length >= MAX_DEPTH) {
      throw new TemplateError(`the shell command nests deeper than ${MAX_DEPTH} levels`, 0);
    }
    const top = this.#top();
    if (top.kind === "command" && top.wordStart === -1 && frame.kind !== "heredoc") top.wordStart = this.#at;
    this.#frames.push(frame);
    this.#at += length;
  }

  #top(): Frame {
    const frame = this.#frames.at(-1);
    if (frame !== undefined) return frame;
    const text = commandFrame("text");
    this.#frames.push(text);
    return text;
  }

  #quoting(frame: Frame): Quoting {
    if (frame.kind === "command") return "bare";
    if (frame.kind !== "expansion") return frame.kind;
    const before = this.#before(frame.start);
    if (NAME_ONLY.test(before)) return "variable-name";
    if (SUBSCRIPT_OR_OFFSET.test(before)) return "arithmetic";
    TAKES_WORD.lastIndex = frame.start;
    return frame.quoted && TAKES_WORD.test(this.#source) ? "double" : "bare";
  }

  #hole(quoting: Quoting): void {
    const index = this.#at;
    const command = this.#frames.findLast((frame) => frame.kind === "command");
    if (command !== undefined && command.wordStart === -1) command.wordStart = index;
    const word = this.#before(command === undefined || command.wordStart === -1 ? index : command.wordStart);
    this.#holes.push({
      index,
      quoting,
      arithmetic:
        this.#frames.some((frame) => frame.kind === "arithmetic") ||
        quoting === "arithmetic" ||
        (quoting === "bare" && ELEMENT.test(word)) ||
        (command?.inTest === true && this.#isCompared()),
      expansion: this.#frames.some((frame) => frame.kind === "expansion"),
      before: this.#activeBefore(quoting),
      backticks: this.#backticks,
      program: command?.watch.readerOf(word),
    });
    this.#at += 1;
  }
  // CONTINUE
}
