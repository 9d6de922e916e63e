import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import type { IndexBatch } from "../../ranked-index/batch.ts";
import type { Entry, FieldChange, Row } from "../../ranked-index/deltas.ts";
import type { RankedIndex } from "../../ranked-index/ranked-index.ts";
import { termOf } from "../../ranked-index/table.ts";
import { CONFLICT, PROGRESS, retryOnConflict } from "../../retry-on-conflict.ts";
import type { IndexableEvent, RecentEvents } from "./recent-events.ts";
import { eventKey, eventLogTable, eventTailTable, type TailItem, tailKey, tailShards } from "./table.ts";
import { acknowledgeTail, keyByEventId } from "./tail.ts";

/** Fields that the log can be filtered by, in addition to `processed`. Seed: workflow 4. */
export const INDEXED_FIELDS = ["topic", "name", "source", "workspace", "run_id", "workflow_name"] as const;
/** The only value of `processed` in the index: all other records are processed. */
export const UNPROCESSED = { field: "processed", value: "false" } as const;
const UNPROCESSED_TERM = termOf(UNPROCESSED.field, UNPROCESSED.value);

/**
 * How long a record may stay out of the index while its runs are started, milliseconds: most are processed by then, and
 * are indexed once, in their final state.
 */
const UNPROCESSED_MS = 5_000;
/** Changes of records per transaction, each with a write. */
const CHANGES_AT_ONCE = 30;
/** Tail items of several records per transaction, each with a condition check, where one is needed. */
const TOGETHER_AT_ONCE = 30;

export type IndexDeps = Pick<Ports, "tables" | "clock"> & {
  readonly eventIndex: RankedIndex;
  readonly recentEvents: RecentEvents;
};

export type IndexOptions = IndexCallbacks & (Found | { readonly known?: undefined });

interface Found {
  /** Tail items that were just read, of records that must be indexed too. */
  readonly known: readonly TailItem[];
  /** `mergedUntil()` of the index, before `known` was read. */
  readonly mergedBefore: number;
}

interface IndexCallbacks {
  /** Further records are waiting in the tail. */
  readonly isMoreWaiting?: boolean;
  /** Writes for the transaction that adds some records to the index: it adds each record once. */
  readonly count?: RecordCounter;
  /** Called with records before they leave the tail, possibly more than once. */
  readonly onRecords?: (events: readonly IndexableEvent[]) => Promise<void>;
}

/** Counts what records stand for. */
export interface RecordCounter {
  /** What a record counts for; each of these is a write. */
  keysOf(event: IndexableEvent): readonly string[];
  /** The most keys of a record. */
  readonly keysMax: number;
  /** Reads what the writes depend on. Returns them for those of the events that are added: one for each key. */
  prepare(events: readonly IndexableEvent[]): Promise<(added: readonly IndexableEvent[]) => readonly Write[]>;
}

/**
 * Adds records to the index, numbered oldest first, and updates those that changed. Records that are already indexed in
 * their final form are skipped. Records whose runs are just being started may stay in the tail.
 */
export async function indexEvents(
  deps: IndexDeps,
  eventIds: readonly string[],
  options: IndexOptions = {},
): Promise<void> {
  const { known = [] } = options;
  let mergedBefore = options.known === undefined ? undefined : options.mergedBefore;
  let read = keyByEventId(known);
  const places = new Map([...read].map(([id, { sk }]) => [id, sk]));
  let ids = [...new Set([...eventIds, ...read.keys()])].sort();
  const progress: Progress = { events: new Map(), notified: new Set() };
  const indexNext = async () => {
    if (ids.length === 0) return;
    mergedBefore ??= await deps.eventIndex.mergedUntil();
    const tails = await tailItems(deps, ids, read, places);
    const left = await indexSome(deps, ids, tails, { ...options, mergedBefore, progress });
    const isProgress = left.length < ids.length;
    ids = left;
    // While the index has not been merged, what was read of the other records holds.
    if (isProgress && deps.tables.partitionLimits === true) {
      read = new Map(tails);
      return PROGRESS;
    }
    read = new Map();
    progress.events.clear();
    mergedBefore = undefined;
    return isProgress ? PROGRESS : CONFLICT;
  };
  await retryOnConflict(indexNext, {
    exceeded: () => new Error("too many conflicts at the index of the event log"),
  });
}

/** What is known of the records of one call. */
interface Progress {
  readonly events: Map<string, IndexableEvent>;
  /** Ids of records that `onRecords` was called with. */
  readonly notified: Set<string>;
}

interface Pending {
  readonly event: IndexableEvent;
  readonly tail: TailItem;
}

/** Returns the ids that may still be pending. */
async function indexSome(
  deps: IndexDeps,
  ids: readonly string[],
  tails: ReadonlyMap<string, TailItem>,
  {
    onRecords,
    count,
    mergedBefore,
    progress,
    isMoreWaiting = false,
  }: IndexCallbacks & { readonly mergedBefore: number; readonly progress: Progress },
): Promise<string[]> {
  const wanted = ids.filter((id) => tails.has(id));
  if (wanted.length === 0) return [];
  const events = await readEvents(deps, wanted, progress);
  const pending = events.flatMap((event): Pending[] => {
    const tail = tails.get(event.event_id);
    return tail === undefined ? [] : [{ event, tail }];
  });
  const open = pending.filter(
    ({ event, tail }) =>
      event.processed || (tail.number === undefined && (isMoreWaiting || !isSoonProcessed(deps, event))),
  );
  // See `addedOnce`.
  const isChecked = deps.tables.partitionLimits !== true;
  const together = new Set<TailItem>();
  const counted = new Set<string>();
  const fresh: Pending[] = [];
  for (const { event, tail } of open) {
    if (tail.number !== undefined) continue;
    const keys = new Set([...counted, ...(count?.keysOf(event) ?? [])]);
    const isTogether = isChecked && tail.ids !== undefined;
    if (isTogether && !together.has(tail) && together.size === TOGETHER_AT_ONCE) break;
    // Later records may not be numbered before this one.
    if (keys.size > (count?.keysMax ?? 0)) break;
    if (isTogether) together.add(tail);
    for (const key of keys) counted.add(key);
    fresh.push({ event, tail });
  }
  const changing = open.filter(({ tail }) => tail.number !== undefined).slice(0, CHANGES_AT_ONCE);
  if (fresh.length === 0 && changing.length === 0) return [];
  // Records stay in the tail until `onRecords` has resolved.
  const added = new Map(fresh.map(({ event }) => [event.event_id, event]));
  const countOf = await count?.prepare([...added.values()]);
  const others = fresh
    .filter(({ event }) => !progress.notified.has(event.event_id))
    .map(({ event }) => event);
  for (const { event_id } of others) progress.notified.add(event_id);
  const notifying = others.length > 0 ? onRecords?.(others) : undefined;
  const taking = deps.eventIndex.take({
    entries: fresh.map(({ event }) => entryOf(event)),
    ...addedOnce(deps, fresh, mergedBefore),
    isMoreWaiting: isMoreWaiting && deps.tables.partitionLimits === true,
    ...(count === undefined || countOf === undefined
      ? {}
      : {
          addedWritesMax: counted.size,
          addedWrites: (entries: readonly Entry[]) =>
            countOf(entries.flatMap(({ key }) => added.get(key) ?? [])),
        }),
    changes: changing.map(({ tail }) => changeOf(tail)),
    writes: [...changing.map(({ tail }) => endOf(tail)), ...[...together].map(unchanged)],
    acknowledge: async (rows) => {
      await notifying;
      await acknowledgeTail(deps, rows.map(toSettle), tails);
    },
  });
  const [taken] = await Promise.all([taking, notifying]);
  // Undefined: another indexer did some of the work concurrently; the rest is computed again.
  if (taken === undefined) return wanted;
  const done = new Set([
    ...taken.filter(({ added }) => added).map(({ key }) => key),
    ...changing.map(({ event }) => event.event_id),
  ]);
  return open.map(({ event }) => event.event_id).filter((id) => !done.has(id));
}

/** A record in the index but not in its recent part has left the tail, and cannot be added again. */
function addedOnce(
  { tables }: IndexDeps,
  fresh: readonly Pending[],
  mergedBefore: number,
): Partial<IndexBatch> {
  // A check takes two writes of its partition.
  if (tables.partitionLimits === true) return { mergedBefore };
  const alone = new Set(
    fresh.filter(({ tail }) => tail.ids === undefined).map(({ event }) => event.event_id),
  );
  return {
    entryWrites: ({ key }) =>
      alone.has(key)
        ? [{ op: "check", table: eventTailTable, key: tailKey(key), when: [["pk", "exists"]] }]
        : [],
    writesEach: alone.size === 0 ? 0 : 1,
  };
}

/** The records that exist, in the order of their ids. */
async function readEvents(
  { tables, recentEvents }: Pick<IndexDeps, "tables" | "recentEvents">,
  ids: readonly string[],
  { events: found }: Progress,
): Promise<IndexableEvent[]> {
  const others: string[] = [];
  for (const id of ids) {
    if (found.has(id)) continue;
    const recent = recentEvents.take(id);
    if (recent === undefined) others.push(id);
    else found.set(id, recent);
  }
  if (others.length > 0)
    for (const event of await tables.batchGet(eventLogTable, others.map(eventKey)))
      found.set(event.event_id, event);
  return ids.flatMap((id) => found.get(id) ?? []);
}

/** Where partitions have limits, a record waits: to index it twice takes twice as many writes of the same partitions. */
function isSoonProcessed({ tables, clock }: IndexDeps, { created_at, failed }: IndexableEvent): boolean {
  if (tables.partitionLimits !== true || failed === true) return false;
  return Date.parse(created_at) > clock.now() - UNPROCESSED_MS;
}

const endOf = ({ pk, sk }: TailItem): Write => ({
  op: "delete",
  table: eventTailTable,
  key: { pk, sk },
  when: [["pk", "exists"]],
});

/** Checks that none of its records has left the tail since it was read. */
const unchanged = ({ pk, sk, left = 0 }: TailItem): Write => ({
  op: "check",
  table: eventTailTable,
  key: { pk, sk },
  when: [["left", "=", left]],
});

/** The pending work of records, by their ids. `places` are the keys of the items that contained them. */
async function tailItems(
  deps: Pick<Ports, "tables">,
  ids: readonly string[],
  known: ReadonlyMap<string, TailItem>,
  places: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, TailItem>> {
  const shards = tailShards(deps.tables);
  const unknown = new Set(ids.filter((id) => !known.has(id)).map((id) => places.get(id) ?? id));
  const fresh = await deps.tables.batchGet(
    eventTailTable,
    [...unknown].map((name) => tailKey(name, "tail", shards)),
  );
  const found = new Map([...known, ...keyByEventId(fresh)]);
  const others = ids.filter((id) => !found.has(id));
  if (others.length === 0) return found;
  // A parked record may still be processed by a delayed message.
  const keys = others.flatMap((id) => [tailKey(id, "indexed", shards), tailKey(id, "parked", shards)]);
  for (const item of await deps.tables.batchGet(eventTailTable, keys)) found.set(item.sk, item);
  return found;
}

function entryOf(event: IndexableEvent): Entry {
  const fields: Record<string, string> = {};
  for (const field of INDEXED_FIELDS) if (event[field] !== "") fields[field] = event[field];
  if (!event.processed) fields[UNPROCESSED.field] = UNPROCESSED.value;
  return { key: event.event_id, fields };
}

const toSettle = ({ key, number, terms }: Row) => ({
  eventId: key,
  number,
  final: !terms.includes(UNPROCESSED_TERM),
});

function changeOf(tail: TailItem): FieldChange {
  return { number: tail.number ?? 0, before: { [UNPROCESSED.field]: UNPROCESSED.value }, after: {} };
}
