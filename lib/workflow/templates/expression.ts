import { FILTERS, type FilterName, isFilterName } from "./filters.ts";
import { TemplateError } from "./template-error.ts";

/** A literal of the template, or a name with the keys that lead on from it. */
export type Operand =
  | { readonly kind: "literal"; readonly value: string | number | boolean | null }
  | { readonly kind: "path"; readonly root: string; readonly path: readonly string[] };

export interface FilterCall {
  readonly name: FilterName;
  readonly args: readonly Operand[];
}

export interface Expression {
  readonly operand: Operand;
  readonly filters: readonly FilterCall[];
}

export const NAME_SOURCE = "[\\p{L}_][\\p{L}\\p{N}_-]*";
const NAME = new RegExp(NAME_SOURCE, "uy");
const INDEX = /\d+/y;
const NUMBER = /-?\d+(?:\.\d+)?/y;
const SPACE = /\s*/y;
const WORDS: ReadonlyMap<string, boolean | null> = new Map([
  ["true", true],
  ["false", false],
  ["null", null],
]);
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["t", "\t"],
  ["r", "\r"],
  ["\\", "\\"],
  ['"', '"'],
  ["'", "'"],
]);

/**
 * Reads an expression and the `}}` behind it: `a.b.0["key"] | filter | filter("argument")`. A filter's only
 * argument may also follow a colon. Returns where the text goes on. Throws TemplateError.
 */
export function parseExpression(text: string, open: number): { expression: Expression; end: number } {
  return new ExpressionParser(text, open).parse();
}

class ExpressionParser {
  readonly #text: string;
  readonly #open: number;
  #at: number;

  constructor(text: string, open: number) {
    this.#text = text;
    this.#open = open;
    this.#at = open + 2;
  }

  parse(): { expression: Expression; end: number } {
    this.#space();
    if (this.#text.startsWith("}}", this.#at)) {
      throw new TemplateError("{{ }} has nothing in it", this.#open);
    }
    const operand = this.#operand();
    const filters: FilterCall[] = [];
    for (;;) {
      this.#space();
      if (this.#text.startsWith("}}", this.#at)) break;
      this.#expect("|");
      filters.push(this.#filter());
    }
    return { expression: { operand, filters }, end: this.#at + 2 };
  }

  #operand(): Operand {
    this.#space();
    const char = this.#text[this.#at];
    if (char === '"' || char === "'") return { kind: "literal", value: this.#string(char) };
    const number = this.#match(NUMBER);
    if (number !== undefined) return { kind: "literal", value: Number(number) };
    const start = this.#at;
    const root = this.#match(NAME);
    if (root === undefined) return this.#unexpected();
    const path = this.#path();
    const word = WORDS.get(root);
    if (word !== undefined && path.length === 0) return { kind: "literal", value: word };
    if (root === "secrets" && path.length === 0) {
      throw new TemplateError("secrets is no value; name one, as in {{secrets.NAME}}", start);
    }
    return { kind: "path", root, path };
  }

  #path(): string[] {
    const path: string[] = [];
    for (;;) {
      if (this.#take(".")) {
        path.push(this.#match(INDEX) ?? this.#match(NAME) ?? this.#unexpected());
      } else if (this.#take("[")) {
        this.#space();
        const char = this.#text[this.#at];
        path.push(
          char === '"' || char === "'" ? this.#string(char) : (this.#match(INDEX) ?? this.#unexpected()),
        );
        this.#space();
        this.#expect("]");
      } else {
        return path;
      }
    }
  }

  #filter(): FilterCall {
    this.#space();
    const start = this.#at;
    const name = this.#match(NAME) ?? this.#unexpected();
    if (!isFilterName(name)) {
      throw new TemplateError(
        `unknown filter "${name}"; there are: ${Object.keys(FILTERS).join(", ")}`,
        start,
      );
    }
    const args = this.#args();
    const [least, most] = FILTERS[name].arity;
    if (args.length < least || args.length > most) {
      const wanted = least === most ? `${least}` : `${least} to ${most}`;
      throw new TemplateError(`filter "${name}" takes ${wanted} arguments, not ${args.length}`, start);
    }
    return { name, args };
  }

  #args(): Operand[] {
    if (this.#take(":")) return [this.#operand()];
    if (!this.#take("(")) return [];
    const args: Operand[] = [];
    this.#space();
    if (this.#take(")")) return args;
    do {
      args.push(this.#operand());
      this.#space();
    } while (this.#take(","));
    this.#expect(")");
    return args;
  }

  #string(quote: string): string {
    this.#at += 1;
    let value = "";
    for (;;) {
      const char = this.#text[this.#at];
      if (char === undefined) return this.#unexpected();
      this.#at += 1;
      if (char === quote) return value;
      if (char === "\\") {
        const next = this.#text[this.#at] ?? "";
        this.#at += 1;
        value += ESCAPES.get(next) ?? `\\${next}`;
      } else {
        value += char;
      }
    }
  }

  #space(): void {
    this.#match(SPACE);
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #take(token: string): boolean {
    if (!this.#text.startsWith(token, this.#at)) return false;
    this.#at += token.length;
    return true;
  }

  #expect(token: string): void {
    if (!this.#take(token)) this.#unexpected();
  }

  #unexpected(): never {
    if (this.#at >= this.#text.length) {
      throw new TemplateError(
        '"{{" is never closed by "}}"; for the text itself write {{ "{{" }}',
        this.#open,
      );
    }
    const found = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0);
    const hint = 'to have "{{" as text write {{ "{{" }}';
    throw new TemplateError(`unexpected ${JSON.stringify(found)} in a {{ }} expression; ${hint}`, this.#at);
  }
}
