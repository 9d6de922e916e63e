import type { Ports } from "../platform/ports.ts";
import type { Write } from "../platform/tables.ts";
import { segmentOf } from "./block-positions.ts";
import type { RankedIndex } from "./ranked-index.ts";
import {
  goneKeyOf,
  headKeyOf,
  type IndexBlock,
  type IndexHead,
  rankedIndexTable,
  segmentPartitions,
} from "./table.ts";

/** Records removed together. */
const TOGETHER = 100;
/** Blocks deleted in one transaction, and per call. */
const BLOCKS_TOGETHER = 100;
const BLOCKS_MAX = 5_000;

type Deps = Pick<Ports, "tables">;

/** Decision about the oldest records of an index. */
export interface RemovalDecision {
  /** Number of records to remove, from the first on. */
  readonly count: number;
  /** A few writes for the transaction that removes them from the index. */
  readonly writes?: readonly Write[];
}

export interface ClearOptions {
  readonly name: string;
  readonly index: RankedIndex;
  /** Decides about the oldest records, given their keys in order. */
  readonly judge: (keys: readonly string[]) => Promise<RemovalDecision>;
  /** Deletes the data of records that were removed from the index; idempotent. */
  readonly remove: (keys: readonly string[]) => Promise<void>;
}

/**
 * Removes the oldest records of an index up to the first one to keep, about `most` of them. First removes them from the
 * index by changing one number in its head, so that totals are always exact; then deletes their data. Their keys are
 * stored until that is done, so that an interrupted call can be continued. Returns the number of removed records.
 */
export async function clearOldest(deps: Deps, clearing: ClearOptions, most: number): Promise<number> {
  const { name, index, judge } = clearing;
  let done = 0;
  for (;;) {
    const { gone, busy } = await finish(deps, clearing);
    if (busy || done >= most) return done;
    const view = await index.view([]);
    const limit = Math.min(TOGETHER, view.total);
    const oldest = (await view.page({ offset: view.total - limit, limit })).reverse();
    const { count, writes = [] } = await judge(oldest.map(({ key }) => key));
    const keys = oldest.slice(0, count).map(({ key }) => key);
    const last = oldest[count - 1];
    if (last === undefined) return done;
    const taken = putGone(name, gone, { keys, low: last.number });
    if (!(await index.drop(last.number, [...writes, taken]))) return done;
    done += count;
  }
}

interface Finished {
  readonly gone: Gone | undefined;
  /** Another process is removing records too; it deletes the data of those that it removed. */
  readonly busy: boolean;
}

/** Deletes the data of removed records; returns the item that lists them. */
async function finish(deps: Deps, { name, remove }: ClearOptions): Promise<Finished> {
  const gone = await deps.tables.get(rankedIndexTable, goneKeyOf(name));
  const head = await deps.tables.get(rankedIndexTable, headKeyOf(name));
  if (gone === undefined || head === undefined) return { gone, busy: false };
  // The transaction that removed them is not completely visible yet.
  if (head.low < gone.low) return { gone, busy: true };
  let now: Gone | undefined = gone;
  if (gone.keys !== undefined && gone.keys.length > 0) {
    await remove(gone.keys);
    now = await rewrite(deps, name, gone, { keys: [] });
  }
  const after = now === undefined ? undefined : await clearBlocks(deps, name, head, now);
  return { gone: after, busy: after === undefined };
}

type Gone = Pick<IndexBlock, "until" | "keys" | "cleared"> & Pick<IndexHead, "low">;

/** Each write has a different `until`, so that one of two concurrent writers fails. */
function changed(name: string, before: Gone | undefined, change: Partial<Gone>) {
  const { until = 0, keys = [], cleared = 0, low = 0 } = before ?? {};
  return { ...goneKeyOf(name), keys, cleared, low, ...change, until: until + 1 };
}

const putGone = (name: string, before: Gone | undefined, change: Partial<Gone>): Write => ({
  op: "put",
  table: rankedIndexTable,
  item: changed(name, before, change),
  when: [before === undefined ? ["pk", "missing"] : ["until", "=", before.until]],
});

/** The new item; undefined if another process wrote it. */
async function rewrite(
  deps: Deps,
  name: string,
  before: Gone,
  change: Partial<Gone>,
): Promise<Gone | undefined> {
  const { ok } = await deps.tables.write([putGone(name, before, change)]);
  return ok ? changed(name, before, change) : undefined;
}

/** Deletes the blocks of empty segments. Undefined if another process does the same. */
async function clearBlocks(
  deps: Deps,
  name: string,
  head: IndexHead,
  before: Gone,
): Promise<Gone | undefined> {
  const empty = segmentOf(Math.min(head.low, head.merged) + 1);
  let gone: Gone | undefined = before;
  for (let left = BLOCKS_MAX; left > 0 && gone !== undefined; left -= BLOCKS_TOGETHER) {
    const segment: number = gone.cleared ?? 0;
    if (segment >= empty) break;
    const parts = segmentPartitions(name, head, segment).map((pk) =>
      deps.tables.query(rankedIndexTable, { pk, limit: BLOCKS_TOGETHER }),
    );
    const items = (await Promise.all(parts)).flatMap((part) => part.items).slice(0, BLOCKS_TOGETHER);
    if (items.length === 0) gone = await rewrite(deps, name, gone, { cleared: segment + 1 });
    else
      await deps.tables.write(
        items.map(({ pk, sk }) => ({ op: "delete", table: rankedIndexTable, key: { pk, sk } })),
      );
  }
  return gone;
}
