import { isBlank, isRecord, numberOf, textOf } from "./argument-values.ts";
import type { LibraryFunction } from "./library-types.ts";

const TRUE_WORDS = new Set(["true", "t", "1", "yes", "y", "on"]);

export const conversionFunctions = {
  parse_int: {
    group: "type_conversion",
    params: ["text"],
    returns: "number",
    summary: "The integer at the start of the text, else 0",
    run: ([text]) => Math.trunc(numberOf(text, 0)),
  },
  parse_float: {
    group: "type_conversion",
    params: ["text"],
    returns: "number",
    summary: "The number at the start of the text, else 0",
    run: ([text]) => numberOf(text, 0),
  },
  to_string: {
    group: "type_conversion",
    params: ["value"],
    returns: "string",
    summary: "The value as text; lists and objects as JSON",
    run: ([value]) => textOf(value),
  },
  to_boolean: {
    group: "type_conversion",
    params: ["value"],
    returns: "boolean",
    summary: "True for true, numbers except 0, and the texts true, t, 1, yes, y and on, ignoring case",
    run: ([value]) =>
      typeof value === "number" ? value !== 0 : TRUE_WORDS.has(textOf(value).trim().toLowerCase()),
  },
  len: {
    group: "utility",
    params: ["value"],
    returns: "number",
    summary: "Number of characters of a text, items of a list or keys of an object; else 0",
    run: ([value]) => {
      if (typeof value === "string" || Array.isArray(value)) return [...value].length;
      return isRecord(value) ? Object.keys(value).length : 0;
    },
  },
  is_empty: {
    group: "utility",
    params: ["value"],
    returns: "boolean",
    summary: "Whether it is missing, null, blank text or an empty list",
    run: ([value]) => isBlank(value),
  },
  is_not_empty: {
    group: "utility",
    params: ["value"],
    returns: "boolean",
    summary: "The opposite of is_empty",
    run: ([value]) => !isBlank(value),
  },
} satisfies Record<string, LibraryFunction>;
