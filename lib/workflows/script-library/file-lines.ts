import { createHash } from "node:crypto";
import { numberOf, textOf } from "./argument-values.ts";
import { joinLines, linesOf, pathOf, writeLines } from "./file-access.ts";
import type { FunctionContext, LibraryFunction } from "./library-types.ts";
import { toMatcher } from "./patterns.ts";

const group = "file";
const CHUNKS_MAX = 10_000;

type Test = (line: string) => boolean;

const toPartTest = (part: unknown): Test => {
  const sought = textOf(part);
  return (line) => line.includes(sought);
};

function* matching(path: unknown, test: Test, context: FunctionContext): Generator<string> {
  for (const line of linesOf(path, context)) if (test(line)) yield line;
}

function filterToFile(toTest: (given: unknown) => Test, what: string): LibraryFunction {
  return {
    group,
    params: ["dest", "source", what],
    returns: "boolean",
    summary: `Writes the lines of the file source that contain the ${what} to the file dest`,
    failure: false,
    run: ([dest, source, given], context) => {
      writeLines(dest, matching(source, toTest(given), context), context);
      return true;
    },
  };
}

function filterToText(toTest: (given: unknown) => Test, what: string): LibraryFunction {
  return {
    group,
    params: ["source", what],
    returns: "string",
    summary: `The lines of a file that contain the ${what}, as one text`,
    failure: "",
    run: ([source, given], context) => joinLines(matching(source, toTest(given), context)),
  };
}

function chunk(input: unknown, size: number, output: string, context: FunctionContext): void {
  const names: string[] = [];
  let part: string[] = [];
  const flush = (): void => {
    if (names.length >= CHUNKS_MAX) throw new Error(`a file can be split into at most ${CHUNKS_MAX} parts`);
    const name = `${output}.part-${names.length + 1}`;
    writeLines(name, part, context);
    names.push(pathOf(name, context));
    part = [];
  };
  for (const line of linesOf(input, context)) {
    part.push(line);
    if (part.length === size) flush();
  }
  if (part.length > 0) flush();
  writeLines(output, names, context);
}

export const fileLineFunctions = {
  file_contains: {
    group,
    params: ["path", "text"],
    returns: "boolean",
    summary: "Whether a line of the file contains the text, which is not a pattern",
    failure: false,
    unreachableIsMissing: true,
    run: ([path, text], context: FunctionContext) =>
      matching(path, toPartTest(text), context).next().done !== true,
  },
  regex_extract: {
    group,
    params: ["path", "pattern"],
    returns: "string[]",
    summary: "The lines of a file that a pattern (RE2) matches",
    failure: [],
    run: ([path, pattern], context: FunctionContext) => {
      const text = joinLines(matching(path, toMatcher(pattern), context));
      return text === "" ? [] : text.split("\n");
    },
  },
  grep_string_to_file: filterToFile(toPartTest, "text"),
  grep_regex_to_file: filterToFile(toMatcher, "pattern"),
  grep_string: filterToText(toPartTest, "text"),
  grep_regex: filterToText(toMatcher, "pattern"),
  remove_blank_lines: {
    group,
    params: ["path"],
    returns: "boolean",
    summary: "Removes the blank lines of a file",
    failure: false,
    run: ([path], context: FunctionContext) => {
      writeLines(
        path,
        matching(path, (line) => line.trim() !== "", context),
        context,
      );
      return true;
    },
  },
  chunk_file: {
    group,
    params: ["input", "lines_per_part", "output"],
    returns: "boolean",
    summary:
      "Splits a file into parts of a number of lines, output.part-1 and so on; output lists their paths",
    example: 'chunk_file("hosts.txt", 100, "chunks/list.txt")',
    failure: false,
    run: ([input, lines, output], context: FunctionContext) => {
      const size = Math.trunc(numberOf(lines, 0));
      if (size < 1) throw new Error("a part must have at least one line");
      chunk(input, size, textOf(output), context);
      return true;
    },
  },
  cut_to_file: {
    group,
    params: ["input", "delimiter", "field", "output"],
    returns: "boolean",
    summary:
      "Writes one column of each line, counted from 1, to a file; lines without the column are omitted",
    example: 'cut_to_file("ports.csv", ",", 2, "ports.txt")',
    failure: false,
    run: ([input, delimiter, field, output], context: FunctionContext) => {
      const column = Math.trunc(numberOf(field, 0)) - 1;
      const between = textOf(delimiter);
      if (column < 0 || between === "") throw new Error("a delimiter and a column from 1 are required");
      const cells = function* (): Generator<string> {
        for (const line of linesOf(input, context)) {
          const cell = line.split(between, column + 1)[column];
          if (cell !== undefined) yield cell;
        }
      };
      writeLines(output, cells(), context);
      return true;
    },
  },
  clean_sub: {
    group: "string",
    params: ["path", "target?"],
    returns: "boolean",
    summary:
      "Reduces a file to the distinct domain names of its lines, in lower case; with a target only to its subdomains",
    example: 'clean_sub("subdomains.txt", "example.com")',
    failure: false,
    run: ([path, target], context: FunctionContext) => {
      writeLines(path, cleanedNames(path, textOf(target).trim().toLowerCase(), context), context);
      return true;
    },
  },
  extract_diff: {
    group: "diff",
    params: ["old_file", "new_file"],
    returns: "string",
    summary: "The lines of the second file that the first does not have, as one text; each once",
    failure: "",
    run: ([first, second], context: FunctionContext) => joinLines(addedLines(first, second, context)),
  },
} satisfies Record<string, LibraryFunction>;

const LABEL = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?";
const DOMAIN = new RegExp(`(?:${LABEL}\\.)+[a-z]{2,61}`);
/** Remains of URL encoding and Unicode escapes at the start of a name. */
const ENCODED_START = /^(?:u[0-9a-f]{4}|2[025bf]|3[ad]|40)/;
const ADDRESS_PART = /\d{1,3}([.-])\d{1,3}\1\d{1,3}(?:\.|$|-)/;
/** A host name has at most 253 characters; the text around it may be longer. */
const NAMED_LINE_CHARS = 1_000;

function* cleanedNames(path: unknown, target: string, context: FunctionContext): Generator<string> {
  const seen = new Set<string>();
  for (const line of linesOf(path, context)) {
    const name = domainIn(line);
    if (name === "" || seen.has(name)) continue;
    if (target !== "" && name !== target && !name.endsWith(`.${target}`)) continue;
    seen.add(name);
    yield name;
  }
}

function domainIn(line: string): string {
  let name = DOMAIN.exec(line.slice(0, NAMED_LINE_CHARS).toLowerCase())?.[0] ?? "";
  while (ENCODED_START.test(name)) name = name.replace(ENCODED_START, "").replace(/^[-.]+/, "");
  return !name.includes(".") || ADDRESS_PART.test(name) ? "" : name;
}

/** Compares lines by hash, so that files with more lines than fit into memory can be compared. */
function* addedLines(first: unknown, second: unknown, context: FunctionContext): Generator<string> {
  const hash = (line: string): string => createHash("sha1").update(line).digest("base64").slice(0, 16);
  const seen = new Set<string>();
  for (const line of linesOf(first, context)) seen.add(hash(line));
  for (const line of linesOf(second, context)) {
    if (line.trim() === "") continue;
    const key = hash(line);
    if (seen.has(key)) continue;
    seen.add(key);
    yield line;
  }
}
