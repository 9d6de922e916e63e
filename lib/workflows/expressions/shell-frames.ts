import {
  isCompared,
  isElement,
  isElementOfList,
  isSubscriptOrOffset,
  isVariableName,
} from "./shell-arithmetic.ts";
import type { CommandList } from "./shell-commands.ts";
import {
  type CommandFrame,
  commandFrame,
  endCommand,
  type Frame,
  type Hole,
  type Quoting,
  splitsWords,
} from "./shell-context.ts";
import { TemplateError } from "./template-error.ts";

/** Maximum nesting of constructs; real commands stay below it. */
const MAX_DEPTH = 256;
const NAME_ONLY = /^[#!]?\w*$/;
/** Maximum number of characters of a word or expansion that are examined, so that time stays linear. */
const HEAD = 256;

/** The open constructs at a position of a shell command, and their meaning for a value at that position. */
export class FrameStack {
  readonly #source: string;
  readonly #frames: Frame[];
  /** All lists of commands that were opened. */
  readonly lists: CommandList[] = [];
  #backticks = 0;

  constructor(source: string) {
    this.#source = source;
    const text = commandFrame("text", 0, undefined);
    this.#frames = [text];
    this.lists.push(text.list);
  }

  get depth(): number {
    return this.#frames.length;
  }

  /** Number of open backticks. */
  get backticks(): number {
    return this.#backticks;
  }

  get top(): Frame {
    return this.#frames.at(-1) as Frame;
  }

  /** The innermost list of commands. */
  get list(): CommandList {
    return this.#innermost.list;
  }

  get #innermost(): CommandFrame {
    return this.#frames.findLast((frame) => frame.kind === "command") as CommandFrame;
  }

  push(frame: Frame): void {
    if (this.#frames.length >= MAX_DEPTH) {
      throw new TemplateError(`the shell command nests deeper than ${MAX_DEPTH} levels`, 0);
    }
    if (isBacktick(frame)) this.#backticks += 1;
    if (frame.kind === "command") this.lists.push(frame.list);
    this.#frames.push(frame);
  }

  /** Closes the innermost frame at this position. The outermost frame, the text itself, is never closed. */
  pop(at: number): void {
    if (this.#frames.length > 1) this.#drop(this.#frames.length - 1, at);
  }

  closeBacktick(at: number): void {
    const open = this.#frames.findLastIndex(isBacktick);
    if (open > 0) this.#drop(open, at);
  }

  /** Closes all frames opened above `depth`. */
  closeTo(depth: number, at: number): void {
    if (this.#frames.length > depth) this.#drop(depth, at);
  }

  /** Ends the text. */
  finish(at: number): void {
    for (const frame of this.#frames) if (frame.kind === "command") endCommand(frame, this.#source, at);
  }

  /** Whether the shell evaluates the text at this position as arithmetic. */
  isArithmetic(at: number): boolean {
    const scope = this.#frames.findLastIndex((frame) => frame.kind === "command");
    if (this.#frames.slice(scope + 1).some((frame) => this.#isArithmetic(frame, at))) return true;
    const command = this.#innermost;
    return this.#calculates(command, command.wordStart === -1 ? "" : this.#head(command.wordStart, at), at);
  }

  /** Inside `"…`…`…"`, where `\"` is a quote of the inner command. */
  get backticksAreQuoted(): boolean {
    const open = this.#frames.findIndex(isBacktick);
    return this.#frames[open - 1]?.kind === "double";
  }

  /** How text inserted at `at` would be quoted. */
  quoting(at: number): Quoting {
    const frame = this.top;
    if (frame.kind === "command") return "bare";
    if (frame.kind !== "expansion") return frame.kind;
    const head = this.#head(frame.start, at);
    if (NAME_ONLY.test(head)) return "variable-name";
    if (isSubscriptOrOffset(head)) return "arithmetic";
    return frame.quoted && frame.takesWord ? "double" : "bare";
  }

  hole(index: number, quoting: Quoting, before: Hole["before"]): Hole {
    const scope = this.#frames.findLastIndex((frame) => frame.kind === "command");
    const within = this.#frames.slice(scope + 1);
    const hole = {
      index,
      quoting,
      before,
      arithmetic: within.some((frame) => this.#isArithmetic(frame, index)),
      expansion: within.some((frame) => frame.kind === "expansion"),
      backticks: this.#backticks,
      names: false,
      argument: false,
      list: this.list,
    };
    const command = this.#frames[scope];
    if (command?.kind !== "command") return hole;
    const word = command.wordStart === -1 ? "" : this.#head(command.wordStart, index);
    return {
      ...hole,
      arithmetic: hole.arithmetic || this.#calculates(command, word, index),
      names: isVariableName(word, command.name ?? "", command.previous),
      argument: within.length === 0 && splitsWords(command, word),
    };
  }

  #calculates(command: CommandFrame, word: string, index: number): boolean {
    if (command.inTest) return isCompared(this.#source, index);
    if (command.name === "let") return true;
    if (command.opener === "array" && isElementOfList(word)) return true;
    return command.calculates || isElement(word, command.expectsCommand ? undefined : (command.name ?? ""));
  }

  #isArithmetic(frame: Frame, at: number): boolean {
    if (frame.kind === "expansion") return isSubscriptOrOffset(this.#head(frame.start, at));
    return frame.kind === "arithmetic";
  }

  #head(start: number, end: number): string {
    return this.#source.slice(start, Math.min(end, start + HEAD));
  }

  #drop(from: number, at: number): void {
    for (const frame of this.#frames.splice(from)) {
      if (isBacktick(frame)) this.#backticks -= 1;
      if (frame.kind === "command") endCommand(frame, this.#source, at);
      else if (frame.kind === "arithmetic") frame.span.end = at;
    }
  }
}

function isBacktick(frame: Frame): boolean {
  return frame.kind === "command" && frame.opener === "backtick";
}
