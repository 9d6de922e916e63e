import type { Ports } from "../platform/ports.ts";
import type { Write } from "../platform/tables.ts";
import { segmentOf } from "./numbers.ts";
import type { RankedIndex } from "./ranked-index.ts";
import { goneKeyOf, headKeyOf, type IndexBlock, rankedIndexTable } from "./table.ts";

/** Records taken away together. */
const TOGETHER = 100;
/** Blocks deleted in one transaction, and in one go. */
const BLOCKS_TOGETHER = 100;
const BLOCKS_MAX = 5_000;

type Deps = Pick<Ports, "tables">;

/** What is to become of the oldest records of an index. */
export interface Verdict {
  /** So many of the first are to be taken away. */
  readonly count: number;
  /** Writes of the transaction that takes them out of the index, few. */
  readonly writes?: readonly Write[];
}

export interface Clearing {
  readonly name: string;
  readonly index: RankedIndex;
  /** Looks at the oldest records, by their keys in the order of their numbers. */
  readonly judge: (keys: readonly string[]) => Promise<Verdict>;
  /** Deletes what lies behind records that are in no list any more; again does no harm. */
  readonly remove: (keys: readonly string[]) => Promise<void>;
}

/**
 * Takes the oldest records of an index away until one is to stay, `most` of them or so: first out of the index, by one
 * number in its head, so that totals are exact at every instant; then what lies behind them. Their keys are kept until
 * that is done, so one that was interrupted goes on where it stopped. Answers how many were taken away.
 */
export async function clearOldest(deps: Deps, clearing: Clearing, most: number): Promise<number> {
  const { name, index, judge } = clearing;
  let done = 0;
  for (;;) {
    const gone = await finish(deps, clearing);
    if (done >= most) return done;
    const view = await index.view([]);
    const limit = Math.min(TOGETHER, view.total);
    const oldest = (await view.page({ offset: view.total - limit, limit })).reverse();
    const { count, writes = [] } = await judge(oldest.map(({ key }) => key));
    const keys = oldest.slice(0, count).map(({ key }) => key);
    const last = oldest[count - 1];
    if (last === undefined) return done;
    if (!(await index.drop(last.number, [...writes, putGone(name, gone, { keys })]))) return done;
    done += count;
  }
}

/** Deletes what is left of records that were taken away; answers the item that says so. */
async function finish(deps: Deps, { name, remove }: Clearing): Promise<Gone | undefined> {
  const gone = await readGone(deps, name);
  if (gone?.keys === undefined || gone.keys.length === 0) return clearBlocks(deps, name, gone);
  await remove(gone.keys);
  return clearBlocks(deps, name, await rewrite(deps, name, gone, { keys: [] }));
}

type Gone = Pick<IndexBlock, "until" | "keys" | "cleared">;

/** Each writing has another `until`: whoever lost its turn did what another does again. */
function putGone(name: string, before: Gone | undefined, change: Partial<Gone>): Write {
  const { until = 0, keys = [], cleared = 0 } = before ?? {};
  return {
    op: "put",
    table: rankedIndexTable,
    item: { ...goneKeyOf(name), keys, cleared, ...change, until: until + 1 },
    when: [before === undefined ? ["pk", "missing"] : ["until", "=", until]],
  };
}

async function rewrite(
  deps: Deps,
  name: string,
  before: Gone | undefined,
  change: Partial<Gone>,
): Promise<Gone | undefined> {
  await deps.tables.write([putGone(name, before, change)]);
  return readGone(deps, name);
}

const readGone = (deps: Deps, name: string): Promise<Gone | undefined> =>
  deps.tables.get(rankedIndexTable, goneKeyOf(name));

/** Deletes the blocks of segments that hold no record any more. */
async function clearBlocks(deps: Deps, name: string, before: Gone | undefined): Promise<Gone | undefined> {
  let gone = before;
  const head = await deps.tables.get(rankedIndexTable, headKeyOf(name));
  if (head === undefined || gone === undefined) return gone;
  const empty = segmentOf(Math.min(head.low, head.merged) + 1);
  let left = BLOCKS_MAX;
  while (left > 0 && (gone?.cleared ?? 0) < empty) {
    const segment = gone?.cleared ?? 0;
    const pk = `${name}#${segment}`;
    const { items } = await deps.tables.query(rankedIndexTable, { pk, limit: BLOCKS_TOGETHER });
    if (items.length === 0) gone = await rewrite(deps, name, gone, { cleared: segment + 1 });
    else
      await deps.tables.write(
        items.map(({ sk }) => ({ op: "delete", table: rankedIndexTable, key: { pk, sk } })),
      );
    left -= BLOCKS_TOGETHER;
  }
  return gone;
}
