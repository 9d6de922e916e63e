import type { Ports } from "../../platform/ports.ts";
import { scheduleKey, schedulesTable } from "../store/trigger-tables.ts";

const WINDOW_MS = 60_000;
/** Triggers counted at once; beyond it all counts start over. */
const COUNTED_MAX = 10_000;

/** Limits how many runs a trigger starts per minute: stops loops that no other limit stops. */
export interface RateBreaker {
  /** False if the trigger reached its limit in this minute and must not fire. */
  take(scheduleId: string): Promise<boolean>;
  /** The message for a trigger that reached its limit. */
  readonly reason: string;
}

interface Count {
  since: number;
  fires: number;
}

/**
 * Counts the fires of each trigger per minute, in this process. A trigger over the limit is shown in its schedule and
 * logged once per window; it fires again in the next window.
 */
export function rateBreaker(
  deps: Pick<Ports, "tables" | "clock" | "log">,
  firesPerMinute: number,
): RateBreaker {
  const counts = new Map<string, Count>();
  const counted = (scheduleId: string, now: number): Count => {
    const known = counts.get(scheduleId);
    // A clock that was set back starts a new window as well.
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
  deps.log.error("paused a trigger that fires too often", { schedule: scheduleId, until });
  const change = { set: { breaker_open_until: until } };
  await deps.tables.update(schedulesTable, scheduleKey(scheduleId), change, [["pk", "exists"]]);
}
