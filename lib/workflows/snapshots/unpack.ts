import { createHash, hash } from "node:crypto";
import { closeSync, createWriteStream, mkdirSync, openSync, readSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setImmediate } from "node:timers/promises";
import { crc32, inflateRawSync } from "node:zlib";
import type { Entry as ZipEntry, ZipFile } from "yauzl";
import { ApiError } from "../../errors.ts";
import { isInsidePath } from "../artifacts/artifact-paths.ts";
import {
  SNAPSHOT_CONTENT_MAX_BYTES,
  SNAPSHOT_ENTRIES_MAX,
  SNAPSHOT_RATIO_FROM_BYTES,
  SNAPSHOT_RATIO_MAX,
} from "./limits.ts";

/** A file unpacked from a snapshot. */
export interface UnpackedFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Number of entries unpacked concurrently, and their maximum size for it, bytes. */
const ENTRIES_AT_ONCE = 32;
const SMALL_BYTES = 64 * 1024;

const TYPE_BITS = 0o170000;
const REGULAR_FILE = 0o100000;
const FOLDER = 0o040000;

/**
 * Unpacks a zip into an empty folder. Writes nothing outside the folder, whatever names the entries have, and not more
 * than a snapshot's limits, whatever sizes they declare. `check` is called between entries; an error that it throws
 * stops the unpacking. Throws `bad_request`, `payload_too_large`.
 */
export async function unpackArchive(
  file: string,
  folder: string,
  check: () => void = () => undefined,
): Promise<UnpackedFile[]> {
  try {
    return await unpackEntries(file, folder, check);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    // File system errors are rethrown; all others are caused by the archive.
    if (typeof (error as { code?: unknown }).code === "string" && !isZlib(error)) throw error;
    const reason = error instanceof Error ? error.message : "it cannot be read";
    throw new ApiError("bad_request", `snapshot: must be a zip archive: ${reason.slice(0, 200)}`, {
      cause: error,
    });
  }
}

const isZlib = (error: unknown): boolean => String((error as { code?: unknown }).code).startsWith("Z_");

async function unpackEntries(file: string, folder: string, check: () => void): Promise<UnpackedFile[]> {
  const { openPromise } = await import("yauzl");
  const zip = await openPromise(file, {
    lazyEntries: true,
    autoClose: false,
    strictFileNames: true,
    validateEntrySizes: true,
  });
  const archive = openSync(file, "r");
  try {
    if (zip.entryCount > SNAPSHOT_ENTRIES_MAX) throw tooLarge();
    const files: UnpackedFile[] = [];
    const names = new Set<string>();
    let left = SNAPSHOT_CONTENT_MAX_BYTES;
    const folders = new Set<string>();
    const batch: ZipEntry[] = [];
    const unpackOne = (entry: ZipEntry): UnpackedFile | Promise<UnpackedFile> => {
      const target = join(folder, entry.fileName);
      const parent = dirname(target);
      if (!folders.has(parent)) {
        mkdirSync(parent, { recursive: true });
        folders.add(parent);
      }
      const small = smallContent(archive, entry);
      if (small === undefined) return unpackEntry(zip, entry, target);
      writeFileSync(target, small, { flag: "wx" });
      return { path: entry.fileName, bytes: small.length, sha256: hash("sha256", small) };
    };
    const unpackBatch = async (): Promise<void> => {
      check();
      files.push(...(await allOf(batch.splice(0), unpackOne)));
      // Yields to other work: small entries are unpacked synchronously.
      await setImmediate();
    };
    for await (const entry of zip.eachEntry()) {
      const path = entry.fileName;
      if (names.size >= SNAPSHOT_ENTRIES_MAX) throw tooLarge();
      if (path.endsWith("/")) {
        if (!isInsidePath(path.slice(0, -1))) throw refused(path);
        continue;
      }
      checkEntry(entry, left);
      // Some file systems do not distinguish upper and lower case.
      const name = path.normalize("NFC").toLowerCase();
      if (names.has(name)) throw new ApiError("bad_request", `snapshot: ${shown(path)} is duplicated`);
      names.add(name);
      left -= entry.uncompressedSize;
      batch.push(entry);
      if (batch.length >= ENTRIES_AT_ONCE) await unpackBatch();
    }
    await unpackBatch();
    return files;
  } finally {
    closeSync(archive);
    zip.close();
  }
}

/** Rejects only after all have ended, so that no write is still running. */
async function allOf<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Result | Promise<Result>,
): Promise<Result[]> {
  const results = await Promise.allSettled(items.map(async (item) => work(item)));
  return results.map((result) => {
    if (result.status === "rejected") throw result.reason;
    return result.value;
  });
}

const LOCAL_HEADER_BYTES = 30;
const LOCAL_HEADER_SIGNATURE = 0x04034b50;
/** Bytes for the extra fields of a local header, whose size the central directory does not contain. */
const EXTRA_BYTES = 256;
const STORED = 0;
const DEFLATED = 8;

/**
 * The content of a small entry, read and unpacked synchronously: streams take ten times as long. Undefined for a large
 * entry, or another compression method. Throws like yauzl if the content does not match the entry.
 */
function smallContent(archive: number, entry: ZipEntry): Buffer | undefined {
  const { compressionMethod, compressedSize, uncompressedSize, relativeOffsetOfLocalHeader: at } = entry;
  if (compressionMethod !== STORED && compressionMethod !== DEFLATED) return undefined;
  if (uncompressedSize > SMALL_BYTES || compressedSize > 2 * SMALL_BYTES) return undefined;
  const read = Buffer.allocUnsafe(LOCAL_HEADER_BYTES + entry.fileNameLength + EXTRA_BYTES + compressedSize);
  const length = readSync(archive, read, 0, read.length, at);
  if (length < LOCAL_HEADER_BYTES || read.readUInt32LE(0) !== LOCAL_HEADER_SIGNATURE)
    throw new Error("invalid local file header signature");
  const start = LOCAL_HEADER_BYTES + read.readUInt16LE(26) + read.readUInt16LE(28);
  if (start + compressedSize > length) return undefined;
  const packed = read.subarray(start, start + compressedSize);
  const content = compressionMethod === STORED ? packed : inflate(packed, uncompressedSize);
  if (content.length !== uncompressedSize) throw new Error("the size of an entry does not match its header");
  if (crc32(content) !== entry.crc32) throw new Error("the checksum of an entry does not match its header");
  return content;
}

/** Inflates one byte more than declared, to detect longer content. */
function inflate(packed: Buffer, bytes: number): Buffer {
  try {
    return inflateRawSync(packed, { maxOutputLength: bytes + 1 });
  } catch (error) {
    throw new Error("an entry cannot be unpacked, or is larger than its header declares", { cause: error });
  }
}

async function unpackEntry(zip: ZipFile, entry: ZipEntry, target: string): Promise<UnpackedFile> {
  const { fileName: path, uncompressedSize } = entry;
  const sha256 = createHash("sha256");
  let checksum = 0;
  // Fails if the size differs from the declared one.
  const content = await zip.openReadStreamPromise(entry);
  const hashed = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      sha256.update(chunk);
      checksum = crc32(chunk, checksum);
      done(null, chunk);
    },
  });
  await pipeline(content, hashed, createWriteStream(target, { flags: "wx" }));
  if (checksum !== entry.crc32) throw new Error("the checksum of an entry does not match its header");
  return { path, bytes: uncompressedSize, sha256: sha256.digest("hex") };
}

function checkEntry(entry: ZipEntry, left: number): void {
  const { fileName, uncompressedSize, compressedSize } = entry;
  const type = (entry.externalFileAttributes >>> 16) & TYPE_BITS;
  if (!isInsidePath(fileName) || (type !== 0 && type !== REGULAR_FILE && type !== FOLDER))
    throw refused(fileName);
  if (entry.isEncrypted()) throw new ApiError("bad_request", `snapshot: ${shown(fileName)} is encrypted`);
  const ratio = uncompressedSize / Math.max(1, compressedSize);
  const isBomb = uncompressedSize > SNAPSHOT_RATIO_FROM_BYTES && ratio > SNAPSHOT_RATIO_MAX;
  if (uncompressedSize > left || isBomb) throw tooLarge();
}

const shown = (path: string): string => JSON.stringify(path).slice(0, 100);
const refused = (path: string): ApiError =>
  new ApiError("bad_request", `snapshot: ${shown(path)} is not a file below a workspace`);
const tooLarge = (): ApiError =>
  new ApiError("payload_too_large", "snapshot: exceeds the limits of a snapshot");
