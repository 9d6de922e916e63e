import type { Ports } from "../platform/ports.ts";
import type { Condition, Key } from "../platform/tables.ts";
import { chunkOf, KEYS_PER_BLOCK, positionInBlock, segmentOf } from "./block-positions.ts";
import { decode, emptyPostings, type Postings } from "./postings.ts";
import {
  type IndexBlock,
  type IndexDelta,
  type IndexHead,
  keysKey,
  postingsKey,
  rankedIndexTable,
} from "./table.ts";

/** Maximum number of blocks in memory, over all segments. */
const CACHED_MAX = 20_000;
/**
 * Maximum number of sets in memory if some are small: sets of a run or a job are rarely needed and fast to read again.
 */
const SETS_MAX = 2_000;
const SMALL_SET = 64;
/** Maximum number of key blocks in memory: each is some 15 KB, and a page needs a hundred at most. */
const KEY_BLOCKS_MAX = 128;

/** A block as it was read; a missing block is empty, and older than every delta. */
export interface Block<Value> {
  readonly until: number;
  readonly value: Value;
}

/** The condition that nobody has written the block since it was read. */
export const unchangedSinceRead = ({ until }: Pick<Block<unknown>, "until">): Condition =>
  until < 0 ? ["pk", "missing"] : ["until", "=", until];

/** An item to read, and its receiver. */
export interface BlockRequest {
  readonly key: Key;
  readonly take: (item: (IndexHead & IndexBlock & IndexDelta) | undefined) => void;
}

/** Reads all items at once. */
export async function fetchBlocks(
  deps: Pick<Ports, "tables">,
  wanted: readonly BlockRequest[],
): Promise<void> {
  if (wanted.length === 0) return;
  const items = await deps.tables.batchGet(
    rankedIndexTable,
    wanted.map(({ key }) => key),
  );
  const found = new Map(items.map((item) => [nameOf(item), item]));
  for (const { key, take } of wanted) take(found.get(nameOf(key)));
}

const nameOf = ({ pk, sk }: Key): string => `${pk}\n${sk}`;
const NO_SET: Block<Postings> = { until: -1, value: emptyPostings() };
const NO_KEYS: Block<readonly string[]> = { until: -1, value: [] };

/** The blocks of a segment in memory, at least as new as `asOf`, which is the head's `firstDelta` at that time. */
export interface CachedSegment {
  asOf: number;
  readonly sets: Map<string, Block<Postings>>;
  readonly keys: Map<number, Block<readonly string[]>>;
}

/** The blocks of an index, cached until the head shows that they changed. */
export class Blocks {
  readonly #name: string;
  readonly #segments = new Map<number, CachedSegment>();

  constructor(name: string) {
    this.#name = name;
  }

  /** The cached blocks of a segment for this head. */
  segment(head: IndexHead, segment: number): CachedSegment {
    const cached = this.#segments.get(segment);
    if (cached !== undefined && cached.asOf >= (head.changed[String(segment)] ?? 0)) return cached;
    const fresh: CachedSegment = { asOf: head.firstDelta, sets: new Map(), keys: new Map() };
    this.#segments.delete(segment);
    this.#segments.set(segment, fresh);
    return fresh;
  }

  /** The sets of a segment that are not cached. */
  wantSets(head: IndexHead, segment: number, terms: Iterable<string>): BlockRequest[] {
    const cached = this.segment(head, segment);
    const { asOf } = cached;
    return [...new Set(terms)]
      .filter((term) => !cached.sets.has(term))
      .map((term) => ({
        key: postingsKey(this.#name, head, segment, term),
        take: (item) => {
          // A read that started before a merge may return older data.
          if (cached.asOf !== asOf) return;
          const value = item?.bytes === undefined ? NO_SET.value : decode(item.bytes);
          cached.sets.set(term, item === undefined ? NO_SET : { until: item.until, value });
        },
      }));
  }

  /** The uncached blocks with the keys of these numbers. */
  wantKeys(head: IndexHead, numbers: Iterable<number>): BlockRequest[] {
    const wanted = new Map<string, BlockRequest>();
    for (const number of numbers) {
      const cached = this.segment(head, segmentOf(number));
      const chunk = chunkOf(number);
      if (cached.keys.has(chunk)) continue;
      const { asOf } = cached;
      const key = keysKey(this.#name, number);
      wanted.set(nameOf(key), {
        key,
        take: (item) => {
          if (cached.asOf !== asOf) return;
          cached.keys.set(
            chunk,
            item === undefined ? NO_KEYS : { until: item.until, value: item.keys ?? [] },
          );
        },
      });
    }
    return [...wanted.values()];
  }

  set(head: IndexHead, segment: number, term: string): Block<Postings> | undefined {
    return this.segment(head, segment).sets.get(term);
  }

  keys(head: IndexHead, number: number): Block<readonly string[]> | undefined {
    return this.segment(head, segmentOf(number)).keys.get(chunkOf(number));
  }

  key(head: IndexHead, number: number): string | undefined {
    return this.keys(head, number)?.value[positionInBlock(number)];
  }

  /** Replaces cached blocks with merged ones, for segments that did not change since the merge started. */
  keep(known: CachedSegment, asOf: number, changed: Pick<CachedSegment, "sets" | "keys">): void {
    known.asOf = asOf;
    for (const [term, block] of changed.sets) {
      // Re-inserted, so that recently changed sets are evicted last.
      known.sets.delete(term);
      known.sets.set(term, block);
    }
    if (changed.keys.size === 0) return;
    // Without full blocks, which no later merge appends to: a page that needs one reads it again.
    known.keys.clear();
    for (const [chunk, block] of changed.keys)
      if (block.value.length < KEYS_PER_BLOCK) known.keys.set(chunk, block);
  }

  /** Drops lower segments: merges rarely change them again, and queries need few of the sets that merges did. */
  dropBelow(segment: number): void {
    for (const lower of this.#segments.keys()) if (lower < segment) this.#segments.delete(lower);
  }

  /** Drops a segment that others write too. */
  forget(segment: number): void {
    this.#segments.delete(segment);
  }

  /** Limits the memory: evicts the oldest segments first, then the oldest sets of the last one. */
  trim(): void {
    const segments = [...this.#segments.values()];
    // Evicts the oldest segments first: most readers read new records.
    dropFirst(
      segments.map(({ keys }) => keys),
      KEY_BLOCKS_MAX,
    );
    dropFirst(
      segments.map(({ sets }) => sets),
      SETS_MAX,
      ({ value }) => value.count <= SMALL_SET,
    );
    let size = 0;
    for (const { sets, keys } of this.#segments.values()) size += sets.size + keys.size;
    for (const [segment, { sets, keys }] of this.#segments) {
      if (size <= CACHED_MAX) return;
      if (this.#segments.size > 1) {
        size -= sets.size + keys.size;
        this.#segments.delete(segment);
        continue;
      }
      for (const term of sets.keys()) {
        if (size <= CACHED_MAX) return;
        sets.delete(term);
        size -= 1;
      }
    }
  }
}

/** Removes entries from the first maps on, until they contain `max` in total or no removable entry is left. */
function dropFirst<Key, Value>(
  maps: readonly Map<Key, Value>[],
  max: number,
  may: (value: Value) => boolean = () => true,
): void {
  let more = -max;
  for (const map of maps) more += map.size;
  for (const map of maps) {
    for (const [key, value] of map) {
      if (more <= 0) return;
      if (!may(value)) continue;
      map.delete(key);
      more -= 1;
    }
  }
}
