/** Zip files, read and written as streams. */
import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { lstat, mkdir, opendir, rename, rm } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import * as z from "zod";
import { Budget, ENTRIES_MAX, memberPath, RATIO_FREE_BYTES, RATIO_MAX } from "./archive-limits.ts";
import type { Task } from "./library-types.ts";

const paths = z.object({ source: z.string(), dest: z.string() });

/** The file type bits of a member's Unix mode, and the type of a link. */
const KIND_BITS = 0o170000;
const LINK = 0o120000;
const DEPTH_MAX = 64;

async function* filesIn(root: string, depth = 0): AsyncGenerator<string> {
  if (depth > DEPTH_MAX) throw new Error(`folders are nested more than ${DEPTH_MAX} levels deep`);
  for await (const entry of await opendir(root)) {
    const path = join(root, entry.name);
    if (entry.isDirectory()) yield* filesIn(path, depth + 1);
    // A link may lead out of the folder, so only regular files are packed.
    else if (entry.isFile()) yield path;
  }
}

/** Packs a file or a folder's content into a zip file, which is written atomically. */
export const zip: Task = async (input, signal) => {
  const { source, dest } = paths.parse(input);
  const { ZipFile } = await import("yazl");
  const draft = join(dirname(dest), `.${randomUUID()}.zip.part`);
  const file = new ZipFile();
  const written = pipeline(file.outputStream, createWriteStream(draft, { flags: "wx" }), { signal });
  written.catch(() => undefined);
  try {
    if ((await lstat(source)).isFile()) file.addFile(source, basename(source));
    else {
      let count = 0;
      for await (const path of filesIn(source)) {
        if (path === draft || path === dest) continue;
        count += 1;
        if (count > ENTRIES_MAX) throw new Error(`more than ${ENTRIES_MAX} files`);
        file.addFile(path, relative(source, path));
      }
    }
    const failed = new Promise<never>((_, reject) => file.on("error", reject));
    file.end();
    await Promise.race([written, failed]);
    await rename(draft, dest);
    return true;
  } catch (error) {
    (file.outputStream as unknown as { destroy(): void }).destroy();
    await written.catch(() => undefined);
    await rm(draft, { force: true });
    throw error;
  }
};

/**
 * Unpacks a zip file into a folder, which may be emptied first. Writes nothing outside the folder, creates no links
 * and enforces limits.
 */
export const unzip: Task = async (input, signal) => {
  const { source, dest, empty } = paths.extend({ empty: z.boolean() }).parse(input);
  const { openPromise } = await import("yauzl");
  const archive = await openPromise(source, { strictFileNames: true });
  try {
    if (empty) await rm(dest, { recursive: true, force: true });
    if (archive.entryCount > ENTRIES_MAX) throw new Error(`the archive has more than ${ENTRIES_MAX} members`);
    const budget = new Budget();
    const made = new Set<string>();
    for await (const entry of archive.eachEntry()) {
      signal.throwIfAborted();
      const steps = memberPath(entry.fileName);
      budget.entry(0);
      const folder = join(dest, ...(entry.fileName.endsWith("/") ? steps : steps.slice(0, -1)));
      if (!made.has(folder)) await makeFolder(dest, folder);
      made.add(folder);
      if (entry.fileName.endsWith("/")) continue;
      if (((entry.externalFileAttributes >>> 16) & KIND_BITS) === LINK)
        throw new Error(`the archive contains a link: ${entry.fileName.slice(0, 200)}`);
      if (entry.isEncrypted()) throw new Error("the archive is encrypted");
      if (
        entry.uncompressedSize > RATIO_FREE_BYTES &&
        entry.uncompressedSize > entry.compressedSize * RATIO_MAX
      )
        throw new Error(`a member unpacks to more than ${RATIO_MAX} times its size`);
      const path = join(dest, ...steps);
      await rm(path, { force: true });
      const content = await archive.openReadStreamPromise(entry);
      await pipeline(content, counted(budget), createWriteStream(path, { flags: "wx" }), { signal });
    }
    return true;
  } finally {
    archive.close();
  }
};

function counted(budget: Budget): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      try {
        budget.add(chunk.length);
        done(null, chunk);
      } catch (error) {
        done(error as Error);
      }
    },
  });
}

/** Creates the folder and its parents. Throws if one of them is a link or a file. */
async function makeFolder(root: string, folder: string): Promise<void> {
  await mkdir(root, { recursive: true });
  let path = root;
  for (const step of relative(root, folder)
    .split("/")
    .filter((one) => one !== "")) {
    path = join(path, step);
    await mkdir(path).catch(async (error: { code?: unknown }) => {
      if (error.code !== "EEXIST" || !(await lstat(path)).isDirectory())
        throw new Error(`${basename(path)} already exists`);
    });
  }
}
