import { createHash } from "node:crypto";
import { numberOf, textOf } from "./argument-values.ts";
import type { LibraryFunction } from "./library-types.ts";

const group = "string";
/** A longer workspace name is cut and made unique by a hash. */
const SPACE_MAX_CHARS = 30;
const UNSAFE_IN_PATHS = /[/\\|:*?"<>\0]/g;

function withoutStart(text: string, part: string): string {
  let rest = text;
  while (part !== "" && rest.startsWith(part)) rest = rest.slice(part.length);
  return rest;
}

function withoutEnd(text: string, part: string): string {
  let rest = text;
  while (part !== "" && rest.endsWith(part)) rest = rest.slice(0, -part.length);
  return rest;
}

const cut: LibraryFunction = {
  group,
  params: ["text", "delimiter", "field"],
  returns: "string",
  summary:
    "The part of the text at a position, counted from 1, between delimiters; empty if the text has fewer parts",
  example: 'cut("a:b:c", ":", 2)',
  run: ([text, delimiter, field]) => {
    const between = textOf(delimiter);
    const parts = between === "" ? [textOf(text)] : textOf(text).split(between);
    return parts[Math.trunc(numberOf(field, 0)) - 1] ?? "";
  },
};

/** Replaces unsafe characters, and the dots of `.` and `..`. */
function safeName(text: string): string {
  const name = text.replaceAll(UNSAFE_IN_PATHS, "_");
  return /^\.{1,2}$/.test(name) ? name.replaceAll(".", "_") : name;
}

export const textCuttingFunctions = {
  trim_string: {
    group,
    params: ["text", "part"],
    returns: "string",
    summary: "The text without all repetitions of the part at its start and end",
    run: ([text, part]) => withoutEnd(withoutStart(textOf(text), textOf(part)), textOf(part)),
  },
  trim_left: {
    group,
    params: ["text", "part"],
    returns: "string",
    summary: "The text without all repetitions of the part at its start",
    run: ([text, part]) => withoutStart(textOf(text), textOf(part)),
  },
  trim_right: {
    group,
    params: ["text", "part"],
    returns: "string",
    summary: "The text without all repetitions of the part at its end",
    run: ([text, part]) => withoutEnd(textOf(text), textOf(part)),
  },
  cut_with_delim: cut,
  cut,
  cut_space: {
    group,
    params: ["text", "field"],
    returns: "string",
    summary: "The word at a position, counted from 1; empty if the text has fewer words",
    example: 'cut_space("GET /x 200", 3)',
    run: ([text, field]) => textOf(text).trim().split(/\s+/)[Math.trunc(numberOf(field, 0)) - 1] ?? "",
  },
  normalize_path: {
    group,
    params: ["text"],
    returns: "string",
    summary: 'The text as a file name: / | : \\ * ? " < > become _',
    example: 'normalize_path("https://a.example/x")',
    run: ([text]) => safeName(textOf(text)),
  },
  get_target_space: {
    group,
    params: ["text"],
    returns: "string",
    summary: `Same as normalize_path; longer than ${SPACE_MAX_CHARS} characters, it is truncated and a hash is appended`,
    run: ([text]) => {
      const name = safeName(textOf(text));
      if (name.length <= SPACE_MAX_CHARS) return name;
      const hash = createHash("sha256").update(textOf(text)).digest("hex").slice(0, 8);
      return `${name.slice(0, SPACE_MAX_CHARS - 9)}-${hash}`;
    },
  },
} satisfies Record<string, LibraryFunction>;
