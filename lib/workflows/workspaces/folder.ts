import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { chmod, lstat, mkdir, opendir, readlink, rename, rm, rmdir, symlink, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Entry } from "./layers.ts";

/** Maximum number of shared entries of a workspace. */
const ENTRIES_MAX = 200_000;
/** Only the executable bit is transferred; the owner can always read and write the file. */
const EXECUTABLE = 0o100;
const PLAIN_MODE = 0o644;
const EXECUTABLE_MODE = 0o755;

/** Files during a transfer; those of a dead process are ignored. */
const TEMPORARY = /^\.weft-[0-9a-f]{16}$/;
const temporaryName = (path: string): string =>
  `.weft-${createHash("sha256").update(path).digest("hex").slice(0, 16)}`;

/** An entry of the folder, from its metadata only. */
export type ScannedEntry =
  | { readonly kind: "file"; readonly bytes: number; readonly mtimeMs: number; readonly mode: number }
  | { readonly kind: "link"; readonly link: string }
  | { readonly kind: "folder" };

/**
 * Returns all entries of a folder by path, without reading files; folders only if they are empty. Skips special files.
 */
export async function scanFolder(root: string): Promise<Map<string, ScannedEntry>> {
  const found = new Map<string, ScannedEntry>();
  const walk = async (below: string): Promise<void> => {
    let empty = true;
    for await (const entry of await opendir(join(root, below))) {
      if (TEMPORARY.test(entry.name)) continue;
      empty = false;
      const path = below === "" ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) await walk(path);
      else {
        const seen = await scanEntry(join(root, path));
        if (seen !== undefined) found.set(path, seen);
      }
      if (found.size > ENTRIES_MAX) throw new TooManyEntriesError();
    }
    if (empty && below !== "") found.set(below, { kind: "folder" });
  };
  await walk("");
  return found;
}

/** The workspace has more entries than can be shared. */
export class TooManyEntriesError extends Error {
  constructor() {
    super(`the workspace has more than ${ENTRIES_MAX} files`);
    this.name = "TooManyEntriesError";
  }
}

/** Undefined if nothing exists there, or if it is neither a file, nor a link, nor a folder. */
export async function scanEntry(path: string): Promise<ScannedEntry | undefined> {
  const info = await lstat(path).catch(absent);
  if (info?.isSymbolicLink() === true) return { kind: "link", link: await readlink(path) };
  if (info?.isDirectory() === true) return { kind: "folder" };
  if (info?.isFile() !== true) return undefined;
  const mode = (info.mode & EXECUTABLE) === 0 ? PLAIN_MODE : EXECUTABLE_MODE;
  return { kind: "file", bytes: info.size, mtimeMs: info.mtimeMs, mode };
}

export function isSameScan(one: ScannedEntry | undefined, other: ScannedEntry | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  if (one.kind === "file")
    return (
      other.kind === "file" &&
      one.bytes === other.bytes &&
      one.mtimeMs === other.mtimeMs &&
      one.mode === other.mode
    );
  return one.kind === "link" ? other.kind === "link" && one.link === other.link : other.kind === "folder";
}

export async function hashOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}

/**
 * Deletes the file, link or empty folder at a path below the root, and the parent folders that are empty afterwards.
 */
export async function removeEntry(root: string, path: string): Promise<void> {
  if (!(await leadsInside(root, path))) return;
  const seen = await scanEntry(join(root, path));
  if (seen === undefined || seen.kind === "folder") await removeEmpty(root, path);
  else {
    await rm(join(root, path), { force: true });
    await removeEmpty(root, dirname(path));
  }
}

async function removeEmpty(root: string, path: string): Promise<void> {
  for (let folder = path; folder !== "."; folder = dirname(folder)) {
    try {
      await rmdir(join(root, folder));
    } catch (error) {
      if ((error as { code?: unknown }).code !== "ENOENT") return;
    }
  }
}

/**
 * Writes an entry at a path below the root, replacing the existing one. `content` returns a file's bytes. Throws if
 * they do not match the entry's hash; then nothing changes.
 */
export async function writeEntry(
  root: string,
  path: string,
  entry: Entry,
  content: (sha256: string) => Promise<AsyncIterable<Uint8Array>>,
): Promise<void> {
  const target = join(root, path);
  if (!(await leadsInside(root, path))) await clearWay(root, path);
  await mkdir(dirname(target), { recursive: true });
  if ("folder" in entry) {
    const there = await scanEntry(target);
    if (there !== undefined && there.kind !== "folder") await unlink(target);
    await mkdir(target, { recursive: true });
    return;
  }
  const temporary = join(dirname(target), temporaryName(path));
  await rm(temporary, { recursive: true, force: true });
  try {
    if ("link" in entry) await symlink(entry.link, temporary);
    else await writeContent(temporary, entry.sha256, entry.mode, await content(entry.sha256));
    if ((await scanEntry(target))?.kind === "folder") await rm(target, { recursive: true });
    await rename(temporary, target);
  } finally {
    await rm(temporary, { force: true });
  }
}

async function writeContent(
  path: string,
  sha256: string,
  mode: number,
  content: AsyncIterable<Uint8Array>,
): Promise<void> {
  const hash = createHash("sha256");
  const hashing = async function* (source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      hash.update(chunk);
      yield chunk;
    }
  };
  await pipeline(hashing(content), createWriteStream(path, { mode }));
  await chmod(path, mode);
  if (hash.digest("hex") !== sha256) throw new Error("a file of the workspace differs from the uploaded one");
}

/** Returns false if a folder on the path is a link or a file: links may lead anywhere. */
async function leadsInside(root: string, path: string): Promise<boolean> {
  for (const folder of foldersOf(path)) {
    const seen = await scanEntry(join(root, folder));
    if (seen !== undefined && seen.kind !== "folder") return false;
  }
  return true;
}

async function clearWay(root: string, path: string): Promise<void> {
  for (const folder of foldersOf(path)) {
    const seen = await scanEntry(join(root, folder));
    if (seen !== undefined && seen.kind !== "folder") {
      await unlink(join(root, folder));
      return;
    }
  }
}

function* foldersOf(path: string): Generator<string> {
  for (let end = path.indexOf("/"); end >= 0; end = path.indexOf("/", end + 1)) yield path.slice(0, end);
}

function absent(error: unknown): undefined {
  const { code } = error as { code?: unknown };
  if (code === "ENOENT" || code === "ENOTDIR") return undefined;
  throw error;
}
