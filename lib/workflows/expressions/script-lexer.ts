/** What a place in JavaScript source is in; `code` is inside `${…}` too. */
export type ScriptPlace =
  | "code"
  | "'"
  | '"'
  | "template"
  | "line comment"
  | "block comment"
  | "regular expression";

/** Words after which a `/` begins a regular expression, though they end like values. */
const BEFORE_REGEX =
  /(?:^|[^\w$.])(?:return|typeof|case|in|of|do|else|void|delete|throw|new|instanceof|yield|await)$/;
const ENDS_VALUE = /[\w$)\]}"'`]$/;
/** Code kept to look back at, characters: longer than the longest of those words. */
const LOOK_BACK = 16;

/**
 * Follows JavaScript source character by character: just enough of its grammar to know what the place that
 * comes next is in.
 */
export class ScriptLexer {
  place: ScriptPlace = "code";
  /** A backslash stands last, which would escape whatever comes next. */
  escaped = false;
  /** Braces open in each `${…}` around this place, innermost last. */
  readonly #braces: number[] = [];
  /** The end of the code so far, without comments. */
  #code = "";
  #last = "";
  /** Inside `[…]` of a regular expression, where `/` does not end it. */
  #inClass = false;

  /** Takes a character; `next` is the one after it, empty at the end of what is known. */
  take(character: string, next: string): void {
    if (this.place === "code") this.#takeCode(character, next);
    else if (this.escaped) this.escaped = false;
    else this.#takeOther(character);
    this.#last = character;
  }

  /** A value takes this place, as a name would. */
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

  /** Counts braces inside `${…}`; the one that closes it goes back into the template literal. */
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
