import type { Ports } from "../platform/ports.ts";
import type { Condition, Write } from "../platform/tables.ts";
import { type Block, type Blocks, type CachedSegment, fetchWanted, type Wanted } from "./blocks.ts";
import { applyOperations, type Operation, operationsOf, type Recent } from "./deltas.ts";
import { chunkOf, placeInBlock, segmentOf } from "./numbers.ts";
import { copyOf, encode } from "./postings.ts";
import { type IndexHead, keysKey, postingsKey, rankedIndexTable } from "./table.ts";

/** Blocks written in one transaction. */
const WRITES_AT_ONCE = 50;

interface Changed extends Pick<CachedSegment, "sets" | "keys"> {
  readonly known: CachedSegment;
}

/** What a merge has put into blocks, so that the head may say so. */
export interface Merged {
  /** Numbers up to this one are in blocks. */
  readonly last: number;
  /** Deltas before this one are in blocks. */
  readonly until: number;
  readonly segments: ReadonlyMap<number, Changed>;
}

/**
 * Writes what the deltas say into the blocks, without a word to the head: readers go on to take it from the
 * deltas, and leave out of the blocks what lies beyond the head's `merged`. So it does not matter who sees how
 * much of it, nor how often it is done: a block that has been written by another is passed over. Undefined where
 * another is about it right now.
 */
export async function writeBlocks(
  deps: Pick<Ports, "tables">,
  name: string,
  blocks: Blocks,
  head: IndexHead,
  recent: Recent,
): Promise<Merged | undefined> {
  const until = recent.nextDelta;
  const { last, rows } = recent;
  const operations = operationsOf(recent.deltas);
  const numbers = rows.map(({ number }) => number);
  const wanted: Wanted[] = blocks.wantKeys(head, numbers);
  for (const [segment, terms] of operations) wanted.push(...blocks.wantSets(head, segment, terms.keys()));
  await fetchWanted(deps, wanted);

  const segments = new Map<number, Changed>();
  const changedOf = (segment: number): Changed => {
    const known = blocks.segment(head, segment);
    const changed = segments.get(segment) ?? { known, sets: new Map(), keys: new Map() };
    segments.set(segment, changed);
    return changed;
  };
  const writes: Write[] = [];
  for (const [segment, terms] of operations) {
    for (const [term, list] of terms) {
      const block = blocks.set(head, segment, term);
      if (block === undefined) return undefined;
      const next = block.until >= until ? block : { until, value: changedSet(block, list) };
      changedOf(segment).sets.set(term, next);
      if (next === block) continue;
      const item = { ...postingsKey(name, segment, term), until, bytes: encode(next.value) };
      writes.push({ op: "put", table: rankedIndexTable, item, when: [asRead(block)] });
    }
  }
  for (const together of Map.groupBy(
    rows,
    ({ number }) => keysKey(name, number).pk + chunkOf(number),
  ).values()) {
    const [{ number: first } = { number: 0 }] = together;
    const block = blocks.keys(head, first);
    if (block === undefined) return undefined;
    const next = block.until >= until ? block : { until, value: withKeys(block, together) };
    changedOf(segmentOf(first)).keys.set(chunkOf(first), next);
    if (next === block) continue;
    const item = { ...keysKey(name, first), until, keys: next.value };
    writes.push({ op: "put", table: rankedIndexTable, item, when: [asRead(block)] });
  }
  for (let start = 0; start < writes.length; start += WRITES_AT_ONCE) {
    const outcome = await deps.tables.write(writes.slice(start, start + WRITES_AT_ONCE));
    if (outcome.ok) continue;
    for (const segment of segments.keys()) blocks.forget(segment);
    return undefined;
  }
  return { last, until, segments };
}

function changedSet({ value }: Block<Parameters<typeof copyOf>[0]>, operations: readonly Operation[]) {
  return applyOperations(copyOf(value), operations);
}

function withKeys(
  { value }: Block<readonly string[]>,
  rows: readonly { readonly number: number; readonly key: string }[],
): readonly string[] {
  const keys = [...value];
  for (const { number, key } of rows) keys[placeInBlock(number)] = key;
  return Array.from(keys, (key) => key ?? "");
}

/** Nobody has written the block since it was read. */
const asRead = ({ until }: Block<unknown>): Condition =>
  until < 0 ? ["pk", "missing"] : ["until", "=", until];

/** The head that says what was merged. */
export function mergedHead(head: IndexHead, { last, until, segments }: Merged): IndexHead {
  const changed = { ...head.changed };
  for (const segment of segments.keys()) changed[String(segment)] = until;
  return { ...head, version: head.version + 1, merged: last, firstDelta: until, changed };
}
