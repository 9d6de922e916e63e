import type { BusEntry } from "../../platform/bus.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Condition, Write } from "../../platform/tables.ts";
import { EVENT_SOURCE, recordedEntry } from "../publish.ts";
import { readAll } from "../read-all.ts";
import {
  eventKey,
  eventLogTable,
  eventTailTable,
  type StoredEvent,
  type TailItem,
  type TailState,
  tailKey,
  tailPartitions,
  tailShards,
} from "./table.ts";

export const EVENT_PROCESSED = "event.processed";

/** The write that marks a record as processed. */
export function processedWrite(eventId: string, now: number): Write {
  return {
    op: "update",
    table: eventLogTable,
    key: eventKey(eventId),
    change: { set: { processed: true, processed_at: new Date(now).toISOString() } },
    when: [["pk", "exists"]],
  };
}

/** The bus entry that tells the index that a record was processed. */
export function processedEntry(eventId: string): BusEntry {
  return { source: EVENT_SOURCE, detailType: EVENT_PROCESSED, detail: { event_id: eventId } };
}

/** Maximum number of times that the sweep publishes one event again. */
const RESENDS_MAX = 20;
const RESEND_BACKOFF_MS = 60_000;
const TAIL_PAGE = 500;

/**
 * Publishes events again that were not indexed or processed in time. Each is claimed first by postponing its next
 * attempt, so that two sweeps never send the same event concurrently. An event that keeps failing is sent less and less
 * often and finally parked.
 */
export async function resendPending(
  deps: Pick<Ports, "tables" | "bus" | "clock" | "log">,
  max: number,
): Promise<number> {
  const now = new Date(deps.clock.now()).toISOString();
  const shards = tailShards(deps.tables);
  await moveParked(deps, shards);
  let sent = 0;
  for (const pk of [...tailPartitions("tail", shards), ...tailPartitions("indexed", shards)]) {
    let cursor: string | undefined;
    do {
      const page = await deps.tables.query(eventTailTable, {
        pk,
        limit: TAIL_PAGE,
        ...(cursor === undefined ? {} : { cursor }),
      });
      for (const found of page.items) {
        const item = await inItsPartition(deps, found, shards);
        if (item.resend_at > now || sent >= max) continue;
        if (await resend(deps, item)) sent += 1;
      }
      cursor = sent >= max ? undefined : page.cursor;
    } while (cursor !== undefined);
  }
  if (sent > 0) deps.log.warn("resent unprocessed events", { count: sent });
  return sent;
}

/** Moves the parked items that an earlier release wrote, so that a redrive finds them. */
async function moveParked(deps: Pick<Ports, "tables">, shards: number): Promise<void> {
  const earlier = tailPartitions("parked");
  if (earlier.length === shards) return;
  for (const pk of earlier)
    for (const item of await readAll(deps, eventTailTable, { pk })) await inItsPartition(deps, item, shards);
}

/** Moves an item that an earlier release, with fewer partitions, wrote. */
async function inItsPartition(
  { tables }: Pick<Ports, "tables">,
  item: TailItem,
  shards: number,
): Promise<TailItem> {
  const state = item.pk.slice(0, item.pk.indexOf("#")) as TailState;
  const moved: TailItem = { ...item, ...tailKey(item.sk, state, shards) };
  if (moved.pk === item.pk) return item;
  return (await moveItem(tables, item, moved, ["resend_at", "=", item.resend_at])) ? moved : item;
}

/** Replaces an item by one with another key. Returns false if the condition does not hold. */
async function moveItem(
  tables: Ports["tables"],
  { pk, sk }: TailItem,
  moved: TailItem,
  when: Condition,
): Promise<boolean> {
  const { ok } = await tables.write([
    { op: "delete", table: eventTailTable, key: { pk, sk }, when: [when] },
    { op: "put", table: eventTailTable, item: moved },
  ]);
  return ok;
}

async function resend(deps: Pick<Ports, "tables" | "bus" | "clock">, item: TailItem): Promise<boolean> {
  const event = await deps.tables.get(eventLogTable, eventKey(item.sk));
  if (event === undefined) {
    await deps.tables.write([{ op: "delete", table: eventTailTable, key: { pk: item.pk, sk: item.sk } }]);
    return false;
  }
  if (event.failed === true && item.number !== undefined) {
    await moveTail(deps, item.sk, "indexed", "parked");
    return false;
  }
  const resends = item.resends + 1;
  if (resends > RESENDS_MAX && item.number !== undefined) {
    await failEvent(deps, item.sk, "not processed: too many attempts failed");
    return false;
  }
  // One that has failed only has to be indexed: the next sweep then parks it.
  const backoff = event.failed === true ? 0 : RESEND_BACKOFF_MS * 2 ** Math.min(resends, 10);
  const next = new Date(deps.clock.now() + backoff).toISOString();
  const claimed = await deps.tables.update(
    eventTailTable,
    { pk: item.pk, sk: item.sk },
    { set: { resends, resend_at: next } },
    [["resend_at", "=", item.resend_at]],
  );
  if (claimed === undefined) return false;
  await deps.bus.publish(entriesFor(event));
  return true;
}

/** The bus entries to repeat for an event: all of it, or that it was processed. */
function entriesFor(event: StoredEvent): BusEntry[] {
  // A record that failed before it was indexed only has to be indexed.
  const recorded = recordedEntry(event.failed === true ? { ...event, matches: [] } : event);
  return event.processed && event.matches.length > 0 ? [processedEntry(event.event_id)] : [recorded];
}

/**
 * Records why an event could not be processed. If it is indexed, it leaves the sweep until it is redriven; otherwise
 * the sweep continues until it is indexed.
 */
export async function failEvent(deps: Pick<Ports, "tables">, eventId: string, error: string): Promise<void> {
  await deps.tables.update(eventLogTable, eventKey(eventId), { set: { error, failed: true } }, [
    ["processed", "=", false],
  ]);
  await moveTail(deps, eventId, "indexed", "parked");
}

/** Returns the event to the sweep. */
export async function reviveEvent(deps: Pick<Ports, "tables">, eventId: string): Promise<void> {
  await deps.tables.update(eventLogTable, eventKey(eventId), { set: { error: "" }, remove: ["failed"] }, [
    ["processed", "=", false],
  ]);
  await moveTail(deps, eventId, "parked", "indexed");
}

async function moveTail(
  deps: Pick<Ports, "tables">,
  eventId: string,
  from: TailState,
  to: TailState,
): Promise<void> {
  const shards = tailShards(deps.tables);
  const item = await deps.tables.get(eventTailTable, tailKey(eventId, from, shards));
  if (item === undefined) return;
  const moved: TailItem = { ...item, ...tailKey(eventId, to, shards), resends: 0 };
  await moveItem(deps.tables, item, moved, ["pk", "exists"]);
}
