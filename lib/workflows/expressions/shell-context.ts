import { makesIntegers } from "./shell-arithmetic.ts";
import type { CommandList, Redirection, Span } from "./shell-commands.ts";

/** How the text around a place is quoted, and so what a value there has to look like. */
export type Quoting =
  | "bare"
  | "single"
  | "ansi"
  | "double"
  | "heredoc"
  | "quoted-heredoc"
  | "heredoc-delimiter"
  | "comment"
  | "arithmetic"
  | "variable-name";

/** A place for a value in a shell command. */
export interface Hole {
  /** Its position in the lexed text. */
  readonly index: number;
  readonly quoting: Quoting;
  /** The shell will evaluate what stands here as arithmetic, in which text can run commands. */
  readonly arithmetic: boolean;
  /** The value would name a variable for a builtin, in which a subscript can run commands. */
  readonly names: boolean;
  /** Inside `${…}`. */
  readonly expansion: boolean;
  /** In a word of a command where unquoted text would be split: no assignment, redirection or test. */
  readonly argument: boolean;
  /** A backslash or dollar sign right before it, which would act on what is put here. */
  readonly before: "" | "\\" | "$";
  /** How many backticks are open around it. */
  readonly backticks: number;
  /** The innermost list of commands around it. */
  readonly list: CommandList;
}

/** A stretch in which commands stand: the whole text, `$(…)`, a subshell, backticks, an array's words. */
export interface CommandFrame {
  readonly kind: "command";
  readonly opener: "text" | "paren" | "array" | "backtick";
  /** Start of the word under way, -1 between words. */
  wordStart: number;
  /** The next word is a command's name or a keyword. */
  expectsCommand: boolean;
  /** `case … esac` that are open here, in which a `)` ends a pattern. */
  cases: number;
  /** Inside `[[ … ]]`. */
  inTest: boolean;
  /** Here-documents whose bodies begin at the next line. */
  readonly heredocs: Heredoc[];
  /** The next word belongs to a redirection. */
  redirects: boolean;
  /** The command's first word, once it is complete. */
  name: string | undefined;
  /** The word before. */
  previous: string;
  /** The command makes its variables integers: what they are set to is evaluated. */
  calculates: boolean;
  readonly list: CommandList;
  /** Of the command under way. */
  words: Span[];
  redirections: Redirection[];
  /** The command under way reads the output of the one before. */
  piped: boolean;
}

export interface Heredoc {
  readonly delimiter: string;
  /** Where the delimiter stands as written, with its quotes. */
  readonly written: { readonly start: number; readonly end: number };
  readonly quoted: boolean;
  readonly stripTabs: boolean;
  redirection?: Redirection;
}

/** Inside `${…}`. */
export interface ExpansionFrame {
  readonly kind: "expansion";
  readonly start: number;
  /** Quotes around it make its inside quoted. */
  readonly quoted: boolean;
  /** `${x:-…}` and its like, in which single quotes are text when it is quoted; in patterns they quote. */
  readonly takesWord: boolean;
}

/** `((…))`, `$((…))` or `$[…]`: how many parentheses are open in it. */
export interface ArithmeticFrame {
  readonly kind: "arithmetic";
  readonly closer: "))" | "]";
  depth: number;
  readonly span: { start: number; end: number };
  /** What it turns out to be when a single `)` closes it: `$( (…) )` written without the space. */
  readonly fallback: CommandFrame;
}

export interface QuoteFrame {
  readonly kind: "single" | "ansi" | "double" | "heredoc";
}

export type Frame = CommandFrame | ExpansionFrame | ArithmeticFrame | QuoteFrame;

/** Commands that begin at `start`. */
export function commandFrame(
  opener: CommandFrame["opener"],
  start: number,
  parent: CommandList | undefined,
  { inTest = false, arithmetic = false } = {},
): CommandFrame {
  return {
    kind: "command",
    opener,
    wordStart: -1,
    expectsCommand: opener !== "array",
    cases: 0,
    inTest,
    heredocs: [],
    redirects: false,
    name: undefined,
    previous: "",
    calculates: false,
    list: { opener, parent, arithmetic, start, end: start, commands: [] },
    words: [],
    redirections: [],
    piped: false,
  };
}

const KEEPS_COMMAND_POSITION: ReadonlySet<string> = new Set([
  "then",
  "do",
  "else",
  "elif",
  "if",
  "while",
  "until",
  "!",
  "}",
  "time",
  "fi",
  "done",
]);
const ASSIGNMENT = /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=/;
/** Longer words are no keyword and no command that matters here. */
const LONGEST_WORD = 64;

/** Whether a word that starts like this is split when it is not quoted. */
export function splitsWords(frame: CommandFrame, word: string): boolean {
  return !frame.inTest && !frame.redirects && frame.name !== "case" && !ASSIGNMENT.test(word);
}

/** Takes note of the word that ends at `end`, if one is under way. */
export function endWord(frame: CommandFrame, source: string, end: number): void {
  if (frame.wordStart === -1) return;
  const start = frame.wordStart;
  frame.wordStart = -1;
  const redirection = frame.redirects ? frame.redirections.at(-1) : undefined;
  frame.redirects = false;
  if (redirection !== undefined) {
    redirection.span = { start, end };
    return;
  }
  frame.words.push({ start, end });
  const word =
    end - start > LONGEST_WORD ? source.slice(start, start + LONGEST_WORD) : source.slice(start, end);
  if (frame.inTest) {
    if (word === "]]") frame.inTest = false;
    return;
  }
  if (word === "{") {
    frame.expectsCommand = frame.opener !== "array";
    return;
  }
  if (frame.expectsCommand) {
    const isHead = word.startsWith("(") || /\(\)\{?$/.test(word);
    if (isHead || KEEPS_COMMAND_POSITION.has(word) || ASSIGNMENT.test(word)) return;
    frame.expectsCommand = false;
    frame.name = word;
    if (word === "case") frame.cases += 1;
    else if (word === "esac") frame.cases = Math.max(0, frame.cases - 1);
    else if (word === "[[") frame.inTest = true;
  }
  frame.previous = word;
  frame.calculates ||= makesIntegers(word, frame.name);
}

/** A command is over: the next word is the name of another. */
export function endCommand(frame: CommandFrame, source: string, end: number): void {
  endWord(frame, source, end);
  frame.expectsCommand = frame.opener !== "array";
  frame.redirects = false;
  frame.name = undefined;
  frame.previous = "";
  frame.calculates = false;
  frame.list.end = Math.max(frame.list.end, end);
  const { words, redirections, piped } = frame;
  if (words.length === 0 && redirections.length === 0) return;
  const start = words[0]?.start ?? redirections[0]?.span?.start ?? end;
  frame.list.commands.push({ words, redirections, piped, start, end });
  frame.words = [];
  frame.redirections = [];
  frame.piped = false;
}

/** A `)` ends the pattern of a `case`, which is no command. */
export function endPattern(frame: CommandFrame, source: string, end: number): void {
  endWord(frame, source, end);
  const into = frame.words.findLastIndex(({ start, end: to }) => source.slice(start, to) === "in");
  frame.words = frame.words.slice(0, into + 1);
  endCommand(frame, source, end);
}
