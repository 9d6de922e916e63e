import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { eventKey, eventLogTable, eventNumbersTable, NUMBER_COUNTER_KEY } from "./table.ts";

/** Records numbered in one transaction at most: one write each, and the counter's. */
const NUMBERED_AT_ONCE = 90;
const TRIES_MAX = 20;

/**
 * Gives records their numbers, in the order handed in. A record that has one keeps it; two indexers at the
 * same time take turns by the counter's condition.
 */
export async function numberEvents(deps: Pick<Ports, "tables">, eventIds: readonly string[]): Promise<void> {
  const unique = [...new Set(eventIds)];
  for (let start = 0; start < unique.length; start += NUMBERED_AT_ONCE) {
    await numberChunk(deps, unique.slice(start, start + NUMBERED_AT_ONCE));
  }
}

async function numberChunk(deps: Pick<Ports, "tables">, eventIds: readonly string[]): Promise<void> {
  for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
    const events = await deps.tables.batchGet(eventLogTable, eventIds.map(eventKey));
    const open = events.filter((event) => event.number === undefined);
    if (open.length === 0) return;
    const last = (await deps.tables.get(eventNumbersTable, NUMBER_COUNTER_KEY))?.last;
    const writes: Write[] = [
      {
        op: "update",
        table: eventNumbersTable,
        key: NUMBER_COUNTER_KEY,
        change: { set: { last: (last ?? 0) + open.length } },
        when: [last === undefined ? ["last", "missing"] : ["last", "=", last]],
      },
      ...open.map(
        (event, index): Write => ({
          op: "update",
          table: eventLogTable,
          key: eventKey(event.event_id),
          change: { set: { number: (last ?? 0) + index + 1 } },
          when: [["number", "missing"], ["pk", "exists"]],
        }),
      ),
    ];
    if ((await deps.tables.write(writes)).ok) return;
  }
  throw new Error("the event log's counter is contended");
}
