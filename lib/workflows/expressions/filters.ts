import { posix } from "node:path";
import { applyBinary, isMissing, isTrue } from "./operators.ts";
import { shellQuote } from "./shell-quote.ts";
import { toText } from "./values.ts";

interface Filter {
  /** Minimum and maximum number of arguments. */
  readonly arity: readonly [number, number];
  readonly apply: (value: unknown, args: readonly unknown[]) => unknown;
}

/** The parts that `split` produces: elements of a list, or a text split at the separator or at white space. */
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

function numberOf(value: unknown): number {
  const number = typeof value === "number" ? value : Number.parseFloat(toText(value));
  return Number.isFinite(number) ? number : 0;
}

function sliceOf(value: unknown, range: string): unknown {
  const [from = "", to = ""] = range.split(":");
  const index = (text: string): number | undefined =>
    text.trim() === "" ? undefined : Math.trunc(numberOf(text));
  const part = elements(value).slice(index(from), index(to));
  return Array.isArray(value) ? part : part.join("");
}

const filters = {
  /** `default(x)`: x if the value is undefined, null or empty; false and 0 are values. */
  default: { arity: [1, 1], apply: (value, [fallback]) => (isMissing(value) ? fallback : value) },
  upper: onText((text) => text.toUpperCase()),
  lower: onText((text) => text.toLowerCase()),
  trim: onText((text) => text.trim()),
  /** Number of list elements, object keys or characters of a text. */
  length: { arity: [0, 0], apply: lengthOf },
  json: { arity: [0, 0], apply: (value) => JSON.stringify(value ?? null) },
  first: { arity: [0, 0], apply: (value) => elements(value)[0] },
  last: { arity: [0, 0], apply: (value) => elements(value).at(-1) },
  /** `join(separator)`; the default separator is a comma. */
  join: {
    arity: [0, 1],
    apply: (value, [separator = ","]) =>
      Array.isArray(value) ? value.map(toText).join(toText(separator)) : toText(value),
  },
  /** `replace(from, to)`: replaces every occurrence; `from` is plain text. */
  replace: {
    arity: [2, 2],
    apply: (value, [from, to]) => {
      const search = toText(from);
      return search === "" ? toText(value) : toText(value).split(search).join(toText(to));
    },
  },
  /** `split(separator)`; the default separator is white space. Unquoted in a shell command, each part is one word. */
  split: { arity: [0, 1], apply: (value, [separator]) => words(value, separator) },
  basename: onText((text) => posix.basename(text)),
  dirname: onText((text) => posix.dirname(text)),
  /** Inserts the value into a shell command or URL unchanged. */
  raw: { arity: [0, 0], apply: (value) => value },
  /** Quotes text for another shell that reads it; a list becomes its words. */
  shell: {
    arity: [0, 0],
    apply: (value) =>
      Array.isArray(value)
        ? value.map((item) => shellQuote(toText(item))).join(" ")
        : shellQuote(toText(value)),
  },
  /** `add(x)`: the sum of two numbers; otherwise concatenates both as text, like `+`. */
  add: {
    arity: [1, 1],
    apply: (value, [other]) =>
      isMissing(value) || isMissing(other)
        ? toText(value) + toText(other)
        : applyBinary("+", { value }, { value: other }).value,
  },
  /** Converts text to a whole number; 0 if the text is not a number. */
  integer: { arity: [0, 0], apply: (value) => Math.trunc(numberOf(value)) },
  float: { arity: [0, 0], apply: numberOf },
  divisibleby: {
    arity: [1, 1],
    apply: (value, [by]) => numberOf(by) !== 0 && numberOf(value) % numberOf(by) === 0,
  },
  /** `cut(x)`: removes every x from the text. */
  cut: {
    arity: [1, 1],
    apply: (value, [part]) =>
      toText(part) === "" ? toText(value) : toText(value).replaceAll(toText(part), () => ""),
  },
  capfirst: onText((text) => text.charAt(0).toUpperCase() + text.slice(1)),
  title: onText((text) =>
    text.toLowerCase().replaceAll(/(?<![\p{L}\p{N}'])\p{L}/gu, (letter) => letter.toUpperCase()),
  ),
  /** `slice("1:3")`: the list elements or characters from the first index up to, not including, the second. */
  slice: { arity: [1, 1], apply: (value, [range]) => sliceOf(value, toText(range)) },
  /** `truncatechars(n)`: a longer text is cut and ends in three dots, which count towards n. */
  truncatechars: {
    arity: [1, 1],
    apply: (value, [length]) => {
      const characters = [...toText(value)];
      const most = Math.max(0, Math.trunc(numberOf(length)));
      if (characters.length <= most) return characters.join("");
      return most < 3 ? ".".repeat(most) : `${characters.slice(0, most - 3).join("")}...`;
    },
  },
  wordcount: { arity: [0, 0], apply: (value) => words(value).length },
  /** `yesno("a,b,c")`: the first text for a true value, the second for a false one, the third for a missing one. */
  yesno: {
    arity: [0, 1],
    apply: (value, [texts = "yes,no,maybe"]) => {
      const [yes = "", no = "", none = no] = toText(texts).split(",");
      if (value === undefined || value === null) return none;
      return isTrue(value) ? yes : no;
    },
  },
  /** `default_if_none(x)`: x if the value is missing; the empty text is a value. */
  default_if_none: { arity: [1, 1], apply: (value, [fallback]) => value ?? fallback },
  /** Does nothing: values are never escaped as HTML. */
  safe: { arity: [0, 0], apply: (value) => value },
  urlencode: onText((text) => encodeURIComponent(text.toWellFormed())),
} satisfies Record<string, Filter>;

export type FilterName = keyof typeof filters;

export const FILTERS: Readonly<Record<FilterName, Filter>> = filters;

export function isFilterName(name: string): name is FilterName {
  return Object.hasOwn(filters, name);
}
