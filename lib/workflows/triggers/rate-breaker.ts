import type { Ports } from "../../platform/ports.ts";
import { scheduleKey, schedulesTable } from "../store/trigger-tables.ts";

const WINDOW_MS = 60_000;
/** Triggers that are counted at once; beyond it all are counted anew. */
const COUNTED_MAX = 10_000;

/** Keeps a trigger from starting more runs in a minute than any purpose needs: a loop that nothing else cuts. */
export interface RateBreaker {
  /** False where the trigger has fired too often in this minute: it is not to start anything. */
  take(scheduleId: string): Promise<boolean>;
  /** Said where one was not to start anything. */
  readonly reason: string;
}

interface Count {
  since: number;
  fires: number;
}

/**
 * Counts the fires of each trigger in windows of a minute, in this process. A trigger that is over the limit is shown
 * with its schedule and told in the log once a window; with the next window it fires again.
 */
export function rateBreaker(
  deps: Pick<Ports, "tables" | "clock" | "log">,
  firesPerMinute: number,
): RateBreaker {
  const counts = new Map<string, Count>();
  const counted = (scheduleId: string, now: number): Count => {
    const known = counts.get(scheduleId);
    // A clock that was put back begins a window as well.
    if (known !== undefined && now >= known.since && now < known.since + WINDOW_MS) return known;
    if (counts.size >= COUNTED_MAX) counts.clear();
    const count = { since: now, fires: 0 };
    counts.set(scheduleId, count);
    return count;
  };
  return {
    reason: `fired more than ${firesPerMinute} times in a minute`,
    take: async (scheduleId) => {
      const count = counted(scheduleId, deps.clock.now());
      count.fires += 1;
      if (count.fires <= firesPerMinute) return true;
      if (count.fires === firesPerMinute + 1) await open(deps, scheduleId, count.since + WINDOW_MS);
      return false;
    },
  };
}

async function open(deps: Pick<Ports, "tables" | "log">, scheduleId: string, untilMs: number): Promise<void> {
  const until = new Date(untilMs).toISOString();
  deps.log.error("trigger cut: it fires too often", { schedule: scheduleId, until });
  const change = { set: { breaker_open_until: until } };
  await deps.tables.update(schedulesTable, scheduleKey(scheduleId), change, [["pk", "exists"]]);
}
