import { type FileHandle, open } from "node:fs/promises";
import { ApiError } from "../../errors.ts";

/** Largest part of a text in one response, bytes. */
const PART_MAX_BYTES = 1024 * 1024;
const NEWLINE = 10;

/** Which part of a text a request asks for; by default its beginning. */
export interface TextRange {
  /** Number of lines from the end. */
  readonly tail?: number | undefined;
  /** Position of the first byte. */
  readonly offset?: number | undefined;
}

/** Throws `bad_request` if both ends of a text are asked for. */
export function checkRange({ tail, offset }: TextRange): void {
  if (tail !== undefined && offset !== undefined)
    throw new ApiError("bad_request", "query.tail: must not be combined with offset");
}

/** A text that is stored in files, one after the other, or in memory. */
export interface OpenText {
  /** Bytes. */
  readonly size: number;
  read(from: number, length: number): Promise<Buffer>;
  close(): Promise<void>;
}

/** Opens files as one text; undefined if the first one does not exist. Those after a missing one are not part of it. */
export async function openText(paths: readonly string[]): Promise<OpenText | undefined> {
  const files: { readonly file: FileHandle; readonly size: number }[] = [];
  for (const path of paths) {
    const file = await open(path, "r").catch(() => undefined);
    if (file === undefined) break;
    files.push({ file, size: (await file.stat()).size });
  }
  if (files.length === 0) return undefined;
  return {
    size: files.reduce((sum, { size }) => sum + size, 0),
    read: async (from, length) => {
      const parts: Buffer[] = [];
      let start = 0;
      for (const { file, size } of files) {
        const [first, last] = [Math.max(from, start), Math.min(from + length, start + size)];
        if (first < last) {
          const buffer = Buffer.alloc(last - first);
          const { bytesRead } = await file.read(buffer, 0, buffer.length, first - start);
          parts.push(buffer.subarray(0, bytesRead));
        }
        start += size;
      }
      return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
    },
    close: async () => {
      await Promise.all(files.map(({ file }) => file.close()));
    },
  };
}

/** A text in memory. */
export function textInMemory(text: string): OpenText {
  const bytes = Buffer.from(text);
  return {
    size: bytes.length,
    read: async (from, length) => bytes.subarray(from, from + length),
    close: async () => undefined,
  };
}

/** Reads at most 1 MiB of whole lines, and its position; of a longer line, a part. */
export async function readPart(
  text: OpenText,
  { tail, offset }: TextRange,
): Promise<{ readonly bytes: Buffer; readonly offset: number }> {
  const { size } = text;
  const from = tail === undefined ? Math.min(offset ?? 0, size) : Math.max(0, size - PART_MAX_BYTES);
  const read = await text.read(from, Math.min(PART_MAX_BYTES, size - from));
  const part = tail === undefined ? wholeLines(read) : lastLines(read, tail, from > 0);
  const start = tail === undefined ? from : from + read.length - part.length;
  return { bytes: part, offset: start };
}

function wholeLines(bytes: Buffer): Buffer {
  const end = bytes.lastIndexOf(NEWLINE) + 1;
  return end === 0 ? bytes : bytes.subarray(0, end);
}

/** If the text was cut, its first line is incomplete and is dropped. */
function lastLines(bytes: Buffer, count: number, cut: boolean): Buffer {
  let at = bytes.length - 1;
  for (let lines = 0; lines < count; lines += 1) {
    at = at <= 0 ? -1 : bytes.lastIndexOf(NEWLINE, at - 1);
    if (at === -1) return cut ? bytes.subarray(bytes.indexOf(NEWLINE) + 1) : bytes;
  }
  return bytes.subarray(at + 1);
}
