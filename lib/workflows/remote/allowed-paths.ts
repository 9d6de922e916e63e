import { realpath } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";

/**
 * Where a path leads when its symbolic links are followed, as far as it is there, if that is one of the roots or
 * below one; else undefined. The roots' own links are followed too.
 */
export async function allowedPath(path: string, roots: readonly string[]): Promise<string | undefined> {
  const real = await realPath(resolve(path));
  for (const root of roots) {
    const base = await realPath(resolve(root));
    if (real === base || real.startsWith(base.endsWith(sep) ? base : base + sep)) return real;
  }
  return undefined;
}

/** What is not there yet will lie below what is. */
async function realPath(path: string): Promise<string> {
  for (let there = path; ; there = dirname(there)) {
    try {
      return join(await realpath(there), relative(there, path));
    } catch (error) {
      const { code } = error as { code?: unknown };
      // A link that leads nowhere is made to lead somewhere by who writes to it: it is no path that can be judged.
      if (code !== "ENOENT" && code !== "ENOTDIR") throw error;
      if (dirname(there) === there) return path;
    }
  }
}
