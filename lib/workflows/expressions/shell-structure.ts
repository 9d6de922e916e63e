import type { CommandList, SimpleCommand, Span } from "./shell-commands.ts";

/** A simple command without its keywords. */
export interface Parsed {
  readonly command: SimpleCommand;
  readonly assignments: readonly Span[];
  readonly words: readonly Span[];
  /** The innermost enclosing compound command. */
  readonly block: Block | undefined;
}

/** A compound command or function body: the positions of its first and last commands. */
export interface Block {
  readonly open: number;
  close: number;
  readonly function: string | undefined;
  readonly parent: Block | undefined;
}

export interface Structure {
  readonly blocks: readonly Block[];
  /** The outermost block that ends at each command, by the command's position. */
  readonly closed: ReadonlyMap<number, Block>;
  /** By the position of the command. */
  readonly parsed: readonly Parsed[];
  /** Names of the functions defined here. */
  readonly functions: readonly string[];
}

export const ASSIGNMENT = /^([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=/;
const OPENERS: ReadonlySet<string> = new Set(["{", "if", "while", "until", "for", "case", "select"]);
const CLOSERS: ReadonlySet<string> = new Set(["}", "fi", "done", "esac"]);
const GOES_ON: ReadonlySet<string> = new Set([
  "then",
  "do",
  "else",
  "elif",
  "!",
  "time",
  "if",
  "while",
  "until",
  "{",
]);

/** Which commands of a list begin and end compound commands, and the parsed commands themselves. */
export function structureOf(source: string, list: CommandList): Structure {
  const blocks: Block[] = [];
  const open: Block[] = [];
  const closed = new Map<number, Block>();
  const functions: string[] = [];
  const begin = (index: number, name: string | undefined): void => {
    const block = { open: index, close: Number.POSITIVE_INFINITY, function: name, parent: open.at(-1) };
    blocks.push(block);
    open.push(block);
  };
  const textOf = (span: Span | undefined): string =>
    span === undefined ? "" : source.slice(span.start, span.end);
  const parsed = list.commands.map((command, index): Parsed => {
    let at = 0;
    let named: string | undefined;
    const assignments: Span[] = [];
    for (; at < command.words.length; at += 1) {
      const span = command.words[at] as Span;
      const text = textOf(span);
      const next = textOf(command.words[at + 1]);
      if (text === "function" && next !== "") {
        named = next.replace(/\(\)\{?$/, "");
        at += 1;
      } else if (/^[\w.:-]+\(\)\{?$/.test(text)) {
        named = text.replace(/\(\)\{?$/, "");
        if (text.endsWith("{")) begin(index, named);
      } else if (next === "()") {
        named = text;
        at += 1;
      } else if (OPENERS.has(text)) {
        begin(index, text === "{" ? named : undefined);
        if (!GOES_ON.has(text)) break;
      } else if (CLOSERS.has(text)) {
        const block = open.pop();
        if (block !== undefined) {
          block.close = index;
          closed.set(index, block);
        }
      } else if (ASSIGNMENT.test(text)) {
        assignments.push(span);
      } else if (!GOES_ON.has(text)) {
        break;
      }
      if (named !== undefined) functions.push(named);
    }
    return { command, assignments, words: command.words.slice(at), block: open.at(-1) };
  });
  return { blocks, closed, parsed, functions };
}
