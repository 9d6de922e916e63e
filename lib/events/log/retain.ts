import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { clearOldest } from "../../ranked-index/clear-oldest.ts";
import type { RankedIndex } from "../../ranked-index/ranked-index.ts";
import type { Retention } from "../../settings/config.ts";
import {
  EVENT_INDEX,
  eventKey,
  eventLogTable,
  eventTailTable,
  type StoredEvent,
  tailKey,
  tailShards,
} from "./table.ts";

/** Maximum number of records removed per sweep. */
const REMOVED_MAX = 5_000;
/** Writes per transaction. */
const WRITES_AT_ONCE = 100;

export type RetainEventsDeps = Pick<Ports, "tables" | "blobs" | "clock" | "log"> & {
  readonly eventIndex: RankedIndex;
  readonly retention: Retention;
};

/**
 * Removes the records of the log that exceed the retention setting, oldest first. Stops at the first record that is
 * still unprocessed. Numbers are not reused. Returns the number of removed records.
 */
export async function retainEvents(deps: RetainEventsDeps): Promise<number> {
  const { eventsMs } = deps.retention;
  if (eventsMs === undefined) return 0;
  const before = new Date(deps.clock.now() - eventsMs).toISOString();
  const clearing = {
    name: EVENT_INDEX,
    index: deps.eventIndex,
    judge: async (ids: readonly string[]) => {
      const events = await eventsOf(deps, ids);
      const stays = ids.findIndex((id) => {
        const event = events.get(id);
        return event !== undefined && !isDue(event, before);
      });
      return { count: stays < 0 ? ids.length : stays };
    },
    remove: (ids: readonly string[]) => removeEvents(deps, ids),
  };
  const removed = await clearOldest(deps, clearing, REMOVED_MAX);
  if (removed > 0) deps.log.info("removed expired events", { count: removed });
  return removed;
}

/** A record that failed for good is not pending. */
const isDue = ({ created_at, processed, error }: StoredEvent, before: string): boolean =>
  created_at < before && (processed || error !== "");

async function eventsOf(
  deps: Pick<Ports, "tables">,
  ids: readonly string[],
): Promise<Map<string, StoredEvent>> {
  const events = await deps.tables.batchGet(eventLogTable, ids.map(eventKey));
  return new Map(events.map((event) => [event.event_id, event]));
}

/** Deletes blobs first: after a crash, the records still list the remaining ones. */
async function removeEvents(deps: Pick<Ports, "tables" | "blobs">, ids: readonly string[]): Promise<void> {
  const events = [...(await eventsOf(deps, ids)).values()];
  const blobs = events.flatMap(({ data_blob }) => data_blob ?? []);
  if (blobs.length > 0) await deps.blobs.delete(blobs);
  const shards = tailShards(deps.tables);
  const writes = events.flatMap(({ event_id, processed }): Write[] => [
    { op: "delete", table: eventLogTable, key: eventKey(event_id) },
    ...(processed
      ? []
      : [{ op: "delete", table: eventTailTable, key: tailKey(event_id, "parked", shards) } satisfies Write]),
  ]);
  for (let start = 0; start < writes.length; start += WRITES_AT_ONCE)
    await deps.tables.write(writes.slice(start, start + WRITES_AT_ONCE));
}
