import { crc32 } from "node:zlib";
import { type Entry, fromBufferPromise, openPromise, type ZipFile } from "yauzl";

/** Limits on the content of an archive, in bytes where nothing else is said. */
export interface ZipLimits {
  readonly entriesMax: number;
  readonly entryMaxBytes: number;
  readonly totalMaxBytes: number;
}

/** The archive is invalid or exceeds a limit. The message can be shown to users. */
export class ArchiveError extends Error {}

/** A file in an archive. */
export interface ZipMember {
  /** The segments of its path: not empty, and none leads upwards. */
  readonly path: readonly string[];
  readonly bytes: number;
  /** Throws ArchiveError if the content is not what the archive declares. */
  read(): Promise<Buffer>;
}

export interface ZipReader {
  readonly members: readonly ZipMember[];
  /** Names of entries that are neither files nor folders of the archive, such as links and paths that lead out of it. */
  readonly refused: readonly string[];
  close(): void;
}

const MIB = 1024 * 1024;
/** Maximum compression ratio of an entry that unpacks to more than this. */
const RATIO_MAX = 200;
const RATIO_FREE_BYTES = 4 * MIB;
const PATH_MAX = 4_096;
const NAME_SHOWN_MAX = 200;
const TYPE_BITS = 0o170000;
const REGULAR_FILE = 0o100000;
const UTF8_FLAG = 1 << 11;

/**
 * Opens a zip archive in memory or in a file. Nothing is unpacked before all declared sizes fit the limits, and reading
 * fails for an entry whose content is larger than declared. Nested archives are not opened. Throws ArchiveError.
 */
export async function openZip(
  source: Buffer | { readonly path: string },
  limits: ZipLimits,
): Promise<ZipReader> {
  const options = {
    lazyEntries: true,
    autoClose: false,
    decodeStrings: false,
    validateEntrySizes: true,
  } as const;
  const zip = await (Buffer.isBuffer(source)
    ? fromBufferPromise(source, options)
    : openPromise(source.path, options)
  ).catch((error: unknown) => {
    throw invalid(error);
  });
  try {
    return { ...(await readMembers(zip, limits)), close: () => zip.close() };
  } catch (error) {
    zip.close();
    throw error instanceof ArchiveError ? error : invalid(error);
  }
}

async function readMembers(zip: ZipFile, limits: ZipLimits): Promise<Omit<ZipReader, "close">> {
  if (zip.entryCount > limits.entriesMax) throw tooMany(limits);
  const members: ZipMember[] = [];
  const refused: string[] = [];
  const names = new Set<string>();
  let total = 0;
  let entries = 0;
  for await (const entry of zip.eachEntry()) {
    entries += 1;
    if (entries > limits.entriesMax) throw tooMany(limits);
    const name = nameOf(entry);
    if (name.endsWith("/")) continue;
    const path = pathOf(name);
    const type = (entry.externalFileAttributes >>> 16) & TYPE_BITS;
    const key = path?.join("/").normalize("NFC") ?? "";
    if (path === undefined || (type !== 0 && type !== REGULAR_FILE) || names.has(key)) {
      refused.push(name.slice(0, NAME_SHOWN_MAX));
      continue;
    }
    names.add(key);
    if (entry.isEncrypted()) throw new ArchiveError("The archive is encrypted.");
    const { uncompressedSize: bytes, compressedSize } = entry;
    total += bytes;
    const isBomb = bytes > RATIO_FREE_BYTES && bytes > compressedSize * RATIO_MAX;
    if (bytes > limits.entryMaxBytes || total > limits.totalMaxBytes || isBomb)
      throw new ArchiveError("The archive unpacks to more than is allowed.");
    members.push({ path, bytes, read: () => readEntry(zip, entry) });
  }
  return { members, refused };
}

async function readEntry(zip: ZipFile, entry: Entry): Promise<Buffer> {
  const chunks: Buffer[] = [];
  try {
    // Fails if the size differs from the declared one.
    for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk as Buffer);
  } catch (error) {
    throw invalid(error);
  }
  const content = Buffer.concat(chunks);
  if (crc32(content) !== entry.crc32) throw new ArchiveError("The archive is damaged.");
  return content;
}

/** Names are UTF-8; those of old programs without the flag are read as Latin-1 if they are not. */
function nameOf({ fileName, generalPurposeBitFlag }: Entry): string {
  const bytes = fileName as unknown as Buffer;
  const text = bytes.toString("utf8");
  const isUtf8 = (generalPurposeBitFlag & UTF8_FLAG) !== 0 || !text.includes("\ufffd");
  return (isUtf8 ? text : bytes.toString("latin1")).replaceAll("\\", "/");
}

/** The segments of a path; undefined if it is too long, absolute, or leads out of the archive. */
function pathOf(name: string): string[] | undefined {
  const segments = name.split("/").filter((segment) => segment !== "" && segment !== ".");
  const isOutside = name.startsWith("/") || /^[a-z]:/i.test(name) || segments.includes("..");
  const isInvalid = name.length > PATH_MAX || /\p{Cc}/u.test(name) || segments.length === 0;
  return isOutside || isInvalid ? undefined : segments;
}

const tooMany = ({ entriesMax }: ZipLimits): ArchiveError =>
  new ArchiveError(`The archive has more than ${entriesMax} entries.`);

const invalid = (error: unknown): ArchiveError =>
  new ArchiveError("The archive is damaged or not a zip archive.", { cause: error });
