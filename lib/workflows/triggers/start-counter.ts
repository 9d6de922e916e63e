import type { RecordCounter } from "../../events/log/index-events.ts";
import type { IndexableEvent } from "../../events/log/recent-events.ts";
import type { Match } from "../../events/log/table.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { scheduleKey, schedulesTable } from "../store/trigger-tables.ts";
import { scheduleIdOf } from "./matched-run.ts";

/** Matches of an event that are counted with its addition to the index, which has room for few writes. */
const COUNTED_MAX = 20;

/**
 * Whether the indexer counts the starts of an event's triggers. Those of others are counted with each run, as are those
 * that fire only if their run claims a key.
 */
export const isCountedWithIndex = ({ matches }: Pick<IndexableEvent, "matches">): boolean =>
  matches.length <= COUNTED_MAX && matches.every(({ claim }) => claim === undefined);

/** Fires of other types are counted in the transactions of their events. */
export const isCounted = ({ type }: Match): boolean => type === undefined;

/**
 * Counts how often triggers have fired, in the transactions that add their events to the index: with each run, all runs
 * of a trigger would write the same item.
 */
export function startCounter({ tables }: Pick<Ports, "tables">): RecordCounter {
  return {
    keysOf: schedulesOf,
    keysMax: COUNTED_MAX,
    prepare: async (events) => {
      const ids = [...new Set(events.flatMap(schedulesOf))];
      // Those of triggers and schedules that still exist.
      const rows = await tables.batchGet(schedulesTable, ids.map(scheduleKey));
      const existing = new Set(rows.map(({ schedule_id }) => schedule_id));
      return (added) => {
        const bySchedule = new Map<string, IndexableEvent[]>();
        for (const event of added)
          for (const id of schedulesOf(event)) bySchedule.set(id, [...(bySchedule.get(id) ?? []), event]);
        return [...bySchedule].filter(([id]) => existing.has(id)).map(([id, fired]) => countWrite(id, fired));
      };
    },
  };
}

/** One id for each fire. */
function schedulesOf(event: IndexableEvent): string[] {
  return isCountedWithIndex(event) ? event.matches.filter(isCounted).map(scheduleIdOf) : [];
}

/** Counts fires of a schedule. The condition fails if the schedule was deleted. */
export function countWrite(scheduleId: string, fired: readonly Pick<IndexableEvent, "created_at">[]): Write {
  const times = fired.map(({ created_at }) => created_at).sort();
  return {
    op: "update",
    table: schedulesTable,
    key: scheduleKey(scheduleId),
    change: { set: { last_run: times.at(-1) ?? null }, add: { run_count: fired.length } },
    when: [["pk", "exists"]],
  };
}
