import { setTimeout as sleep } from "node:timers/promises";
import { readAll } from "../../events/read-all.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { type ChangeRow, changesTable, readChangeCounts, SHARDS } from "../tables/changes.ts";

export type FeedDeps = Pick<Ports, "tables" | "clock">;

/** How far before the newest row missing rows are searched, first and then, milliseconds. */
const LOOK_BACK_MS = [2_000, 10 * 60_000] as const;
const REMEMBERED_MS = LOOK_BACK_MS[1];
/** Retention of change rows. Readers that are further behind reset. */
const KEPT_MS = 60 * 60_000;
/** Readers with more unread rows reset, which costs less. */
const BEHIND_MAX = 5_000;
/** Maximum reads to find a start position. */
const BEGINNINGS_MAX = 10;
/** Average number of rows between cleanups, and rows deleted per cleanup. */
const CLEAR_EVERY = 256;
const CLEAR_AT_ONCE = 100;
/** Reads of a shard with a missing row, and the pause between them, milliseconds. */
const READS_MAX = 3;
const PAUSE_MS = 4;

/** Where change rows are read: in the tables, or from the service that has them. */
export interface ChangeSource {
  /** Number of rows ever written to each shard. May wait for a while if they are still `known`. */
  readCounts(known?: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, number>>;
  /** Rows of a shard that were written since a time, and perhaps earlier ones. */
  rowsSince(shard: string, sinceMs: number): Promise<readonly ChangeRow[]>;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Deletes rows of these shards that are too old to be read; called after some reads. */
  clear?(shards: readonly string[]): Promise<void>;
}

/** The change rows in the tables. */
export const changeTables = (deps: FeedDeps): Required<ChangeSource> => ({
  readCounts: () => readChangeCounts(deps.tables),
  rowsSince: (pk, sinceMs) => readAll(deps, changesTable, { pk, sk: { from: idFrom(sinceMs) } }),
  now: () => deps.clock.now(),
  clear: (shards) => clear(deps, shards),
});

/** Read position in one shard. */
interface Shard {
  /** Number of rows read; equal to the shard's count. */
  count: number;
  /** Time from which all rows have been read, and time of the newest row, milliseconds. */
  from: number;
  newest: number;
  /** Recent row ids: rows become visible almost, but not exactly, in id order. */
  readonly seen: Map<string, number>;
}

/** Rows read from the change feed. */
export interface ChangeBatch {
  /** The position was lost: the reader must discard its state. The rows cover the last minutes. */
  readonly isReset: boolean;
  readonly rows: readonly ChangeRow[];
}
const NOTHING: ChangeBatch = { isReset: false, rows: [] };

/**
 * Reads the changes since the last call, by any process. Rows are not numbered, to avoid contention: the count shows
 * whether a row is missing, and the feed then searches further back.
 */
export class ChangeFeed {
  #shards: Map<string, Shard> | undefined;

  async read(source: ChangeSource): Promise<ChangeBatch> {
    const shards = this.#shards;
    if (shards === undefined) {
      const rows: ChangeRow[] = [];
      this.#shards = await begin(source, rows);
      await clearSometimes(source, SHARDS, 0);
      return { isReset: true, rows };
    }
    const counts = await source.readCounts(new Map([...shards].map(([name, { count }]) => [name, count])));
    const behind = SHARDS.filter((shard) => (counts.get(shard) ?? 0) > (shards.get(shard)?.count ?? 0));
    if (behind.length === 0) return NOTHING;
    const rows: ChangeRow[] = [];
    for (const name of behind) {
      const shard = shards.get(name);
      const found =
        shard === undefined ? undefined : await catchUp(source, name, shard, counts.get(name) ?? 0);
      if (found === undefined) {
        this.#shards = undefined;
        return this.read(source);
      }
      rows.push(...found);
    }
    await clearSometimes(source, behind, rows.length);
    return { isReset: false, rows };
  }
}

/** Deletes old rows with a probability that grows with the rows read. */
async function clearSometimes(source: ChangeSource, shards: readonly string[], read: number): Promise<void> {
  if (Math.random() * CLEAR_EVERY <= read + 1) await source.clear?.(shards);
}

async function clear({ tables, clock }: FeedDeps, shards: readonly string[]): Promise<void> {
  const before = idFrom(clock.now() - KEPT_MS);
  for (const pk of shards) {
    const { items } = await tables.query(changesTable, { pk, sk: { before }, limit: CLEAR_AT_ONCE });
    const writes = items.map(({ sk }): Write => ({ op: "delete", table: changesTable, key: { pk, sk } }));
    if (writes.length > 0) await tables.write(writes);
  }
}

/**
 * Finds the current position and the rows of the last minutes. Returns `undefined` if the shards keep changing during
 * the snapshot.
 */
async function begin(source: ChangeSource, rows: ChangeRow[]): Promise<Map<string, Shard> | undefined> {
  const shards = new Map<string, Shard>();
  let counts = await source.readCounts();
  for (let reads = 0; reads < BEGINNINGS_MAX; reads += 1) {
    const open = SHARDS.filter((name) => shards.get(name)?.count !== (counts.get(name) ?? 0));
    if (open.length === 0) return shards;
    const from = source.now() - REMEMBERED_MS;
    // The count must match the rows: read the rows between two equal counts.
    const found = await Promise.all(
      open.map((name) => (counts.has(name) ? source.rowsSince(name, from) : [])),
    );
    const after = await source.readCounts();
    for (const [at, name] of open.entries()) {
      const count = counts.get(name) ?? 0;
      if ((after.get(name) ?? 0) !== count) continue;
      const shard: Shard = { count, from, newest: from, seen: new Map() };
      for (const row of found[at] ?? []) remember(shard, row);
      rows.push(...(found[at] ?? []));
      shards.set(name, shard);
    }
    // Shards that changed since are caught up by the next read.
    if (shards.size === SHARDS.length) return shards;
    counts = after;
  }
  return undefined;
}

async function catchUp(
  source: ChangeSource,
  name: string,
  shard: Shard,
  count: number,
): Promise<ChangeRow[] | undefined> {
  if (count - shard.count > BEHIND_MAX) return undefined;
  const found: ChangeRow[] = [];
  const newest = Math.min(shard.newest, source.now());
  for (let reads = 0; reads < READS_MAX; reads += 1) {
    // The writes of a transaction may become visible one by one, the row last.
    if (reads > 0) await sleep(reads * PAUSE_MS);
    for (const back of LOOK_BACK_MS) {
      for (const row of await source.rowsSince(name, Math.max(shard.from, newest - back))) {
        if (shard.seen.has(row.sk)) continue;
        remember(shard, row);
        shard.count += 1;
        found.push(row);
      }
      if (shard.count >= count) {
        forget(shard);
        return found;
      }
    }
  }
  return undefined;
}

function remember(shard: Shard, { sk }: ChangeRow): void {
  const at = timeOf(sk);
  shard.seen.set(sk, at);
  shard.newest = Math.max(shard.newest, at);
}

function forget(shard: Shard): void {
  const from = shard.newest - 2 * REMEMBERED_MS;
  if (from <= shard.from) return;
  shard.from = from;
  for (const [id, at] of shard.seen) if (at < from) shard.seen.delete(id);
}

/** Returns the prefix of ordered ids of a time. */
function idFrom(ms: number): string {
  const digits = Math.max(0, Math.floor(ms)).toString(16).padStart(12, "0");
  return `${digits.slice(0, 8)}-${digits.slice(8)}`;
}
export const timeOf = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
