import { FALLBACKS } from "./evaluate.ts";
import { NAME_SOURCE, parseExpression } from "./expression.ts";
import type { Expression } from "./expression-tree.ts";
import { spellings } from "./values.ts";

/** An LRU cache, bounded by the number of entries and the total length of their keys. */
export class TemplateCache<Value> {
  readonly #limits: { readonly entries: number; readonly characters: number };
  readonly #entries = new Map<string, Value>();
  #characters = 0;

  constructor(limits: { readonly entries: number; readonly characters: number }) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): Value | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  /** Returns the value; does not cache it if its key alone exceeds the limit. */
  add(key: string, value: Value): Value {
    if (key.length > this.#limits.characters) return value;
    this.#entries.set(key, value);
    this.#characters += key.length;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#limits.entries && this.#characters <= this.#limits.characters) break;
      this.#entries.delete(oldest);
      this.#characters -= oldest.length;
    }
    return value;
  }
}

/** A placeholder in a template. */
export interface Reference {
  readonly expression: Expression;
  /** Offset in the text, in UTF-16 units. */
  readonly offset: number;
}

/** A parsed template: literal text and references, in order. */
export interface Template {
  readonly text: string;
  readonly parts: readonly (string | Reference)[];
}

/** The input of renderers: a parsed template, or text that is parsed without loop variables. */
export type TemplateSource = Template | string;

export interface TemplateScope {
  /** Names that `[[name]]` refers to; any other `[[…]]` is text. */
  readonly loopVariables: readonly string[];
}

const LOOP_REFERENCE = new RegExp(`\\[\\[(${NAME_SOURCE})\\]\\]`, "uy");

const cache = new TemplateCache<Template>({ entries: 2_000, characters: 4_000_000 });

/**
 * Parses `{{expression}}` and, for loop variables in scope, `[[name]]`; everything else is text. Caches parsed
 * templates. Of more than two braces the inner two count. Throws TemplateError with the offset. Seed: workflow 2.7.
 */
export function parseTemplate(text: string, scope?: TemplateScope): Template {
  const loopVariables = text.includes("[[") ? (scope?.loopVariables ?? []) : [];
  const key = loopVariables.length === 0 ? text : [text, ...loopVariables].join("\0");
  return cache.get(key) ?? cache.add(key, parse(text, new Set(loopVariables)));
}

export function toTemplate(source: TemplateSource): Template {
  return typeof source === "string" ? parseTemplate(source) : source;
}

export function isReference(part: string | Reference): part is Reference {
  return typeof part !== "string";
}

/**
 * The distinct names that a template references, secrets as `secrets.NAME`. A name with hyphens is listed in both
 * spellings that are looked up: as written and with underscores.
 */
export function referencedNames(source: TemplateSource): string[] {
  const names = new Set<string>();
  for (const part of toTemplate(source).parts) {
    if (!isReference(part)) continue;
    addNames(names, part.expression);
  }
  return [...names];
}

/**
 * The names that must have a value for a template to render completely, each with the spellings that are looked up.
 * Secrets are omitted; names with `| default` are marked `optional`.
 */
export function neededNames(source: TemplateSource): readonly NeededName[] {
  const needed = new Map<string, NeededName>();
  const visit = (expression: Expression, optional: boolean): void => {
    switch (expression.kind) {
      case "literal":
        return;
      case "path": {
        const { root, difference } = expression;
        if (root === "secrets") return;
        const parts = difference === undefined ? [] : namesOf(difference);
        const isOptional = optional && (needed.get(root)?.optional ?? true);
        needed.set(root, { name: root, spellings: spellings(root), parts, optional: isOptional });
        return;
      }
      case "filter":
        visit(expression.input, optional || FALLBACKS.has(expression.name));
        for (const arg of expression.args) visit(arg, optional);
        return;
      case "unary":
        visit(expression.operand, optional);
        return;
      case "binary":
        visit(expression.left, optional);
        visit(expression.right, optional);
    }
  };
  for (const part of toTemplate(source).parts) if (isReference(part)) visit(part.expression, false);
  return [...needed.values()];
}

export interface NeededName {
  readonly name: string;
  readonly spellings: readonly string[];
  /** If no spelling has a value: the names whose difference it is. Empty if it cannot be a difference. */
  readonly parts: readonly string[];
  /** `| default` replaces a missing value. */
  readonly optional: boolean;
}

function namesOf(expression: Expression): string[] {
  const names = new Set<string>();
  addNames(names, expression);
  return [...names];
}

/** Whether the name, or the difference that it can be, has a value. */
export function isGiven({ spellings: own, parts }: NeededName, has: (name: string) => boolean): boolean {
  return own.some(has) || (parts.length > 0 && parts.every(has));
}

function addNames(names: Set<string>, expression: Expression): void {
  switch (expression.kind) {
    case "literal":
      return;
    case "path": {
      const { root, path, difference } = expression;
      const [first] = path;
      if (root === "secrets" && first !== undefined) {
        for (const name of spellings(first)) names.add(`secrets.${name}`);
      } else {
        for (const name of spellings(root)) names.add(name);
      }
      if (difference !== undefined) addNames(names, difference);
      return;
    }
    case "filter":
      addNames(names, expression.input);
      for (const arg of expression.args) addNames(names, arg);
      return;
    case "unary":
      addNames(names, expression.operand);
      return;
    case "binary":
      addNames(names, expression.left);
      addNames(names, expression.right);
  }
}

function parse(text: string, loopVariables: ReadonlySet<string>): Template {
  const opener = loopVariables.size === 0 ? /\{\{+/g : /\{\{+|\[\[/g;
  const parts: (string | Reference)[] = [];
  let done = 0;
  const add = (expression: Expression, offset: number, end: number): void => {
    if (offset > done) parts.push(text.slice(done, offset));
    parts.push({ expression, offset });
    done = end;
    opener.lastIndex = end;
  };
  for (let found = opener.exec(text); found !== null; found = opener.exec(text)) {
    if (found[0] === "[[") {
      LOOP_REFERENCE.lastIndex = found.index;
      const name = LOOP_REFERENCE.exec(text)?.[1];
      if (name !== undefined && loopVariables.has(name)) {
        const expression: Expression = { kind: "path", root: name, path: [] };
        add(expression, found.index, LOOP_REFERENCE.lastIndex);
      } else {
        opener.lastIndex = found.index + 1;
      }
      continue;
    }
    const open = found.index + found[0].length - 2;
    const { expression, end } = parseExpression(text, open);
    add(expression, open, end);
  }
  if (done < text.length) parts.push(text.slice(done));
  return { text, parts };
}
