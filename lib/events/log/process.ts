import type { BusEntry } from "../../platform/bus.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { EVENT_SOURCE, recordedEntry } from "../publish.ts";
import {
  eventKey,
  eventLogTable,
  eventTailTable,
  type StoredEvent,
  type TailItem,
  type TailState,
  tailKey,
  tailPartitions,
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
  let sent = 0;
  for (const pk of [...tailPartitions("tail"), ...tailPartitions("indexed")]) {
    let cursor: string | undefined;
    do {
      const page = await deps.tables.query(eventTailTable, {
        pk,
        limit: TAIL_PAGE,
        ...(cursor === undefined ? {} : { cursor }),
      });
      for (const item of page.items) {
        if (item.resend_at > now || sent >= max) continue;
        if (await resend(deps, item)) sent += 1;
      }
      cursor = sent >= max ? undefined : page.cursor;
    } while (cursor !== undefined);
  }
  if (sent > 0) deps.log.warn("resent unprocessed events", { count: sent });
  return sent;
}

async function resend(deps: Pick<Ports, "tables" | "bus" | "clock">, item: TailItem): Promise<boolean> {
  const event = await deps.tables.get(eventLogTable, eventKey(item.sk));
  if (event === undefined) {
    await deps.tables.write([{ op: "delete", table: eventTailTable, key: { pk: item.pk, sk: item.sk } }]);
    return false;
  }
  const resends = item.resends + 1;
  if (resends > RESENDS_MAX && item.number !== undefined) {
    await failEvent(deps, item.sk, "not processed: too many attempts failed");
    return false;
  }
  const next = new Date(deps.clock.now() + RESEND_BACKOFF_MS * 2 ** Math.min(resends, 10)).toISOString();
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
  const recorded = recordedEntry(event);
  return event.processed && event.matches.length > 0 ? [processedEntry(event.event_id)] : [recorded];
}

/**
 * Records why an event could not be processed. If it is indexed, it leaves the sweep until it is redriven; otherwise
 * the sweep continues until it is indexed.
 */
export async function failEvent(deps: Pick<Ports, "tables">, eventId: string, error: string): Promise<void> {
  await deps.tables.update(eventLogTable, eventKey(eventId), { set: { error } }, [["processed", "=", false]]);
  await moveTail(deps, eventId, "indexed", "parked");
}

/** Returns the event to the sweep. */
export async function reviveEvent(deps: Pick<Ports, "tables">, eventId: string): Promise<void> {
  await deps.tables.update(eventLogTable, eventKey(eventId), { set: { error: "" } }, [
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
  const item = await deps.tables.get(eventTailTable, tailKey(eventId, from));
  if (item === undefined) return;
  const moved: TailItem = { ...item, ...tailKey(eventId, to), resends: 0 };
  await deps.tables.write([
    {
      op: "delete",
      table: eventTailTable,
      key: tailKey(eventId, from),
      when: [["pk", "exists"]],
    },
    { op: "put", table: eventTailTable, item: moved },
  ]);
}
