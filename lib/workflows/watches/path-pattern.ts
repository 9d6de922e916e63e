import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { matchesGlob } from "../../events/topic-match.ts";

/** Folders inside each other below the folder that a pattern begins with. */
const DEPTH_MAX = 16;
const GLOB = /[*?]/;
const ANY_FOLDERS = "**";

/** Which files a watch trigger means. */
export interface WatchPattern {
  /** The folder, or the one file, that all of them lie in: absolute. */
  readonly base: string;
  /** Whether a file, by its absolute path, is one of them. */
  matches(path: string): boolean;
  /** Whether a folder may hold some of them, or leads to one that may. */
  leadsOn(folder: string): boolean;
}

/**
 * Reads a watch trigger's path: a file, a folder (every file below it), or a glob in which `*` and `?` stand for
 * characters of one name and `**` for any folders. What is not absolute begins at the workspaces. Matching takes
 * steps at most as many as pattern times path, whatever the stars. Throws an `Error` for a path outside of `roots`.
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
      `the path ${path.slice(0, 200)} is outside of the workspaces and of WATCH_ROOTS: nothing fires this trigger`,
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

/** The part of a path before its first name with a star or a question mark, and the names from there on. */
export function fixedPart(
  path: string,
  workspacesDir: string,
): { readonly base: string; readonly glob?: readonly string[] } {
  const parts = resolve(workspacesDir, path).split(sep);
  const first = parts.findIndex((part) => GLOB.test(part));
  const base = (first < 0 ? parts : parts.slice(0, first)).join(sep) || sep;
  return first < 0 ? { base } : { base, glob: parts.slice(first) };
}

/** The folder itself, or the nearest one above it that is there. */
export function nearestFolder(folder: string): string {
  let nearest = folder;
  while (!existsSync(nearest) && dirname(nearest) !== nearest) nearest = dirname(nearest);
  return nearest;
}

/** Where a path leads, links followed as far as it is there. */
async function realPlace(path: string): Promise<string> {
  const there = nearestFolder(path);
  return join(await realpath(there), relative(there, path));
}

/** Whether a path is a folder's, or the folder itself. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** Names against names: `**` is any number of them, and only the last one is ever tried again. */
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
