import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import type { Entry } from "../../ranked-index/draft.ts";
import type { FieldChange, RankedIndex } from "../../ranked-index/ranked-index.ts";
import {
  eventKey,
  eventLogTable,
  eventTailTable,
  type StoredEvent,
  type TailItem,
  tailKey,
} from "./table.ts";

/** Fields that the log may be filtered by, besides `processed`. Seed: workflow 4. */
export const INDEXED_FIELDS = ["topic", "name", "source", "workspace", "run_id", "workflow_name"] as const;
/** The one value of `processed` that is kept: all others are processed. */
export const UNPROCESSED = { field: "processed", value: "false" } as const;

/** Changes of records taken into the index in one transaction, each with two writes. */
const CHANGES_AT_ONCE = 30;
const TRIES_MAX = 20;

export type IndexDeps = Pick<Ports, "tables"> & { readonly eventIndex: RankedIndex };

/**
 * Brings records into the index, numbered oldest first, and what changed of those that are in it.
 * One that is there in its final form already is passed over, however often it comes.
 */
export async function indexEvents(deps: IndexDeps, eventIds: readonly string[]): Promise<void> {
  let ids = [...new Set(eventIds)].sort();
  for (let attempt = 0; attempt < TRIES_MAX && ids.length > 0; attempt += 1) ids = await indexSome(deps, ids);
  if (ids.length > 0) throw new Error("the event log's index is contended");
}

interface Pending {
  readonly event: StoredEvent;
  readonly tail: TailItem;
}

/** Answers the ids that are still to be done. */
async function indexSome(deps: IndexDeps, ids: readonly string[]): Promise<string[]> {
  // A record that was parked may be processed all the same, by a message that was slow.
  const keys = ids.flatMap((id) => [tailKey(id), tailKey(id, "parked")]);
  const tails = new Map((await deps.tables.batchGet(eventTailTable, keys)).map((item) => [item.sk, item]));
  const wanted = ids.filter((id) => tails.has(id));
  if (wanted.length === 0) return [];
  const events = await deps.tables.batchGet(eventLogTable, wanted.map(eventKey));
  const pending = events.flatMap((event): Pending[] => {
    const tail = tails.get(event.event_id);
    return tail === undefined ? [] : [{ event, tail }];
  });
  const fresh = pending.filter(({ tail }) => tail.number === undefined);
  const changed = pending
    .filter(({ event, tail }) => tail.number !== undefined && event.processed)
    .slice(0, CHANGES_AT_ONCE);
  if (fresh.length === 0 && changed.length === 0) return [];
  const byKey = new Map(fresh.map(({ event }) => [event.event_id, event]));
  const taken = await deps.eventIndex.take({
    entries: fresh.map(({ event }) => entryOf(event)),
    entryWrites: ({ key }, number) => [numberedWrite(byKey.get(key), key, number)],
    writesEach: 1,
    changes: changed.map(({ tail }) => changeOf(tail)),
    writes: changed.map(({ tail }) => ({
      op: "delete",
      table: eventTailTable,
      key: { pk: tail.pk, sk: tail.sk },
      when: [["number", "exists"]],
    })),
  });
  // Undefined: another indexer did some of it meanwhile, and what is left is found anew.
  const done = new Set([
    ...fresh.slice(0, taken?.length ?? 0).map(({ event }) => event.event_id),
    ...(taken === undefined ? [] : changed.map(({ event }) => event.event_id)),
  ]);
  return pending
    .map(({ event }) => event.event_id)
    .filter((id) => !done.has(id) && (byKey.has(id) || changedLater(pending, id)));
}

function changedLater(pending: readonly Pending[], id: string): boolean {
  return pending.some(
    ({ event, tail }) => event.event_id === id && tail.number !== undefined && event.processed,
  );
}

function entryOf(event: StoredEvent): Entry {
  const fields: Record<string, string> = {};
  for (const field of INDEXED_FIELDS) if (event[field] !== "") fields[field] = event[field];
  if (!event.processed) fields[UNPROCESSED.field] = UNPROCESSED.value;
  return { key: event.event_id, fields };
}

/** A record in its final form leaves the tail; one that waits to be processed stays there with its number. */
function numberedWrite(event: StoredEvent | undefined, eventId: string, number: number): Write {
  const key = tailKey(eventId);
  const when = [
    ["pk", "exists"],
    ["number", "missing"],
  ] as const;
  return event?.processed === true
    ? { op: "delete", table: eventTailTable, key, when }
    : { op: "update", table: eventTailTable, key, change: { set: { number } }, when };
}

function changeOf(tail: TailItem): FieldChange {
  return { number: tail.number ?? 0, before: { [UNPROCESSED.field]: UNPROCESSED.value }, after: {} };
}
