import { binary, differenceIn, type Expression, isText, unary } from "./expression-tree.ts";
import { FILTERS, isFilterName } from "./filters.ts";
import type { BinaryOperator, UnaryOperator } from "./operators.ts";
import { TemplateError } from "./template-error.ts";

/** Maximum nesting of parentheses, filter arguments and signs. */
const MAX_DEPTH = 32;
/** Maximum number of operators and filters in one expression. */
const MAX_OPERATORS = 256;
export const NAME_SOURCE = "[\\p{L}_][\\p{L}\\p{N}_-]*";
const NAME = new RegExp(NAME_SOURCE, "uy");
const INDEX = /\d+/y;
const NUMBER = /\d+(?:\.\d+)?/y;
const SPACE = /\s*/y;
const OR = /\|\||or(?![\p{L}\p{N}_-])/uy;
const AND = /&&|and(?![\p{L}\p{N}_-])/uy;
const NOT = /not(?:\s+(?=[\p{L}\p{N}_"'!-])|(?=\s*\())/uy;
const COMPARISON = /==|!=|<=|>=|<|>|in(?![\p{L}\p{N}_-])/uy;
const SUM = /[+-]/y;
const PRODUCT = /[*/%]/y;
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
 * Parses an expression and the `}}` after it. Precedence, lowest first: `or` (`||`), `and` (`&&`), `not`, comparison
 * (`== != < <= > >= in`), `+ -`, `* / %`, sign or `!`, filters. `a.b.0["key"]` is a path into a value; the only
 * argument of a filter may also follow a colon. Operations on literals are checked and evaluated here. Returns the
 * expression and the position after `}}`. Throws TemplateError.
 */
export function parseExpression(text: string, open: number): { expression: Expression; end: number } {
  return new ExpressionParser(text, open).parse();
}

class ExpressionParser {
  readonly #text: string;
  readonly #open: number;
  #at: number;
  #depth = 0;
  #operators = 0;

  constructor(text: string, open: number) {
    this.#text = text;
    this.#open = open;
    this.#at = open + 2;
  }

  parse(): { expression: Expression; end: number } {
    this.#space();
    if (this.#text.startsWith("}}", this.#at)) {
      throw new TemplateError("{{ }} is empty", this.#open);
    }
    const expression = this.#disjunction();
    this.#space();
    this.#expect("}}");
    return { expression, end: this.#at };
  }

  #disjunction(): Expression {
    let left = this.#conjunction();
    for (;;) {
      const offset = this.#operator(OR);
      if (offset === undefined) return left;
      left = this.#binary("or", left, this.#conjunction(), offset);
    }
  }

  #conjunction(): Expression {
    let left = this.#negation();
    for (;;) {
      const offset = this.#operator(AND);
      if (offset === undefined) return left;
      left = this.#binary("and", left, this.#negation(), offset);
    }
  }

  #negation(): Expression {
    const offset = this.#operator(NOT);
    if (offset === undefined) return this.#comparison();
    return this.#nested(offset, () => this.#unary("not", this.#negation(), offset));
  }

  #comparison(): Expression {
    const left = this.#sum();
    this.#space();
    const offset = this.#at;
    const operator = this.#match(COMPARISON);
    if (operator === undefined) return left;
    return this.#binary(operator as BinaryOperator, left, this.#sum(), offset);
  }

  #sum(): Expression {
    let left = this.#product();
    for (;;) {
      const offset = this.#operator(SUM);
      if (offset === undefined) return left;
      const sign = this.#text[offset];
      const right = this.#product();
      const operator = sign === "-" ? "-" : isText(left) || isText(right) ? "concat" : "+";
      left = this.#binary(operator, left, right, offset);
    }
  }

  #product(): Expression {
    let left = this.#signed();
    for (;;) {
      const offset = this.#operator(PRODUCT);
      if (offset === undefined) return left;
      left = this.#binary(this.#text[offset] as BinaryOperator, left, this.#signed(), offset);
    }
  }

  #signed(): Expression {
    this.#space();
    const offset = this.#at;
    const operator = this.#take("-") ? "negate" : this.#take("!") ? "not" : undefined;
    if (operator === undefined) return this.#filtered();
    return this.#nested(offset, () => this.#unary(operator, this.#signed(), offset));
  }

  #filtered(): Expression {
    let input = this.#primary();
    for (;;) {
      this.#space();
      if (this.#text[this.#at] !== "|" || this.#text[this.#at + 1] === "|") return input;
      this.#count(this.#at);
      this.#at += 1;
      input = this.#filter(input);
    }
  }

  #primary(): Expression {
    this.#space();
    const start = this.#at;
    const char = this.#text[start];
    if (char === '"' || char === "'") return { kind: "literal", value: this.#string(char) };
    if (this.#take("(")) {
      const inner = this.#nested(start, () => this.#disjunction());
      this.#space();
      this.#expect(")");
      return inner;
    }
    const number = this.#match(NUMBER);
    if (number !== undefined) {
      return { kind: "literal", value: Number(number), ...(number.includes(".") ? { isFloat: true } : {}) };
    }
    const root = this.#match(NAME);
    if (root === undefined) return this.#unexpected();
    const path = this.#path();
    const word = WORDS.get(root);
    if (word !== undefined && path.length === 0) return { kind: "literal", value: word };
    if (root === "secrets" && path.length === 0) {
      throw new TemplateError("secrets is not a value: use a single secret such as {{secrets.NAME}}", start);
    }
    const difference = path.length === 0 ? differenceIn(root, start) : undefined;
    return { kind: "path", root, path, ...(difference === undefined ? {} : { difference }) };
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

  #filter(input: Expression): Expression {
    this.#space();
    const start = this.#at;
    const name = this.#match(NAME) ?? this.#unexpected();
    if (!isFilterName(name)) {
      throw new TemplateError(
        `unknown filter "${name}", must be one of: ${Object.keys(FILTERS).join(", ")}`,
        start,
      );
    }
    const args = this.#args();
    const [least, most] = FILTERS[name].arity;
    if (args.length < least || args.length > most) {
      const wanted = least === most ? `${least}` : `${least} to ${most}`;
      throw new TemplateError(`filter "${name}" takes ${wanted} arguments, not ${args.length}`, start);
    }
    return { kind: "filter", name, input, args, offset: start };
  }

  #args(): Expression[] {
    if (this.#take(":")) return [this.#primary()];
    const open = this.#at;
    if (!this.#take("(")) return [];
    const args: Expression[] = [];
    this.#space();
    if (this.#take(")")) return args;
    do {
      args.push(this.#nested(open, () => this.#disjunction()));
      this.#space();
    } while (this.#take(","));
    this.#expect(")");
    return args;
  }

  #nested<Result>(offset: number, read: () => Result): Result {
    if (this.#depth >= MAX_DEPTH) {
      throw new TemplateError(`the expression nests deeper than ${MAX_DEPTH} levels`, offset);
    }
    this.#depth += 1;
    const result = read();
    this.#depth -= 1;
    return result;
  }

  #unary(operator: UnaryOperator, operand: Expression, offset: number): Expression {
    this.#count(offset);
    return unary(operator, operand, offset);
  }

  #binary(operator: BinaryOperator, left: Expression, right: Expression, offset: number): Expression {
    this.#count(offset);
    return binary(operator, left, right, offset);
  }

  #count(offset: number): void {
    this.#operators += 1;
    if (this.#operators > MAX_OPERATORS) {
      throw new TemplateError(`the expression has more than ${MAX_OPERATORS} operators and filters`, offset);
    }
  }

  /** Reads an operator at the current position and returns its offset; undefined if none matches. */
  #operator(pattern: RegExp): number | undefined {
    this.#space();
    const offset = this.#at;
    return this.#match(pattern) === undefined ? undefined : offset;
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
    const hint = 'for the text "{{" write {{ "{{" }}';
    throw new TemplateError(`unexpected ${JSON.stringify(found)} in a {{ }} expression; ${hint}`, this.#at);
  }
}
