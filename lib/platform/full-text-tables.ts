import type { Key, TableSpec } from "./tables.ts";

/**
 * A text of the full-text index. Its words, and those of an unfinished change, are separate items: each has the size
 * that an item may have.
 */
export interface TextItem extends Key {
  /** Of the text itself. */
  readonly version?: string;
  readonly data?: Uint8Array;
  /** JSON, compressed. */
  readonly words?: Uint8Array;
}

export const textsTable: TableSpec<TextItem> = { name: "full-text-entries", indexes: {} };

/** A word of a text. */
export interface PostingItem extends Key {
  /** The places that have it, one bit each. */
  readonly places: number;
}

/** By the beginning of a word; sorted by word and text. */
export const postingsTable: TableSpec<PostingItem> = { name: "full-text-postings", indexes: {} };
