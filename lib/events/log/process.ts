import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { recordedEntry } from "../publish.ts";
import { eventKey, eventLogTable, type StoredEvent } from "./table.ts";

/** The write that marks a record as processed. */
export function processedWrite(eventId: string, now: number): Write {
  return {
    op: "update",
    table: eventLogTable,
    key: eventKey(eventId),
    change: { set: { processed: true, processed_at: new Date(now).toISOString() }, remove: ["pending", "resend_at"] },
    when: [["pk", "exists"]],
  };
}

/** Times that the sweep puts one event on the bus again at most. */
const RESENDS_MAX = 20;
const RESEND_BACKOFF_MS = 60_000;
const SWEEP_PAGE = 100;

/**
 * Puts events on the bus again that nobody processed in time. Each is claimed first by moving its time on,
 * so two sweeps never send the same one at once, and one that never works is sent ever more rarely.
 */
export async function resendPending(
  deps: Pick<Ports, "tables" | "bus" | "clock" | "log">,
  max: number,
): Promise<number> {
  const now = deps.clock.now();
  const due = await deps.tables.query(eventLogTable, {
    index: "pending",
    pk: "1",
    sk: { to: new Date(now).toISOString() },
    limit: Math.min(max, SWEEP_PAGE),
  });
  let sent = 0;
  for (const event of due.items) {
    if (!(await claim(deps, event, now))) continue;
    await deps.bus.publish([recordedEntry(event)]);
    sent += 1;
  }
  if (sent > 0) deps.log.warn("unprocessed events sent again", { count: sent });
  return sent;
}

async function claim(deps: Pick<Ports, "tables">, event: StoredEvent, now: number): Promise<boolean> {
  const resends = (event.resends ?? 0) + 1;
  const next = new Date(now + RESEND_BACKOFF_MS * 2 ** Math.min(resends, 10)).toISOString();
  const giveUp = resends > RESENDS_MAX;
  const claimed = await deps.tables.update(
    eventLogTable,
    eventKey(event.event_id),
    giveUp
      ? { set: { error: "not processed: gave up after many attempts" }, remove: ["pending", "resend_at"] }
      : { set: { resends, resend_at: next } },
    [["resend_at", "=", event.resend_at ?? ""]],
  );
  return claimed !== undefined && !giveUp;
}

/** Notes why an event could not be processed; it leaves the sweep until it is redriven. */
export async function failEvent(deps: Pick<Ports, "tables">, eventId: string, error: string): Promise<void> {
  await deps.tables.update(eventLogTable, eventKey(eventId), { set: { error }, remove: ["pending", "resend_at"] }, [
    ["processed", "=", false],
  ]);
}
