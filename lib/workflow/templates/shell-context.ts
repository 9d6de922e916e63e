import { makesIntegers } from "./shell-arithmetic.ts";
import { ProgramWatch } from "./shell-programs.ts";

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
  /** The command that reads the word around it as a program. */
  readonly program: string | undefined;
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
  watch: ProgramWatch;
}

export interface Heredoc {
  readonly delimiter: string;
  readonly quoted: boolean;
  readonly stripTabs: boolean;
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
  /** What it turns out to be when a single `)` closes it: `$( (…) )` written without the space. */
  readonly fallback: CommandFrame;
}

export interface QuoteFrame {
  readonly kind: "single" | "ansi" | "double" | "heredoc";
}

export type Frame = CommandFrame | ExpansionFrame | ArithmeticFrame | QuoteFrame;

export function commandFrame(opener: CommandFrame["opener"], inTest = false): CommandFrame {
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
    watch: new ProgramWatch(),
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
  frame.redirects = false;
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
  frame.watch.word(word.replace(/^(["'])(.*)\1$/s, "$2"));
}

/** A command is over: the next word is the name of another. */
export function endCommand(frame: CommandFrame, source: string, end: number): void {
  endWord(frame, source, end);
  frame.expectsCommand = frame.opener !== "array";
  frame.redirects = false;
  frame.name = undefined;
  frame.previous = "";
  frame.calculates = false;
  frame.watch = new ProgramWatch();
}
