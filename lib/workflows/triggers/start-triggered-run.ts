import { ApiError } from "../../errors.ts";
import type { Match } from "../../events/log/table.ts";
import { composeEvents, type EventDraft, eventData } from "../../events/publish.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { type StoredSchedule, scheduleKey, schedulesTable } from "../store/trigger-tables.ts";
import { composeMatchedRun, type MatchedRunDeps, runIdOf } from "./matched-run.ts";

export type StartTriggeredRunDeps = MatchedRunDeps & Pick<Ports, "outbox">;

/** The result of a fired trigger. */
export interface TriggeredRun {
  readonly eventId: string;
  readonly runId: string;
  /** Runs of all matches of the event, the schedule's own first. */
  readonly workflows: readonly string[];
}

/**
 * Fires a trigger synchronously: the event, the schedule's count and the run are one transaction, so the run exists when
 * this returns. A run that fails at once is left to the event's dispatch. Undefined if a condition of `writes` failed or
 * the schedule was deleted. Throws `not_found` and `bad_request` as creating a run does.
 */
export async function startTriggeredRun(
  deps: StartTriggeredRunDeps,
  schedule: StoredSchedule,
  match: Match,
  draft: EventDraft,
  writes: readonly Write[] = [],
): Promise<TriggeredRun | undefined> {
  const events = await composeEvents(deps, [{ ...draft, also: [match] }]);
  const [record] = events.records;
  if (record === undefined) throw new Error("recording an event failed");
  if (record.matches.length === 0) {
    await deps.outbox.commit({ writes: [...events.writes], publish: [...events.publish] });
    throw new ApiError("bad_request", "The root cause has used its budget of runs (RUNS_PER_ROOT_CAUSE_MAX)");
  }
  const text = await eventData(deps, record);
  const { commit, run } = await composeMatchedRun(deps, record, match, text, schedule);
  const isStarted = run.status !== "failed";
  const outcome = await deps.outbox.commit({
    writes: [
      ...writes,
      fireCountWrite(schedule, deps.clock.now()),
      ...events.writes,
      ...(isStarted ? commit.writes : []),
    ],
    publish: [...events.publish, ...(isStarted ? (commit.publish ?? []) : [])],
    send: isStarted ? (commit.send ?? []) : [],
  });
  if (!outcome.ok) return undefined;
  return {
    eventId: record.event_id,
    runId: runIdOf(record.event_id, match),
    workflows: [...new Set(record.matches.map(({ workflow }) => workflow))],
  };
}

/** Counts a fire in the transaction of its event; the condition fails if the schedule was deleted. */
export function fireCountWrite(schedule: Pick<StoredSchedule, "schedule_id">, now: number) {
  return {
    op: "update",
    table: schedulesTable,
    key: scheduleKey(schedule.schedule_id),
    change: { set: { last_run: new Date(now).toISOString() }, add: { run_count: 1 } },
    when: [["pk", "exists"]],
  } as const;
}
