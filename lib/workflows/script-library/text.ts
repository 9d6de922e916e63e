import { textOf } from "./argument-values.ts";
import type { LibraryFunction } from "./library-types.ts";
import { toMatcher } from "./patterns.ts";

const group = "string";

export const textFunctions = {
  trim: {
    group,
    params: ["text"],
    returns: "string",
    summary: "The text without leading and trailing white space",
    run: ([text]) => textOf(text).trim(),
  },
  split: {
    group,
    params: ["text", "delimiter"],
    returns: "string[]",
    summary: "The parts of the text between delimiters; without a delimiter the text alone",
    run: ([text, delimiter]) =>
      delimiter === undefined || delimiter === null ? [textOf(text)] : textOf(text).split(textOf(delimiter)),
  },
  join: {
    group,
    params: ["list", "delimiter"],
    returns: "string",
    summary: "The items of the list as one text",
    run: ([list, delimiter]) =>
      Array.isArray(list) ? list.map(textOf).join(textOf(delimiter)) : textOf(list),
  },
  replace: {
    group,
    params: ["text", "old", "new"],
    returns: "string",
    summary: "The text with every occurrence of a text, which is not a pattern, replaced",
    run: ([text, old, replacement]) => {
      const sought = textOf(old);
      return sought === "" ? textOf(text) : textOf(text).split(sought).join(textOf(replacement));
    },
  },
  contains: {
    group,
    params: ["text", "part"],
    returns: "boolean",
    summary: "Whether the text contains the part, or the list contains the item",
    run: ([text, part]) =>
      Array.isArray(text)
        ? text.some((item) => textOf(item) === textOf(part))
        : textOf(text).includes(textOf(part)),
  },
  starts_with: {
    group,
    params: ["text", "prefix"],
    returns: "boolean",
    summary: "Whether the text starts with the prefix",
    run: ([text, prefix]) => textOf(text).startsWith(textOf(prefix)),
  },
  ends_with: {
    group,
    params: ["text", "suffix"],
    returns: "boolean",
    summary: "Whether the text ends with the suffix",
    run: ([text, suffix]) => textOf(text).endsWith(textOf(suffix)),
  },
  to_lower_case: {
    group,
    params: ["text"],
    returns: "string",
    summary: "The text in lower case",
    run: ([text]) => textOf(text).toLowerCase(),
  },
  to_upper_case: {
    group,
    params: ["text"],
    returns: "string",
    summary: "The text in upper case",
    run: ([text]) => textOf(text).toUpperCase(),
  },
  match: {
    group,
    params: ["text", "pattern"],
    returns: "boolean",
    summary: "Whether the pattern (RE2) matches somewhere in the text",
    failure: false,
    run: ([text, pattern]) => toMatcher(pattern)(textOf(text)),
  },
  regex_match: {
    group,
    params: ["pattern", "text"],
    returns: "boolean",
    summary: "Same as match, with the pattern first",
    failure: false,
    run: ([pattern, text]) => toMatcher(pattern)(textOf(text)),
  },
} satisfies Record<string, LibraryFunction>;
