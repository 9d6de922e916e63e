/**
 * Characters of a document's part of the path that clients see, and what they are: digits and capital letters sort alike
 * in every collation. Reference 2.1.
 */
export const SEGMENT_LENGTH = 7;
const RADIX = 36;
const SEGMENT = /^[0-9A-Z]{7}$/;

/** Segments there are: siblings have numbers from 0 up to it, in their order. */
export const SEGMENTS = RADIX ** SEGMENT_LENGTH;

export const toSegment = (number: number): string =>
  number.toString(RADIX).toUpperCase().padStart(SEGMENT_LENGTH, "0");

/** The number of a segment; undefined for the key of a document that was stored before keys were segments. */
export const parseSegment = (order: string): number | undefined =>
  SEGMENT.test(order) ? Number.parseInt(order, RADIX) : undefined;
