/** The syntactic context of a position in JavaScript source; `code` includes the inside of `${…}`. */
export type ScriptPlace =
  | "code"
  | "'"
  | '"'
  | "template"
  | "line comment"
  | "block comment"
  | "regular expression";

/** Keywords after which a `/` begins a regular expression, although they look like values. */
const BEFORE_REGEX =
  /(?:^|[^\w$.])(?:return|typeof|case|in|of|do|else|void|delete|throw|new|instanceof|yield|await)$/;
const ENDS_VALUE = /[\w$)\]}"'`]$/;
/** Characters of preceding code that are kept; longer than the longest of those keywords. */
const LOOK_BACK = 16;

/** Reads JavaScript source character by character, with enough grammar to know the context of the next position. */
export class ScriptLexer {
  place: ScriptPlace = "code";
  /** Whether the last character is a backslash that escapes the next one. */
  escaped = false;
  /** Number of open braces in each enclosing `${…}`, innermost last. */
  readonly #braces: number[] = [];
  /** The end of the code so far, without comments. */
  #code = "";
  #last = "";
  /** Inside `[…]` of a regular expression, where `/` does not end it. */
  #inClass = false;

  /** Consumes a character; `next` is the following one, empty at the end of the known text. */
  take(character: string, next: string): void {
    if (this.place === "code") this.#takeCode(character, next);
    else if (this.escaped) this.escaped = false;
    else this.#takeOther(character);
    this.#last = character;
  }

  /** Records that a value is inserted here, as a name would be. */
  takeName(): void {
    if (this.place === "code") this.#code = "v";
    this.#last = "v";
  }

  #takeCode(character: string, next: string): void {
    if (character === "/" && (next === "/" || next === "*")) {
      this.place = next === "/" ? "line comment" : "block comment";
      return;
    }
    if (character === '"' || character === "'") this.place = character;
    else if (character === "`") this.place = "template";
    else if (character === "/" && this.#regexFits()) this.place = "regular expression";
    else if (character === "{") this.#count(1);
    else if (character === "}") this.#count(-1);
    this.#code = (this.#code + character).slice(-LOOK_BACK);
  }

  /** Counts braces inside `${…}`; the brace that closes it returns to the template literal. */
  #count(change: 1 | -1): void {
    const open = this.#braces.pop();
    if (open === undefined) return;
    if (open + change < 0) this.place = "template";
    else this.#braces.push(open + change);
  }

  #regexFits(): boolean {
    const before = this.#code.trimEnd();
    return !ENDS_VALUE.test(before) || BEFORE_REGEX.test(before);
  }

  #takeOther(character: string): void {
    switch (this.place) {
      case "line comment":
        if (character === "\n") this.place = "code";
        return;
      case "block comment":
        if (character === "/" && this.#last === "*") this.place = "code";
        return;
      case "template":
        if (character === "`") this.#endLiteral();
        else if (character === "{" && this.#last === "$") {
          this.#braces.push(0);
          this.place = "code";
          this.#code = "{";
        }
        break;
      case "regular expression":
        if (character === "[") this.#inClass = true;
        else if (character === "]") this.#inClass = false;
        else if (character === "\n" || (character === "/" && !this.#inClass)) this.#endLiteral();
        break;
      default:
        if (character === this.place) this.#endLiteral();
    }
    this.escaped = character === "\\";
  }

  #endLiteral(): void {
    this.place = "code";
    this.#inClass = false;
    this.#code = '"';
  }
}
