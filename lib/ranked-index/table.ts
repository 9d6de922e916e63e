import { createHash } from "node:crypto";
import type { Key, TableSpec } from "../platform/tables.ts";
import { chunkOf, positionOf, segmentOf } from "./block-positions.ts";

/**
 * The head of an index: its extent and the location of its records. Recent additions are in the deltas from
 * `firstDelta` to before `nextDelta`; earlier ones are in blocks.
 */
export interface IndexHead extends Key {
  /** Incremented by every change of the head. */
  readonly version: number;
  /** The last assigned number. */
  readonly last: number;
  /** Numbers up to this one were removed. */
  readonly low: number;
  /** Numbers up to this one are in blocks. */
  readonly merged: number;
  readonly firstDelta: number;
  readonly nextDelta: number;
  /** The sets of segments from this one on are spread over several partitions; missing if none are. */
  readonly spreadFrom?: number;
  /** Segment -> `firstDelta` when its blocks were last written. */
  readonly changed: Readonly<Record<string, number>>;
  /** The same for texts that were in blocks before; missing if there are none. */
  readonly changedTexts?: Readonly<Record<string, number>>;
}

/** The positions of one value in one segment, or the keys or texts of a range of numbers, or one long text. */
export interface IndexBlock extends Key {
  /** Deltas before this one are included; those from `firstDelta` on may be. */
  readonly until: number;
  readonly bytes?: Uint8Array;
  readonly keys?: readonly string[];
  readonly texts?: Texts;
  /** For removals: segments without remaining blocks. */
  readonly cleared?: number;
}

/** Normalized texts; null marks a long text in a separate item, which is written first. */
export type Texts = readonly (string | null)[];

/** The additions of one transaction: immutable, and overwritten once they are in blocks. */
export interface IndexDelta extends Key {
  readonly delta: number;
  /** The number of its first entry. */
  readonly first: number;
  /** Terms that the other members reference by index. */
  readonly terms: readonly string[];
  /** A key and the indexes of its terms. */
  readonly entries: readonly (readonly [key: string, ...terms: number[]])[];
  /** A number, the terms to remove, and the terms to add. */
  readonly changes: readonly (readonly [number: number, drops: readonly number[], puts: readonly number[]])[];
  /** A number and its new normalized text, for entries and changes. Missing if there are none. */
  readonly newTexts?: readonly (readonly [number: number, text: string])[];
}

export const rankedIndexTable: TableSpec<IndexHead & IndexBlock & IndexDelta> = {
  name: "ranked-index",
  indexes: {},
};

/** Longest value in characters that is part of a sort key; longer values are hashed. */
const VALUE_IN_KEY_MAX = 200;

export const headKeyOf = (index: string): Key => ({ pk: index, sk: "head" });

/** Item with the keys of removed records, until all their data is deleted. */
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

/** Deltas reuse this number of slots in turn. */
export function deltaKey(index: string, delta: number, slots: number): Key {
  return { pk: index, sk: `d#${String(delta % slots).padStart(4, "0")}` };
}

/** Partitions of a segment's sets where partitions have limits: a field with many values has as many sets. */
const SET_SHARDS = 8;

const isSpread = ({ spreadFrom }: Pick<IndexHead, "spreadFrom">, segment: number): boolean =>
  spreadFrom !== undefined && segment >= spreadFrom;

export function postingsKey(
  index: string,
  head: Pick<IndexHead, "spreadFrom">,
  segment: number,
  term: string,
): Key {
  const pk = `${index}#${segment}`;
  return { pk: isSpread(head, segment) ? `${pk}#${shardOf(term)}` : pk, sk: `p#${term}` };
}

function shardOf(term: string): number {
  let sum = 0;
  for (let at = 0; at < term.length; at += 1) sum = (sum * 31 + term.charCodeAt(at)) % 65_521;
  return sum % SET_SHARDS;
}

/** All partitions with data of a segment. */
export function segmentPartitions(
  index: string,
  head: Pick<IndexHead, "spreadFrom">,
  segment: number,
): string[] {
  const pk = `${index}#${segment}`;
  const sets = isSpread(head, segment)
    ? Array.from({ length: SET_SHARDS }, (_, shard) => `${pk}#${shard}`)
    : [];
  return [pk, ...sets];
}

/** Key of the block with the key of a number. */
export function keysKey(index: string, number: number): Key {
  return { pk: `${index}#${segmentOf(number)}`, sk: `k#${String(chunkOf(number)).padStart(4, "0")}` };
}

/** Key of the block with the text of a number. */
export function textsKey(index: string, number: number): Key {
  return { pk: `${index}#${segmentOf(number)}`, sk: `t#${String(chunkOf(number)).padStart(4, "0")}` };
}

/** Key of the item with the text of a number that is too long for a block. */
export function longTextKey(index: string, number: number): Key {
  return { pk: `${index}#${segmentOf(number)}`, sk: `x#${String(positionOf(number)).padStart(5, "0")}` };
}

/** The name of the set of a field's value. */
export function termOf(field: string, value: string): string {
  if (value.length <= VALUE_IN_KEY_MAX) return `${field}=${value}`;
  return `${field}#${createHash("sha256").update(value).digest("hex")}`;
}
