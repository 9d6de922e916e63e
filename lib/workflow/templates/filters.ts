import { posix } from "node:path";
import { shellQuote } from "./shell-quote.ts";
import { toText } from "./values.ts";

interface Filter {
  /** How many arguments it takes, least and most. */
  readonly arity: readonly [number, number];
  readonly apply: (value: unknown, args: readonly unknown[]) => unknown;
}

/** What counts as not given: undefined, null and the empty string. */
export function isMissing(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

/** The words that `split` makes: elements of a list, parts at a separator, or what white space parts. */
export function words(value: unknown, separator?: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  const text = toText(value);
  if (separator !== undefined && separator !== "") return text.split(toText(separator));
  return text.split(/\s/u).filter((word) => word !== "");
}

function lengthOf(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  if (typeof value === "object" && value !== null) return Object.keys(value).length;
  let count = 0;
  for (const _ of toText(value)) count += 1;
  return count;
}

function elements(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [...toText(value)];
}

function onText(change: (text: string) => unknown): Filter {
  return { arity: [0, 0], apply: (value) => change(toText(value)) };
}

const filters = {
  /** `default(x)`: x where the value is undefined, null or empty; false and 0 are values. */
  default: { arity: [1, 1], apply: (value, [fallback]) => (isMissing(value) ? fallback : value) },
  upper: onText((text) => text.toUpperCase()),
  lower: onText((text) => text.toLowerCase()),
  trim: onText((text) => text.trim()),
  /** Elements of a list, keys of an object, characters of a text. */
  length: { arity: [0, 0], apply: lengthOf },
  json: { arity: [0, 0], apply: (value) => JSON.stringify(value ?? null) },
  first: { arity: [0, 0], apply: (value) => elements(value)[0] },
  last: { arity: [0, 0], apply: (value) => elements(value).at(-1) },
  /** `join(separator)`, a comma where none is given. */
  join: {
    arity: [0, 1],
    apply: (value, [separator = ","]) =>
      Array.isArray(value) ? value.map(toText).join(toText(separator)) : toText(value),
  },
  /** `replace(from, to)`: every occurrence, as plain text. */
  replace: {
    arity: [2, 2],
    apply: (value, [from, to]) => {
      const search = toText(from);
      return search === "" ? toText(value) : toText(value).split(search).join(toText(to));
    },
  },
  /** `split(separator)`, at white space where none is given; bare in a shell command each part is one word. */
  split: { arity: [0, 1], apply: (value, [separator]) => words(value, separator) },
  basename: onText((text) => posix.basename(text)),
  dirname: onText((text) => posix.dirname(text)),
  /** Puts the value into a shell command or URL as it stands. */
  raw: { arity: [0, 0], apply: (value) => value },
  /** Quoted for a shell, a list as its words: for text that another shell will read. */
  shell: {
    arity: [0, 0],
    apply: (value) =>
      Array.isArray(value)
        ? value.map((item) => shellQuote(toText(item))).join(" ")
        : shellQuote(toText(value)),
  },
  urlencode: onText((text) => encodeURIComponent(text.toWellFormed())),
} satisfies Record<string, Filter>;

export type FilterName = keyof typeof filters;

export const FILTERS: Readonly<Record<FilterName, Filter>> = filters;

export function isFilterName(name: string): name is FilterName {
  return Object.hasOwn(filters, name);
}
