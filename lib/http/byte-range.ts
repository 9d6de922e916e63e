/** A part of a representation, in bytes; `end` is exclusive. */
export interface RequestedRange {
  readonly start: number;
  readonly end: number;
}

const SINGLE = /^bytes=(?:(\d{1,15})-(\d{0,15})|-(\d{1,15}))$/;

/**
 * Evaluates a Range header for a representation of `bytes` bytes. Undefined for none, and for what a server may ignore:
 * another unit, several ranges, which cost more than they are worth, and a malformed one. `unsatisfiable` if the range
 * begins after the end. RFC 9110, 14.
 */
export function parseRange(
  header: string | undefined,
  bytes: number,
): RequestedRange | "unsatisfiable" | undefined {
  const [, first, last, suffix] = SINGLE.exec(header?.trim().toLowerCase() ?? "") ?? [];
  if (suffix !== undefined) {
    const length = Math.min(Number(suffix), bytes);
    return length === 0 ? "unsatisfiable" : { start: bytes - length, end: bytes };
  }
  if (first === undefined) return undefined;
  const start = Number(first);
  if (last !== undefined && last !== "" && Number(last) < start) return undefined;
  if (start >= bytes) return "unsatisfiable";
  return { start, end: last ? Math.min(Number(last) + 1, bytes) : bytes };
}

/**
 * Whether If-Range lets the Range header apply: it is absent, the current strong tag, or the date of the last change.
 * RFC 9110, 13.1.5.
 */
export function isRangeCurrent(
  header: string | undefined,
  { etag, modifiedAt }: { readonly etag: string; readonly modifiedAt: string },
): boolean {
  if (header === undefined) return true;
  const value = header.trim();
  if (value.startsWith('"')) return value === `"${etag}"`;
  return value === new Date(modifiedAt).toUTCString();
}
