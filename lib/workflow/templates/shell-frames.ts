import {
  isCompared,
  isElement,
  isElementOfList,
  isSubscriptOrOffset,
  isVariableName,
} from "./shell-arithmetic.ts";
import {
  type CommandFrame,
  commandFrame,
  type Frame,
  type Hole,
  type Quoting,
  splitsWords,
} from "./shell-context.ts";
import { TemplateError } from "./template-error.ts";

/** Constructs nested deeper than this are no command that somebody wrote. */
const MAX_DEPTH = 256;
const NAME_ONLY = /^[#!]?\w*$/;
/** How much of a word or expansion is looked at to tell what it is; a bound, so that time stays linear. */
const HEAD = 256;

/** The constructs that are open at a place of a shell command, and what they mean for a value put there. */
export class FrameStack {
  readonly #source: string;
  readonly #frames: Frame[] = [commandFrame("text")];
  #backticks = 0;

  constructor(source: string) {
    this.#source = source;
  }

  get depth(): number {
    return this.#frames.length;
  }

  /** How many backticks are open. */
  get backticks(): number {
    return this.#backticks;
  }

  get top(): Frame {
    return this.#frames.at(-1) ?? commandFrame("text");
  }

  push(frame: Frame): void {
    if (this.#frames.length >= MAX_DEPTH) {
      throw new TemplateError(`the shell command nests deeper than ${MAX_DEPTH} levels`, 0);
    }
    if (isBacktick(frame)) this.#backticks += 1;
    this.#frames.push(frame);
  }

  /** The text itself is never closed. */
  pop(): void {
    if (this.#frames.length > 1) this.#drop(this.#frames.length - 1);
  }

  closeBacktick(): void {
    const open = this.#frames.findLastIndex(isBacktick);
    if (open > 0) this.#drop(open);
  }

  /** Closes what was opened since the stack was so deep. */
  closeTo(depth: number): void {
    if (this.#frames.length > depth) this.#drop(depth);
  }

  /** Inside `"…`…`…"`, where `\"` is a quote of the inner command. */
  get backticksAreQuoted(): boolean {
    const open = this.#frames.findIndex(isBacktick);
    return this.#frames[open - 1]?.kind === "double";
  }

  /** How what is put at `at` would be quoted. */
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
      program: undefined,
    };
    const command = this.#frames[scope];
    if (command?.kind !== "command") return hole;
    const word = command.wordStart === -1 ? "" : this.#head(command.wordStart, index);
    const program = command.watch.readerOf(word);
    return {
      ...hole,
      arithmetic: hole.arithmetic || program === "let" || this.#calculates(command, word, index),
      names: isVariableName(word, command.name ?? "", command.previous),
      argument: within.length === 0 && splitsWords(command, word),
      program,
    };
  }

  #calculates(command: CommandFrame, word: string, index: number): boolean {
    if (command.inTest) return isCompared(this.#source, index);
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

  #drop(from: number): void {
    for (const frame of this.#frames.splice(from)) if (isBacktick(frame)) this.#backticks -= 1;
  }
}

function isBacktick(frame: Frame): boolean {
  return frame.kind === "command" && frame.opener === "backtick";
}
