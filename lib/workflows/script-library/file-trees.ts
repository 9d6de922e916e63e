import { cpSync, existsSync, globSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, isAbsolute, join, resolve } from "node:path";
import { textOf } from "./argument-values.ts";
import { entryOf, outputOf, pathOf } from "./file-access.ts";
import type { FunctionContext, LibraryFunction } from "./library-types.ts";

const group = "file";
/** Maximum number of paths that `glob` returns. */
const GLOB_MAX = 10_000;
const GLOB_PATTERN_CHARS = 1_000;
/**
 * Maximum number of wildcards per segment, and of lists in the whole pattern: with more, matching can take exponential
 * time.
 */
const GLOB_WILDCARDS = 3;

function move(source: string, dest: string): void {
  const folder = statSync(dest, { throwIfNoEntry: false })?.isDirectory() === true;
  const target = folder ? join(dest, basename(source)) : dest;
  try {
    renameSync(source, target);
  } catch (error) {
    if ((error as { code?: unknown }).code !== "EXDEV") throw error;
    cpSync(source, target, { recursive: true, verbatimSymlinks: true });
    rmSync(source, { recursive: true });
  }
}

function matches(pattern: string, context: FunctionContext): string[] {
  if (pattern.length > GLOB_PATTERN_CHARS)
    throw new Error(`a pattern must have at most ${GLOB_PATTERN_CHARS} characters`);
  const parts = pattern.split("/");
  const tooMany = parts.some((part) => (part.match(/\*+/g) ?? []).length > GLOB_WILDCARDS);
  if (tooMany || (pattern.match(/\{/g) ?? []).length > GLOB_WILDCARDS || pattern.includes("("))
    throw new Error(
      `a pattern must have at most ${GLOB_WILDCARDS} wildcards and ${GLOB_WILDCARDS} lists in a part, and no parentheses`,
    );
  // Segments before the first wildcard are an ordinary path; after it, `..` is not allowed.
  const wild = parts.findIndex((part) => /[*?[{]/.test(part));
  const fixed = wild < 0 ? parts.slice(0, -1) : parts.slice(0, wild);
  const rest = parts.slice(fixed.length);
  if (rest.includes("..")) throw new Error("a pattern must not contain .. after a wildcard");
  const start = fixed.length === 0 ? "." : fixed.join("/") || "/";
  const folder = pathOf(start, context);
  const found: string[] = [];
  for (const path of globSync(rest.join("/"), { cwd: folder })) {
    if (found.length >= GLOB_MAX) throw new Error(`the pattern matches more than ${GLOB_MAX} paths`);
    if (leadsOut(join(folder, path), context)) continue;
    found.push(isAbsolute(pattern) ? join(resolve(start), path) : join(start, path));
  }
  return found.sort();
}

/** Whether a matched path leads out of the accessible folders through a link. */
function leadsOut(path: string, context: FunctionContext): boolean {
  try {
    pathOf(path, context);
    return false;
  } catch {
    return true;
  }
}

export const fileTreeFunctions = {
  remove_folder: {
    group,
    params: ["path"],
    returns: "boolean",
    summary: "Removes a folder and its contents",
    failure: false,
    run: ([path], context: FunctionContext) => {
      const entry = entryOf(path, context);
      if (!statSync(entry).isDirectory()) throw new Error("the path is not a folder");
      rmSync(entry, { recursive: true });
      return true;
    },
  },
  rm_rf: {
    group,
    params: ["path"],
    returns: "boolean",
    summary: "Removes a file, or a folder and its contents; true if it does not exist",
    failure: false,
    run: ([path], context: FunctionContext) => {
      rmSync(entryOf(path, context), { recursive: true, force: true });
      return true;
    },
  },
  remove_all_except: {
    group,
    params: ["folder", "keep_file"],
    returns: "boolean",
    summary: "Empties a folder except for one file",
    failure: false,
    run: ([folder, keep], context: FunctionContext) => {
      const root = pathOf(folder, context);
      const kept = basename(textOf(keep));
      if (kept === "" || kept === ".." || !existsSync(join(root, kept)))
        throw new Error("the file to keep is not in the folder");
      for (const entry of readdirSync(root))
        if (entry !== kept) rmSync(join(root, entry), { recursive: true });
      return true;
    },
  },
  move_file: {
    group,
    params: ["source", "dest"],
    returns: "boolean",
    summary: "Moves a file or folder to dest, or into dest if it is a folder",
    failure: false,
    run: ([source, dest], context: FunctionContext) => {
      move(entryOf(source, context), outputOf(dest, context));
      return true;
    },
  },
  glob: {
    group,
    params: ["pattern"],
    returns: "string[]",
    summary: `The paths that match a pattern with *, ?, [a-z], {a,b} and **, sorted, at most ${GLOB_MAX}`,
    example: 'glob("reports/**/*.json")',
    failure: [],
    unreachableIsMissing: true,
    run: ([pattern], context: FunctionContext) => matches(textOf(pattern), context),
  },
} satisfies Record<string, LibraryFunction>;
