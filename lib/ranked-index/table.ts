import { createHash } from "node:crypto";
import type { Key, TableSpec } from "../platform/tables.ts";
import { chunkOf, positionOf, segmentOf } from "./block-positions.ts";

/**
 * The head of an index: how far it goes, and where its records are found. What was taken in lately lies in
 * deltas, from `firstDelta` to before `nextDelta`; what was before them lies in blocks.
 */
export interface IndexHead extends Key {
  /** One more at every change of the head. */
  readonly version: number;
  /** The last number given. */
  readonly last: number;
  /** Numbers up to this one are gone. */
  readonly low: number;
  /** Numbers up to this one are in blocks. */
  readonly merged: number;
  readonly firstDelta: number;
  readonly nextDelta: number;
  /** Segment -> `firstDelta` since its blocks were last written. */
  readonly changed: Readonly<Record<string, number>>;
  /** The same for texts that had been in blocks before; left out where there is none. */
  readonly changedTexts?: Readonly<Record<string, number>>;
}

/** The positions of one value in one segment, or the keys or texts of a run of numbers, or one long text. */
export interface IndexBlock extends Key {
  /** Deltas before this one are in it; those from `firstDelta` on may be. */
  readonly until: number;
  readonly bytes?: Uint8Array;
  readonly keys?: readonly string[];
  readonly texts?: Texts;
  /** Of what is taken away: segments of which no blocks are left. */
  readonly cleared?: number;
}

/** Texts as they are searched; null stands for a long one in a block of its own, which is written before. */
export type Texts = readonly (string | null)[];

/** What one transaction took in: never changed, and overwritten once it is in the blocks. */
export interface IndexDelta extends Key {
  readonly delta: number;
  /** The number of its first entry. */
  readonly first: number;
  /** Terms that the others name by their places. */
  readonly terms: readonly string[];
  /** A key and the places of its terms. */
  readonly entries: readonly (readonly [key: string, ...terms: number[]])[];
  /** A number, the terms that it loses, and those that it gets. */
  readonly changes: readonly (readonly [number: number, drops: readonly number[], puts: readonly number[]])[];
  /** A number and its text from then on, as it is searched; entries and changes alike. Left out without any. */
  readonly newTexts?: readonly (readonly [number: number, text: string])[];
}

export const rankedIndexTable: TableSpec<IndexHead & IndexBlock & IndexDelta> = {
  name: "ranked-index",
  indexes: {},
};

/** Longest value that stands in a sort key itself, characters; a longer one stands there by its hash. */
const VALUE_IN_KEY_MAX = 200;

export const headKeyOf = (index: string): Key => ({ pk: index, sk: "head" });

/** Where keys of records lie that were taken away, as long as something of the records may be left. */
export const goneKeyOf = (index: string): Key => ({ pk: index, sk: "gone" });

export const emptyHead = (index: string): IndexHead => ({
  ...headKeyOf(index),
  version: 0,
  last: 0,
  low: 0,
  merged: 0,
  firstDelta: 0,
  nextDelta: 0,
  changed: {},
});

/** Deltas take turns in so many slots. */
export function deltaKey(index: string, delta: number, slots: number): Key {
  return { pk: index, sk: `d#${String(delta % slots).padStart(4, "0")}` };
}

export function postingsKey(index: string, segment: number, term: string): Key {
  return { pk: `${index}#${segment}`, sk: `p#${term}` };
}

/** Where the key of a number lies. */
export function keysKey(index: string, number: number): Key {
  return { pk: `${index}#${segmentOf(number)}`, sk: `k#${String(chunkOf(number)).padStart(4, "0")}` };
}

/** Where the text of a number lies, with those of its neighbours. */
export function textsKey(index: string, number: number): Key {
  return { pk: `${index}#${segmentOf(number)}`, sk: `t#${String(chunkOf(number)).padStart(4, "0")}` };
}

/** Where the text of a number lies that is too long to lie with those of its neighbours. */
export function longTextKey(index: string, number: number): Key {
  return { pk: `${index}#${segmentOf(number)}`, sk: `x#${String(positionOf(number)).padStart(5, "0")}` };
}

/** The name of a field's value among the postings. */
export function termOf(field: string, value: string): string {
  if (value.length <= VALUE_IN_KEY_MAX) return `${field}=${value}`;
  return `${field}#${createHash("sha256").update(value).digest("hex")}`;
}
