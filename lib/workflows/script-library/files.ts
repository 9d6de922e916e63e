import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  opendirSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { textOf } from "./argument-values.ts";
import { chunksOf, entryOf, openFile, outputOf, pathOf, readText } from "./file-access.ts";
import type { FunctionContext, LibraryFunction } from "./library-types.ts";

const group = "file";
const [LINE_FEED, SPACE, TAB, VERTICAL_TAB, FORM_FEED, RETURN] = [10, 32, 9, 11, 12, 13];

/** Counts the lines that are not blank, byte by byte, without storing any line. */
function countLines(path: string): number {
  let count = 0;
  let counted = false;
  for (const chunk of chunksOf(path)) {
    for (const byte of chunk) {
      if (byte === LINE_FEED) counted = false;
      else if (!counted && !isSpace(byte)) {
        counted = true;
        count += 1;
      }
    }
  }
  return count;
}

function isSpace(byte: number): boolean {
  return byte === SPACE || byte === TAB || byte === RETURN || byte === VERTICAL_TAB || byte === FORM_FEED;
}

function countEntries(path: string): number {
  const folder = opendirSync(path);
  try {
    let count = 0;
    while (folder.readSync() !== null) count += 1;
    return count;
  } finally {
    folder.closeSync();
  }
}

function append(dest: string, source: string): void {
  const from = openFile(source);
  const size = fstatSync(from).size;
  closeSync(from);
  const to = openFile(dest, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT);
  try {
    // Copies the size at the start: a file appended to itself would grow forever.
    for (const chunk of chunksOf(source, size)) writeSync(to, chunk);
  } finally {
    closeSync(to);
  }
}

function kindOf(path: unknown, context: FunctionContext): "file" | "folder" | "other" | undefined {
  const stats = statSync(pathOf(path, context), { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  if (stats.isFile()) return "file";
  return stats.isDirectory() ? "folder" : "other";
}

export const fileFunctions = {
  file_exists: {
    group,
    params: ["path"],
    returns: "boolean",
    summary: "Whether a file or folder exists",
    failure: false,
    unreachableIsMissing: true,
    run: ([path], context: FunctionContext) => textOf(path) !== "" && existsSync(pathOf(path, context)),
  },
  file_length: {
    group,
    params: ["path"],
    returns: "number",
    summary: "Number of non-blank lines; 0 if the file cannot be read",
    failure: 0,
    unreachableIsMissing: true,
    run: ([path], context: FunctionContext) => countLines(pathOf(path, context)),
  },
  dir_length: {
    group,
    params: ["path"],
    returns: "number",
    summary: "Number of entries of a folder; 0 if it cannot be read",
    failure: 0,
    unreachableIsMissing: true,
    run: ([path], context: FunctionContext) => countEntries(pathOf(path, context)),
  },
  read_file: {
    group,
    params: ["path"],
    returns: "string",
    summary: "The text of a file of up to 10 MiB; empty if it cannot be read, an error if it is larger",
    failure: "",
    run: ([path], context: FunctionContext) => readText(path, context),
  },
  read_lines: {
    group,
    params: ["path"],
    returns: "string[]",
    summary: "The lines of a file of up to 10 MiB; none if it cannot be read, an error if it is larger",
    failure: [],
    run: ([path], context: FunctionContext) => {
      const lines = readText(path, context).split(/\r?\n/);
      if (lines.at(-1) === "") lines.pop();
      return lines;
    },
  },
  create_folder: {
    group,
    params: ["path"],
    returns: "boolean",
    summary: "Creates a folder and its parents; true if it exists",
    failure: false,
    run: ([path], context: FunctionContext) => {
      mkdirSync(pathOf(path, context), { recursive: true });
      return true;
    },
  },
  append_file: {
    group,
    params: ["dest", "source"],
    returns: "boolean",
    summary: "Appends the content of the file source to the file dest",
    failure: false,
    run: ([dest, source], context: FunctionContext) => {
      append(outputOf(dest, context), pathOf(source, context));
      return true;
    },
  },
  save_content: {
    group: "output",
    params: ["content", "path"],
    returns: "boolean",
    summary: "Replaces the content of a file with a text; objects and lists as JSON",
    failure: false,
    run: ([content, path], context: FunctionContext) => {
      const target = outputOf(path, context);
      const fd = openFile(target, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC);
      try {
        writeFileSync(fd, textOf(content));
      } finally {
        closeSync(fd);
      }
      return true;
    },
  },
  remove_file: {
    group,
    params: ["path"],
    returns: "boolean",
    summary: "Removes one file",
    failure: false,
    run: ([path], context: FunctionContext) => {
      unlinkSync(entryOf(path, context));
      return true;
    },
  },
  is_file: {
    group: "type_detection",
    params: ["path"],
    returns: "boolean",
    summary: "Whether the path is a regular file",
    failure: false,
    run: ([path], context: FunctionContext) => textOf(path) !== "" && kindOf(path, context) === "file",
  },
  is_dir: {
    group: "type_detection",
    params: ["path"],
    returns: "boolean",
    summary: "Whether the path is a folder",
    failure: false,
    run: ([path], context: FunctionContext) => textOf(path) !== "" && kindOf(path, context) === "folder",
  },
} satisfies Record<string, LibraryFunction>;
