import { closeSync, fstatSync, openSync, readSync } from "node:fs";

/** Maximum size in bytes of a log that is checked; SQLite normally checkpoints it at 16 MB. */
const CHECKED_MAX_BYTES = 128 * 1024 * 1024;
const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** The lowest bit gives the byte order of the checksums. */
const MAGIC = 0x377f0682;
const PAGE_MIN_BYTES = 512;
const PAGE_MAX_BYTES = 65_536;

/** The frames of the log that SQLite reads and drops. */
export interface LogFrames {
  /** Valid changed pages. */
  readonly valid: number;
  /** Changed pages from the first damaged one on: SQLite drops them silently. */
  readonly dropped: number;
}

/**
 * Counts the frames of a write-ahead log as SQLite does when it opens the database; undefined if there is no valid log.
 * Frames after the end that belong to an earlier generation of the log are not counted. Source:
 * sqlite.org/fileformat2.html, section 4.
 */
export function countLogFrames(path: string): LogFrames | undefined {
  const log = readLog(path);
  if (log === undefined) return undefined;
  const magic = log.readUInt32BE(0);
  const bigEndian = magic === MAGIC + 1;
  const pageBytes = log.readUInt32BE(8);
  const isPower = (pageBytes & (pageBytes - 1)) === 0;
  if ((magic !== MAGIC && !bigEndian) || pageBytes < PAGE_MIN_BYTES || pageBytes > PAGE_MAX_BYTES || !isPower)
    return { valid: 0, dropped: Math.floor(log.length / 4096) };
  const frameBytes = FRAME_HEADER_BYTES + pageBytes;
  const frames = Math.floor((log.length - HEADER_BYTES) / frameBytes);
  const sum = checksum(log, bigEndian);
  sum.add(0, 24);
  const headerHolds = sum.equals(24);
  let valid = 0;
  for (; headerHolds && valid < frames; valid += 1) {
    const at = HEADER_BYTES + valid * frameBytes;
    if (!ofThisRound(log, at)) return { valid, dropped: 0 };
    sum.add(at, 8);
    sum.add(at + FRAME_HEADER_BYTES, pageBytes);
    if (!sum.equals(at + 16)) break;
  }
  let dropped = 0;
  for (let frame = valid; frame < frames; frame += 1)
    if (ofThisRound(log, HEADER_BYTES + frame * frameBytes)) dropped += 1;
  return { valid, dropped };
}

/** The salts change whenever the log restarts. */
function ofThisRound(log: Buffer, at: number): boolean {
  return log.compare(log, 16, 24, at + 8, at + 16) === 0;
}

function readLog(path: string): Buffer | undefined {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch {
    return undefined;
  }
  try {
    const { size } = fstatSync(file);
    if (size < HEADER_BYTES || size > CHECKED_MAX_BYTES) return undefined;
    const log = Buffer.allocUnsafe(size);
    return log.subarray(0, readSync(file, log, 0, size, 0));
  } finally {
    closeSync(file);
  }
}

/** The cumulative checksum of a log: of the header, then of each frame. */
function checksum(log: Buffer, bigEndian: boolean) {
  const view = new DataView(log.buffer, log.byteOffset, log.byteLength);
  let first = 0;
  let second = 0;
  return {
    add: (from: number, bytes: number): void => {
      for (let at = from; at < from + bytes; at += 8) {
        first = (first + view.getUint32(at, !bigEndian) + second) >>> 0;
        second = (second + view.getUint32(at + 4, !bigEndian) + first) >>> 0;
      }
    },
    equals: (at: number): boolean => first === view.getUint32(at) && second === view.getUint32(at + 4),
  };
}
