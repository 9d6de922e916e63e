import { makesIntegers } from "./shell-arithmetic.ts";
import type { CommandList, Redirection, Span } from "./shell-commands.ts";

/** How the text around a position is quoted, which decides how a value there must be written. */
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

/** A position for a value in a shell command. */
export interface Hole {
  /** Its position in the lexed text. */
  readonly index: number;
  readonly quoting: Quoting;
  /** Whether the shell evaluates the value as arithmetic, in which text can run commands. */
  readonly arithmetic: boolean;
  /** Whether the value is a variable name for a builtin; a subscript in it can run commands. */
  readonly names: boolean;
  /** Inside `${…}`. */
  readonly expansion: boolean;
  /** In a word of a command where unquoted text is split: not in an assignment, redirection or test. */
  readonly argument: boolean;
  /** A backslash or dollar sign directly before the value, which would apply to it. */
  readonly before: "" | "\\" | "$";
  /** Number of open backticks. */
  readonly backticks: number;
  /** The innermost enclosing list of commands. */
  readonly list: CommandList;
}

/** A range that contains commands: the whole text, `$(…)`, a subshell, backticks, or the words of an array. */
export interface CommandFrame {
  readonly kind: "command";
  readonly opener: "text" | "paren" | "array" | "backtick";
  /** Start of the current word; -1 between words. */
  wordStart: number;
  /** Whether the next word is a command name or a keyword. */
  expectsCommand: boolean;
  /** Number of open `case … esac`, in which a `)` ends a pattern. */
  cases: number;
  /** Inside `[[ … ]]`. */
  inTest: boolean;
  /** Here-documents whose bodies begin on the next line. */
  readonly heredocs: Heredoc[];
  /** Whether the next word belongs to a redirection. */
  redirects: boolean;
  /** The command's first word, once it is complete. */
  name: string | undefined;
  /** The previous word. */
  previous: string;
  /** Whether the command makes its variables integers, so that assigned values are evaluated. */
  calculates: boolean;
  readonly list: CommandList;
  /** Words of the current command. */
  words: Span[];
  redirections: Redirection[];
  /** Whether the current command reads the output of the previous one. */
  piped: boolean;
}

export interface Heredoc {
  readonly delimiter: string;
  /** The delimiter as written, including its quotes. */
  readonly written: { readonly start: number; readonly end: number };
  readonly quoted: boolean;
  readonly stripTabs: boolean;
  redirection?: Redirection;
}

/** Inside `${…}`. */
export interface ExpansionFrame {
  readonly kind: "expansion";
  readonly start: number;
  /** Whether quotes around it also quote its content. */
  readonly quoted: boolean;
  /** `${x:-…}` and similar expansions, in which single quotes are literal when it is quoted; in patterns they quote. */
  readonly takesWord: boolean;
}

/** `((…))`, `$((…))` or `$[…]`, and the number of open parentheses in it. */
export interface ArithmeticFrame {
  readonly kind: "arithmetic";
  readonly closer: "))" | "]";
  depth: number;
  readonly span: { start: number; end: number };
  /** The frame to use if a single `)` closes it: `$( (…) )` written without the space. */
  readonly fallback: CommandFrame;
}

export interface QuoteFrame {
  readonly kind: "single" | "ansi" | "double" | "heredoc";
}

export type Frame = CommandFrame | ExpansionFrame | ArithmeticFrame | QuoteFrame;

/** A new list of commands that begins at `start`. */
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
/** Longer words are not keywords or relevant commands. */
const LONGEST_WORD = 64;

/** Whether a word that starts like this is split if it is unquoted. */
export function splitsWords(frame: CommandFrame, word: string): boolean {
  return !frame.inTest && !frame.redirects && frame.name !== "case" && !ASSIGNMENT.test(word);
}

/** Records the word that ends at `end`, if a word is open. */
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

/** Ends the command; the next word is a command name. */
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

/** Ends a `case` pattern, which is not a command. */
export function endPattern(frame: CommandFrame, source: string, end: number): void {
  endWord(frame, source, end);
  const into = frame.words.findLastIndex(({ start, end: to }) => source.slice(start, to) === "in");
  frame.words = frame.words.slice(0, into + 1);
  endCommand(frame, source, end);
}
