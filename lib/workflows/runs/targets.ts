import { readFile, realpath, stat } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve, sep } from "node:path";
import { ApiError } from "../../errors.ts";
import type { StepPaths } from "../steps/context.ts";

/** Maximum number of runs that one request starts. */
export const TARGETS_MAX = 1_000;
/** Longest target of a run, characters. */
export const TARGET_MAX_LENGTH = 4096;
/** Largest target file, bytes. */
const FILE_MAX_BYTES = 8 * 1024 * 1024;

export interface TargetRequest {
  readonly target?: string | undefined;
  readonly targets?: readonly string[] | undefined;
  readonly target_file?: string | undefined;
}

/**
 * Returns all targets of a request, trimmed, without duplicates, in order. Blank lines of a file and lines that begin
 * with `#` are ignored. Throws `bad_request`. Reference 1.4.
 */
export async function allTargets(
  deps: { readonly paths: Pick<StepPaths, "workspacesDir"> },
  { target, targets = [], target_file }: TargetRequest,
): Promise<string[]> {
  const named = [...(target === undefined ? [] : [target]), ...targets];
  const lines =
    target_file === undefined || target_file.trim() === ""
      ? []
      : (await readTargets(deps.paths.workspacesDir, target_file.trim()))
          .split("\n")
          .filter((line) => !line.trimStart().startsWith("#"));
  const unique = [...new Set([...named, ...lines].map((text) => text.trim()).filter((text) => text !== ""))];
  if (unique.length > TARGETS_MAX)
    throw new ApiError(
      "bad_request",
      `targets: must have at most ${TARGETS_MAX} entries, not ${unique.length}; use a foreach for more`,
    );
  const long = unique.findIndex((text) => text.length > TARGET_MAX_LENGTH);
  if (long >= 0)
    throw new ApiError("bad_request", `targets: each must have at most ${TARGET_MAX_LENGTH} characters`);
  return unique;
}

const NO_FILE = "target_file: must be an existing file in a workspace or in uploads";

async function readTargets(workspacesDir: string, named: string): Promise<string> {
  const text = await readOwnFile(workspacesDir, named);
  if (text === undefined) throw new ApiError("bad_request", NO_FILE);
  if (text === "too large")
    throw new ApiError("bad_request", `target_file: larger than ${FILE_MAX_BYTES} bytes`);
  return text.content;
}

/**
 * Reads a file that a caller names. Relative paths start at the folder of all workspaces or at `uploads/`. Files
 * outside of both are refused, also when reached through links.
 */
export async function readOwnFile(
  workspacesDir: string,
  named: string,
): Promise<{ readonly content: string } | "too large" | undefined> {
  const uploads = join(dirname(workspacesDir), "uploads");
  if (named.includes("\0")) return undefined;
  const path = isAbsolute(named)
    ? named
    : resolve(named.startsWith("uploads/") ? dirname(uploads) : workspacesDir, named);
  const real = await realpath(path).catch(() => undefined);
  const roots = await Promise.all([workspacesDir, uploads].map((root) => realpath(root).catch(() => root)));
  if (real === undefined || !roots.some((root) => real.startsWith(root + sep))) return undefined;
  // Only regular files are opened: opening a pipe could block forever.
  const info = await stat(real).catch(() => undefined);
  if (info === undefined || !info.isFile()) return undefined;
  if (info.size > FILE_MAX_BYTES) return "too large";
  return { content: await readFile(real, "utf8") };
}
