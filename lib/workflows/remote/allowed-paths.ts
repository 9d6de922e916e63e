import { realpath } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";

/**
 * Resolves the symbolic links of a path, as far as it exists, and of the roots. Returns the real path if it is one of
 * the roots or below one; otherwise undefined.
 */
export async function allowedPath(path: string, roots: readonly string[]): Promise<string | undefined> {
  const real = await realPath(resolve(path));
  for (const root of roots) {
    const base = await realPath(resolve(root));
    if (real === base || real.startsWith(base.endsWith(sep) ? base : base + sep)) return real;
  }
  return undefined;
}

/** The part that does not exist yet is appended to the real path of the part that exists. */
async function realPath(path: string): Promise<string> {
  for (let there = path; ; there = dirname(there)) {
    try {
      return join(await realpath(there), relative(there, path));
    } catch (error) {
      const { code } = error as { code?: unknown };
      // The target of a dangling link is decided by whoever creates it later, so the path cannot be checked.
      if (code !== "ENOENT" && code !== "ENOTDIR") throw error;
      if (dirname(there) === there) return path;
    }
  }
}
