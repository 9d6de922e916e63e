import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Entry as ZipEntry } from "yauzl";
import { ApiError } from "../../errors.ts";
import { isInsidePath } from "../artifacts/paths.ts";
import {
  SNAPSHOT_CONTENT_MAX_BYTES,
  SNAPSHOT_ENTRIES_MAX,
  SNAPSHOT_RATIO_FROM_BYTES,
  SNAPSHOT_RATIO_MAX,
} from "./limits.ts";

/** A file that came out of a snapshot. */
export interface Unpacked {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

const TYPE_BITS = 0o170000;
const REGULAR_FILE = 0o100000;
const FOLDER = 0o040000;

/**
 * Unpacks a zip into a folder that is empty. Nothing is written outside of it, whatever its entries are called, and
 * not more than a snapshot may hold, whatever they say of themselves. Throws `bad_request`, `payload_too_large`.
 */
export async function unpack(file: string, folder: string): Promise<Unpacked[]> {
  try {
    return await unpackEntries(file, folder);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    // Faults of the disk are ours, all others the archive's.
    if (typeof (error as { code?: unknown }).code === "string" && !isZlib(error)) throw error;
    const reason = error instanceof Error ? error.message : "it cannot be read";
    throw new ApiError("bad_request", `snapshot: must be a zip archive: ${reason.slice(0, 200)}`, {
      cause: error,
    });
  }
}

const isZlib = (error: unknown): boolean => String((error as { code?: unknown }).code).startsWith("Z_");

async function unpackEntries(file: string, folder: string): Promise<Unpacked[]> {
  const { openPromise } = await import("yauzl");
  const zip = await openPromise(file, {
    lazyEntries: true,
    autoClose: false,
    strictFileNames: true,
    validateEntrySizes: true,
  });
  try {
    if (zip.entryCount > SNAPSHOT_ENTRIES_MAX) throw tooLarge();
    const files: Unpacked[] = [];
    const names = new Set<string>();
    let left = SNAPSHOT_CONTENT_MAX_BYTES;
    for await (const entry of zip.eachEntry()) {
      const path = entry.fileName;
      if (names.size >= SNAPSHOT_ENTRIES_MAX) throw tooLarge();
      if (path.endsWith("/")) {
        if (!isInsidePath(path.slice(0, -1))) throw refused(path);
        continue;
      }
      checkEntry(entry, left);
      // What differs in capitals alone is one file to some systems.
      const name = path.normalize("NFC").toLowerCase();
      if (names.has(name)) throw new ApiError("bad_request", `snapshot: ${shown(path)} is there twice`);
      names.add(name);
      const target = join(folder, path);
      await mkdir(dirname(target), { recursive: true });
      const hash = createHash("sha256");
      let bytes = 0;
      const measured = new Transform({
        transform: (chunk: Buffer, _encoding, done) => {
          bytes += chunk.length;
          hash.update(chunk);
          done(bytes > left ? tooLarge() : null, chunk);
        },
      });
      await pipeline(
        await zip.openReadStreamPromise(entry),
        measured,
        createWriteStream(target, { flags: "wx" }),
      );
      left -= bytes;
      files.push({ path, bytes, sha256: hash.digest("hex") });
    }
    return files;
  } finally {
    zip.close();
  }
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
  new ApiError("payload_too_large", "snapshot: holds more than a snapshot may");
