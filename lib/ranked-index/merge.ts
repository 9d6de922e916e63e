import type { Ports } from "../platform/ports.ts";
import type { Attribute, Write } from "../platform/tables.ts";
import { chunkOf, positionInBlock, segmentOf } from "./block-positions.ts";
import {
  type Block,
  type BlockRequest,
  type Blocks,
  type CachedSegment,
  fetchBlocks,
  unchangedSinceRead,
} from "./blocks.ts";
import { applyOperations, type Operation, operationsOf, type Recent } from "./deltas.ts";
import { type ChangedTexts, TextMerge } from "./merge-texts.ts";
import { copyOf, encode } from "./postings.ts";
import { type IndexBlock, type IndexHead, keysKey, postingsKey, rankedIndexTable } from "./table.ts";
import type { TextBlocks } from "./text-blocks.ts";

/** Blocks per transaction. */
const WRITES_AT_ONCE = 50;
/** Blocks at a time where each is written alone. */
const ALONE_AT_ONCE = 200;
/** Long texts per transaction: 3 MB at most. */
const LONG_AT_ONCE = 32;

interface Changed extends Pick<CachedSegment, "sets" | "keys"> {
  readonly known: CachedSegment;
}

/** The result of a merge, to be recorded in the head. */
export interface MergeResult {
  /** Numbers up to this one are in blocks. */
  readonly last: number;
  /** Deltas before this one are in blocks. */
  readonly until: number;
  readonly segments: ReadonlyMap<number, Changed>;
  readonly texts: ReadonlyMap<number, ChangedTexts>;
  /** The lowest number with a merged text. */
  readonly lowestText: number;
}

/**
 * Writes the deltas into the blocks without changing the head: readers still read them from the deltas and ignore the
 * part of the blocks beyond the head's `mergeResults`. So partly visible or repeated writes do no harm: blocks that another
 * process has written are skipped. Undefined if another process is merging right now.
 */
export async function writeBlocks(
  deps: Pick<Ports, "tables">,
  name: string,
  { blocks, texts: textBlocks }: { readonly blocks: Blocks; readonly texts: TextBlocks },
  head: IndexHead,
  recent: Recent,
): Promise<MergeResult | undefined> {
  const until = recent.nextDelta;
  const { last, rows } = recent;
  const operations = operationsOf(recent.deltas);
  const numbers = rows.map(({ number }) => number);
  const wanted: BlockRequest[] = blocks.wantKeys(head, numbers);
  for (const [segment, terms] of operations) wanted.push(...blocks.wantSets(head, segment, terms.keys()));
  const textMerge = new TextMerge(name, textBlocks, head, recent);
  wanted.push(...textMerge.want());
  await fetchBlocks(deps, wanted);

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
      const item = { ...postingsKey(name, head, segment, term), until, bytes: encode(next.value) };
      writes.push({ op: "put", table: rankedIndexTable, item, when: [unchangedSinceRead(block)] });
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
    writes.push({ op: "put", table: rankedIndexTable, item, when: [unchangedSinceRead(block)] });
  }
  const texts = textMerge.plan();
  const batches = [
    ...inBatches(texts.long, LONG_AT_ONCE),
    ...inBatches(
      [...writes, ...texts.blocks],
      deps.tables.partitionLimits === true ? ALONE_AT_ONCE : WRITES_AT_ONCE,
    ),
  ];
  for (const batch of batches) {
    if (await writeBatch(deps, batch)) continue;
    for (const segment of segments.keys()) blocks.forget(segment);
    for (const { known, blocks: changed } of texts.changed.values()) textBlocks.forget(known, changed.keys());
    return undefined;
  }
  return { last, until, segments, texts: texts.changed, lowestText: textMerge.lowest };
}

/** Writes blocks, of which any part may become visible first. False if another process has written one of them. */
async function writeBatch({ tables }: Pick<Ports, "tables">, batch: readonly Write[]): Promise<boolean> {
  if (tables.partitionLimits !== true) return (await tables.write(batch)).ok;
  // A transaction takes twice as many writes of the partition that has all of them.
  const outcomes = batch.map(async (write) => {
    if (write.op !== "put") return (await tables.write([write])).ok;
    const { pk, sk, ...set } = write.item as IndexBlock;
    const change = { set: set as Record<string, Attribute> };
    return (await tables.update(rankedIndexTable, { pk, sk }, change, write.when)) !== undefined;
  });
  return !(await Promise.all(outcomes)).includes(false);
}

function changedSet({ value }: Block<Parameters<typeof copyOf>[0]>, operations: readonly Operation[]) {
  return applyOperations(copyOf(value), operations);
}

function withKeys(
  { value }: Block<readonly string[]>,
  rows: readonly { readonly number: number; readonly key: string }[],
): readonly string[] {
  const keys = [...value];
  for (const { number, key } of rows) keys[positionInBlock(number)] = key;
  return Array.from(keys, (key) => key ?? "");
}

function inBatches(writes: readonly Write[], size: number): Write[][] {
  return Array.from({ length: Math.ceil(writes.length / size) }, (_, at) =>
    writes.slice(at * size, (at + 1) * size),
  );
}

/** The head after a merge. */
export function headAfterMerge(
  head: IndexHead,
  { last, until, segments, ...merged }: MergeResult,
): IndexHead {
  const changed = { ...head.changed };
  for (const segment of segments.keys()) changed[String(segment)] = until;
  const next = { ...head, version: head.version + 1, merged: last, firstDelta: until, changed };
  // Another process may have merged these records meanwhile.
  if (merged.lowestText > head.merged) return next;
  const changedTexts = { ...head.changedTexts };
  for (const segment of merged.texts.keys()) changedTexts[String(segment)] = until;
  return { ...next, changedTexts };
}
