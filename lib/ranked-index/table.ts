import { createHash } from "node:crypto";
import type { Key, TableSpec } from "../platform/tables.ts";

/** The head of an index: how far it goes, and when each segment changed. */
export interface IndexHead extends Key {
  readonly version: number;
  /** The last number given. */
  readonly last: number;
  /** Numbers up to this one are gone. */
  readonly low: number;
  /** Segment -> version of its last change. */
  readonly changed: Readonly<Record<string, number>>;
}

/** The positions of one value in one segment, or the keys of a run of numbers. */
export interface IndexBlock extends Key {
  readonly bytes?: Uint8Array;
  readonly keys?: readonly string[];
}

export const rankedIndexTable: TableSpec<IndexHead & IndexBlock> = { name: "ranked-index", indexes: {} };

/** Longest value that stands in a sort key itself, characters; a longer one stands there by its hash. */
const VALUE_IN_KEY_MAX = 200;

export const headKeyOf = (index: string): Key => ({ pk: index, sk: "head" });

export function postingsKey(index: string, segment: number, term: string): Key {
  return { pk: `${index}#${segment}`, sk: `p#${term}` };
}

export function keysKey(index: string, segment: number, chunk: number): Key {
  return { pk: `${index}#${segment}`, sk: `k#${String(chunk).padStart(4, "0")}` };
}

/** The name of a field's value among the postings. */
export function termOf(field: string, value: string): string {
  if (value.length <= VALUE_IN_KEY_MAX) return `${field}=${value}`;
  return `${field}#${createHash("sha256").update(value).digest("hex")}`;
}
