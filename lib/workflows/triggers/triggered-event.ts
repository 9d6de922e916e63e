import type { Match } from "../../events/log/table.ts";
import type { EventDraft } from "../../events/publish.ts";
import type { TopicData } from "../../events/topics.ts";
import type { StoredSchedule } from "../store/trigger-tables.ts";

/** The match of a trigger that was not fired by an event. */
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

/** The `schedule.triggered` event of a trigger that was not fired by an event. Seed: workflow 6. */
export function scheduleTriggeredDraft(
  schedule: Pick<StoredSchedule, "schedule_id" | "workflow" | "trigger">,
  data: Omit<TopicData<"schedule.triggered">, "schedule_id">,
): EventDraft {
  const { schedule_id, trigger, workflow } = schedule;
  return {
    topic: "schedule.triggered",
    name: `${trigger}-triggered`,
    source: "scheduler",
    data_type: "schedule",
    workflow_name: workflow,
    data: { schedule_id, ...data },
  };
}
