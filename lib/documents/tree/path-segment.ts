/** Length of a path segment. Digits and capital letters sort the same in every collation. Reference 2.1. */
export const SEGMENT_LENGTH = 7;
const RADIX = 36;
const SEGMENT = /^[0-9A-Z]{7}$/;

/** Number of possible segments. Siblings are numbered from 0, in order. */
export const SEGMENTS = RADIX ** SEGMENT_LENGTH;

export const toSegment = (number: number): string =>
  number.toString(RADIX).toUpperCase().padStart(SEGMENT_LENGTH, "0");

/** Returns the number of a segment; undefined for keys stored before keys were segments. */
export const parseSegment = (order: string): number | undefined =>
  SEGMENT.test(order) ? Number.parseInt(order, RADIX) : undefined;
