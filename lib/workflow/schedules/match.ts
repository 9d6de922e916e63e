import type { Match } from "../../events/log/table.ts";
import type { StoredSchedule } from "./table.ts";

/** What dispatch starts when a trigger is fired by something else than an event. */
export function matchOf(
  schedule: Pick<StoredSchedule, "schedule_id" | "workflow" | "trigger" | "origin">,
  revision: number,
  type: NonNullable<Match["type"]>,
): Match {
  return {
    workflow: schedule.workflow,
    trigger: schedule.trigger,
    revision,
    type,
    ...(schedule.origin === "api" ? { schedule: schedule.schedule_id } : {}),
  };
}
