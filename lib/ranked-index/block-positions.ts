import { SEGMENT_SIZE } from "./postings.ts";

/** Keys or texts per block. */
export const KEYS_PER_BLOCK = 256;

/** Records are numbered from 1; a segment contains 65,536 of them. */
export const segmentOf = (number: number): number => Math.floor((number - 1) / SEGMENT_SIZE);
export const positionOf = (number: number): number => (number - 1) % SEGMENT_SIZE;
export const chunkOf = (number: number): number => Math.floor(positionOf(number) / KEYS_PER_BLOCK);
export const positionInBlock = (number: number): number => (number - 1) % KEYS_PER_BLOCK;
/** The first number of a block of keys or texts. */
export const firstOf = (segment: number, chunk: number): number =>
  segment * SEGMENT_SIZE + chunk * KEYS_PER_BLOCK + 1;
