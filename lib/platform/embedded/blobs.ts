import { randomUUID } from "node:crypto";
import { constants, createReadStream, createWriteStream } from "node:fs";
import {
  copyFile,
  type FileHandle,
  link,
  mkdir,
  open,
  readdir,
  rename,
  rm,
  rmdir,
  stat,
  unlink,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { type Blobs, UPLOADS_DAYS, UPLOADS_PREFIX, type UploadReceiver } from "../blobs.ts";
import { type Clock, systemClock } from "../clock.ts";
import { PlatformFault } from "../faults.ts";
import { exceedsLimit } from "../high-water-marks.ts";
import { limitFault } from "../limits.ts";
import { embeddedUploads, type StoreNew } from "./blob-uploads.ts";
import { toStorageFault } from "./storage-faults.ts";

const PART = /^[A-Za-z0-9._-]{1,200}$/;
/** Suffix of blob files. It cannot occur in a key, so `a` and `a/b` can both exist. */
const FILE_END = "~";
const CHUNK_BYTES = 64 * 1024;
/** Bytes of a stream that are collected while others are written, so that many chunks take few writes. */
const WRITE_AHEAD_BYTES = 1024 * 1024;
const TRIES = 5;
const DAY_MS = 24 * 60 * 60_000;

function checkKey(key: string): readonly string[] {
  if (exceedsLimit("blobKeyBytes", key))
    throw limitFault("blobKeyBytes", "the blob's key", Buffer.byteLength(key));
  const parts = key.split("/");
  if (parts.some((part) => !PART.test(part) || part === "." || part === "..")) {
    throw new TypeError(`"${key}" is not a valid blob key`);
  }
  return parts;
}

const codeOf = (error: unknown): unknown =>
  error instanceof Error && "code" in error ? error.code : undefined;

function isMissing(error: unknown): boolean {
  const code = codeOf(error);
  return code === "ENOENT" || code === "ENOTDIR";
}

async function ifThere<Result>(reading: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await reading();
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw toStorageFault(error);
  }
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Creates the folders between `root` and `path`, and syncs each of them. */
async function makeFolders(root: string, path: string): Promise<void> {
  const made = await mkdir(path, { recursive: true, mode: 0o700 });
  if (made === undefined) return;
  for (let folder = path; folder.length > root.length; folder = dirname(folder)) await sync(dirname(folder));
}

async function* chunks(
  path: string,
  range: { readonly start: number; readonly end: number } | undefined,
): AsyncGenerator<Uint8Array> {
  // The end of a stream's range is inclusive.
  const part = range === undefined ? {} : { start: range.start, end: range.end - 1 };
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES, ...part }))
      yield chunk as Uint8Array;
  } catch (error) {
    throw toStorageFault(error);
  }
}

/** Keys below a folder in byte order, read one folder at a time. */
async function* keysUnder(
  folder: string,
  start: string,
  wanted: (start: string) => boolean,
): AsyncGenerator<string> {
  const entries = await ifThere(() => readdir(folder, { withFileTypes: true }));
  const names = (entries ?? []).flatMap((entry) => {
    if (entry.isDirectory()) return [`${entry.name}/`];
    return entry.name.endsWith(FILE_END) ? [entry.name.slice(0, -FILE_END.length)] : [];
  });
  for (const name of names.sort()) {
    const key = start + name;
    if (!wanted(key)) continue;
    if (name.endsWith("/")) yield* keysUnder(join(folder, name), key, wanted);
    else yield key;
  }
}

/** Whether a key has a prefix, or a folder may contain such keys. */
const below =
  (prefix: string) =>
  (key: string): boolean =>
    key.startsWith(prefix) || (key.endsWith("/") && prefix.startsWith(key));

/** Moves a file to a path that does not exist. */
async function placed(temporary: string, path: string): Promise<void> {
  await link(temporary, path);
  await unlink(temporary);
}

/**
 * The blobs port over files. A blob is written to a temporary file, synced and renamed, so a reader sees either the old
 * content or the new content. `observe` receives every write error of the storage. Throws TypeError for keys whose
 * parts do not match `[A-Za-z0-9._-]`.
 */
export async function openBlobs(
  dataDir: string,
  clock: Pick<Clock, "now"> = systemClock,
  observe: (fault: PlatformFault) => void = () => {},
): Promise<Blobs & { readonly receiver: UploadReceiver }> {
  const root = join(dataDir, "blobs");
  const unfinished = join(dataDir, "blobs-unfinished");
  try {
    await rm(unfinished, { recursive: true, force: true });
    await mkdir(unfinished, { recursive: true, mode: 0o700 });
    await mkdir(root, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw toStorageFault(error);
  }
  const pathOf = (key: string): string => join(root, ...checkKey(key)) + FILE_END;

  /** False if the blob exists and must not be replaced. */
  const store = async (
    key: string,
    write: (path: string) => Promise<void>,
    into: (temporary: string, path: string) => Promise<void> = rename,
  ): Promise<boolean> => {
    const path = pathOf(key);
    const temporary = join(unfinished, randomUUID());
    try {
      await write(temporary);
      for (let tries = 1; ; tries += 1) {
        await makeFolders(root, dirname(path));
        try {
          await into(temporary, path);
          break;
        } catch (error) {
          // A delete removed the empty folder in between.
          if (!isMissing(error) || tries === TRIES) throw error;
        }
      }
      await sync(dirname(path));
      return true;
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => undefined);
      if (into === placed && codeOf(error) === "EEXIST") return false;
      const fault = toStorageFault(error);
      if (fault instanceof PlatformFault) observe(fault);
      throw fault;
    }
  };

  const written = async (path: string, write: (file: FileHandle) => Promise<unknown>): Promise<void> => {
    const handle = await open(path, "wx", 0o600);
    try {
      await write(handle);
      await handle.sync();
    } finally {
      await handle.close();
    }
  };
  const storeNew: StoreNew = (key, write) => store(key, (path) => written(path, write), placed);

  const remove = async (key: string): Promise<void> => {
    const path = pathOf(key);
    await ifThere(() => unlink(path));
    for (let folder = dirname(path); folder.length > root.length; folder = dirname(folder)) {
      try {
        await rmdir(folder);
      } catch {
        return; // Not empty.
      }
    }
  };

  const keyPath = join(dataDir, "upload-key");
  const { uploadTo, receiver } = embeddedUploads({ keyPath, clock, storeNew });
  return {
    receiver,
    uploadTo: async (key, allowed) => {
      checkKey(key);
      return uploadTo(key, allowed);
    },
    forgetUploads: async () => {
      for await (const key of keysUnder(root, "", below(UPLOADS_PREFIX))) {
        const found = await ifThere(() => stat(pathOf(key)));
        if (found !== undefined && found.mtimeMs < clock.now() - UPLOADS_DAYS * DAY_MS) await remove(key);
      }
    },
    put: async (key, data) => {
      await store(key, (path) => written(path, (file) => file.writeFile(data)));
    },
    putStream: async (key, source) => {
      let bytes = 0;
      await store(key, async (path) => {
        const file = createWriteStream(path, {
          flags: "wx",
          mode: 0o600,
          flush: true,
          highWaterMark: WRITE_AHEAD_BYTES,
        });
        await pipeline(source, file);
        bytes = file.bytesWritten;
      });
      return bytes;
    },
    putFile: async (key, source) => {
      await store(key, async (path) => {
        await copyFile(source, path, constants.COPYFILE_FICLONE);
        const handle = await open(path, "r+");
        try {
          await handle.chmod(0o600);
          await handle.sync();
        } finally {
          await handle.close();
        }
      });
    },
    get: (key, range) =>
      ifThere(async () => {
        const handle = await open(pathOf(key));
        try {
          if (range === undefined) return new Uint8Array(await handle.readFile());
          const { size } = await handle.stat();
          const start = Math.min(range.start, size);
          const buffer = new Uint8Array(Math.max(0, Math.min(range.end, size) - start));
          const { bytesRead } = await handle.read(buffer, 0, buffer.length, start);
          return buffer.subarray(0, bytesRead);
        } finally {
          await handle.close();
        }
      }),
    stream: (key, range) =>
      ifThere(async () => {
        const path = pathOf(key);
        await stat(path);
        return chunks(path, range);
      }),
    head: (key) =>
      ifThere(async () => {
        const { size, mtimeMs } = await stat(pathOf(key));
        return { bytes: size, modifiedAt: Math.floor(mtimeMs) };
      }),
    delete: async (keys) => {
      for (const key of keys) await remove(key);
    },
    list: async (prefix, { limit = Number.POSITIVE_INFINITY, after = "" } = {}) => {
      const keys: string[] = [];
      // Only folders that can contain keys with the prefix and after `after` are read.
      const isBelow = below(prefix);
      const wanted = (key: string): boolean =>
        isBelow(key) && (key > after || (key.endsWith("/") && after.startsWith(key)));
      for await (const key of keysUnder(root, "", wanted)) {
        if (keys.length >= limit) break;
        keys.push(key);
      }
      return keys;
    },
  };
}
