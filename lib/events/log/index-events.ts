import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import type { Entry, FieldChange, Row } from "../../ranked-index/deltas.ts";
import type { RankedIndex } from "../../ranked-index/ranked-index.ts";
import { termOf } from "../../ranked-index/table.ts";
import { CONFLICT, PROGRESS, retryOnConflict } from "../../retry-on-conflict.ts";
import {
  eventKey,
  eventLogTable,
  eventTailTable,
  type StoredEvent,
  type TailItem,
  tailKey,
} from "./table.ts";
import { acknowledgeTail, keyByEventId } from "./tail.ts";

/** Fields that the log can be filtered by, in addition to `processed`. Seed: workflow 4. */
export const INDEXED_FIELDS = ["topic", "name", "source", "workspace", "run_id", "workflow_name"] as const;
/** The only value of `processed` in the index: all other records are processed. */
export const UNPROCESSED = { field: "processed", value: "false" } as const;
const UNPROCESSED_TERM = termOf(UNPROCESSED.field, UNPROCESSED.value);

/** Changes of records per transaction, each with a write. */
const CHANGES_AT_ONCE = 30;
/** Tail items of several records per transaction, each with a condition check. */
const TOGETHER_AT_ONCE = 40;

export type IndexDeps = Pick<Ports, "tables"> & { readonly eventIndex: RankedIndex };

export interface IndexOptions {
  /** Tail items that were just read, of records that must be indexed too. */
  readonly known?: readonly TailItem[];
  /** Called with records before they leave the tail, possibly more than once. */
  readonly tell?: (events: readonly StoredEvent[]) => Promise<void>;
}

/**
 * Adds records to the index, numbered oldest first, and updates those that changed. Records that are already indexed in
 * their final form are skipped.
 */
export async function indexEvents(
  deps: IndexDeps,
  eventIds: readonly string[],
  { known = [], tell }: IndexOptions = {},
): Promise<void> {
  let read = keyByEventId(known);
  const places = new Map([...read].map(([id, { sk }]) => [id, sk]));
  let ids = [...new Set([...eventIds, ...read.keys()])].sort();
  const indexNext = async () => {
    if (ids.length === 0) return;
    const left = await indexSome(deps, ids, await tailItems(deps, ids, read, places), tell);
    const isProgress = left.length < ids.length;
    ids = left;
    read = new Map();
    return isProgress ? PROGRESS : CONFLICT;
  };
  await retryOnConflict(indexNext, {
    exceeded: () => new Error("too many conflicts at the index of the event log"),
  });
}

interface Pending {
  readonly event: StoredEvent;
  readonly tail: TailItem;
}

/** Returns the ids that may still be pending. */
async function indexSome(
  deps: IndexDeps,
  ids: readonly string[],
  tails: ReadonlyMap<string, TailItem>,
  tell: IndexOptions["tell"],
): Promise<string[]> {
  const wanted = ids.filter((id) => tails.has(id));
  if (wanted.length === 0) return [];
  const events = await deps.tables.batchGet(eventLogTable, wanted.map(eventKey));
  const pending = events.flatMap((event): Pending[] => {
    const tail = tails.get(event.event_id);
    return tail === undefined ? [] : [{ event, tail }];
  });
  const open = pending.filter(({ event, tail }) => tail.number === undefined || event.processed);
  const together = new Set<TailItem>();
  const fresh = open.filter(({ tail }) => {
    if (tail.ids !== undefined && together.size < TOGETHER_AT_ONCE) together.add(tail);
    return tail.number === undefined && (tail.ids === undefined || together.has(tail));
  });
  const changing = open.filter(({ tail }) => tail.number !== undefined).slice(0, CHANGES_AT_ONCE);
  if (fresh.length === 0 && changing.length === 0) return [];
  // Records stay in the tail until `tell` has resolved.
  const told = fresh.length > 0 ? tell?.(fresh.map(({ event }) => event)) : undefined;
  const taking = deps.eventIndex.take({
    entries: fresh.map(({ event }) => entryOf(event)),
    // A record in the index but not in its recent part has left the tail, and cannot be added again.
    entryWrites: ({ key }) =>
      tails.get(key)?.ids === undefined
        ? [{ op: "check", table: eventTailTable, key: tailKey(key), when: [["pk", "exists"]] }]
        : [],
    writesEach: fresh.every(({ tail }) => tail.ids !== undefined) ? 0 : 1,
    changes: changing.map(({ tail }) => changeOf(tail)),
    writes: [...changing.map(({ tail }) => endOf(tail)), ...[...together].map(unchanged)],
    acknowledge: async (rows) => {
      await told;
      await acknowledgeTail(deps, rows.map(toSettle), tails);
    },
  });
  const [taken] = await Promise.all([taking, told]);
  // Undefined: another indexer did some of the work concurrently; the rest is computed again.
  if (taken === undefined) return wanted;
  const done = new Set([
    ...taken.filter(({ added }) => added).map(({ key }) => key),
    ...changing.map(({ event }) => event.event_id),
  ]);
  return open.map(({ event }) => event.event_id).filter((id) => !done.has(id));
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
  const unknown = new Set(ids.filter((id) => !known.has(id)).map((id) => places.get(id) ?? id));
  const fresh = await deps.tables.batchGet(
    eventTailTable,
    [...unknown].map((name) => tailKey(name)),
  );
  const found = new Map([...known, ...keyByEventId(fresh)]);
  const others = ids.filter((id) => !found.has(id));
  if (others.length === 0) return found;
  // A parked record may still be processed by a delayed message.
  const keys = others.flatMap((id) => [tailKey(id, "indexed"), tailKey(id, "parked")]);
  for (const item of await deps.tables.batchGet(eventTailTable, keys)) found.set(item.sk, item);
  return found;
}

function entryOf(event: StoredEvent): Entry {
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
