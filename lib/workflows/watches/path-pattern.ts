import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { matchesGlob } from "../../events/topic-match.ts";

/** Maximum folder depth below the base folder of a pattern. */
const DEPTH_MAX = 16;
const GLOB = /[*?]/;
const ANY_FOLDERS = "**";

/** The files that a watch trigger matches. */
export interface WatchPattern {
  /** The folder, or the single file, that contains all of them; absolute. */
  readonly base: string;
  /** Whether a file, given by its absolute path, matches. */
  matches(path: string): boolean;
  /** Whether a folder may contain matching files, or leads to one that may. */
  leadsOn(folder: string): boolean;
}

/**
 * Parses a watch trigger's path: a file, a folder (every file below it), or a glob in which `*` and `?` match
 * characters of one name and `**` matches any folders. Relative paths start at the workspaces. Matching takes at most
 * pattern length times path length steps. Throws an `Error` for a path outside of `roots`.
 */
export async function readPattern(
  path: string,
  workspacesDir: string,
  roots: readonly string[],
): Promise<WatchPattern> {
  const fixed = fixedPart(path, workspacesDir);
  const base = await realPlace(fixed.base);
  const allowed = await Promise.all([workspacesDir, ...roots].map((root) => realPlace(resolve(root))));
  if (!allowed.some((root) => isWithin(base, root))) {
    throw new Error(
      `the path ${path.slice(0, 200)} is outside of the workspaces and of WATCH_ROOTS, so the trigger never fires`,
    );
  }
  const glob = fixed.glob ?? [ANY_FOLDERS];
  const letters = glob.map((part) => [...part]);
  return {
    base,
    matches: (file) => {
      if (!isWithin(file, base)) return false;
      if (file === base) return fixed.glob === undefined;
      return matchesParts(letters, relative(base, file).split(sep));
    },
    leadsOn: (folder) =>
      isWithin(base, folder) ||
      (isWithin(folder, base) && relative(base, folder).split(sep).length <= DEPTH_MAX),
  };
}

/** Splits a path before its first name with `*` or `?`: the fixed part, and the remaining names. */
export function fixedPart(
  path: string,
  workspacesDir: string,
): { readonly base: string; readonly glob?: readonly string[] } {
  const parts = resolve(workspacesDir, path).split(sep);
  const first = parts.findIndex((part) => GLOB.test(part));
  const base = (first < 0 ? parts : parts.slice(0, first)).join(sep) || sep;
  return first < 0 ? { base } : { base, glob: parts.slice(first) };
}

/** Returns the folder itself, or its nearest existing ancestor. */
export function nearestFolder(folder: string): string {
  let nearest = folder;
  while (!existsSync(nearest) && dirname(nearest) !== nearest) nearest = dirname(nearest);
  return nearest;
}

/** Resolves links in the existing part of a path. */
async function realPlace(path: string): Promise<string> {
  const there = nearestFolder(path);
  return join(await realpath(there), relative(there, path));
}

/** Whether a path is the folder or inside it. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** Matches names against a glob: `**` matches any number of names, and only the last one is backtracked. */
function matchesParts(glob: readonly (readonly string[])[], names: readonly string[]): boolean {
  let at = 0;
  let star = -1;
  let starName = 0;
  let position = 0;
  while (position < names.length) {
    const wanted = glob[at];
    if (wanted !== undefined && wanted.join("") === ANY_FOLDERS) {
      star = at;
      starName = position;
      at += 1;
    } else if (wanted !== undefined && matchesGlob(wanted, [...(names[position] ?? "")])) {
      at += 1;
      position += 1;
    } else if (star >= 0) {
      starName += 1;
      position = starName;
      at = star + 1;
    } else {
      return false;
    }
  }
  while (glob[at]?.join("") === ANY_FOLDERS) at += 1;
  return at === glob.length;
}
