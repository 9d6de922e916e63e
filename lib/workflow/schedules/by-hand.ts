import * as z from "zod";
import { ApiError } from "../../errors.ts";
import { composeEvents, type EventDeps } from "../../events/publish.ts";
import type { TopicData } from "../../events/topics.ts";
import { derivedId } from "../../platform/ids.ts";
import type { Ports } from "../../platform/ports.ts";
import { findWorkflow } from "../definitions/store.ts";
import { refuseLoop } from "../triggers/hops.ts";
import { findSchedule } from "./manage.ts";
import { matchOf } from "./match.ts";
import { type StoredSchedule, scheduleKey, schedulesTable } from "./table.ts";

/** Answer of `POST /schedules/{id}/trigger`. Reference 1.5. */
export const triggeredAnswer = z
  .object({
    message: z.string(),
    schedule: z.string(),
    workflow: z.string(),
    event_id: z.string(),
    run_id: z.string(),
  })
  .meta({ id: "TriggeredSchedule" });

/**
 * Fires a schedule now, whether it is enabled or not; its next slot stays. Throws `not_found`, and `bad_request` where
 * its workflow is gone, or where too many runs led to this one (`hop`).
 */
export async function triggerByHand(
  deps: EventDeps & Pick<Ports, "tables">,
  id: string,
  hop = 0,
): Promise<z.infer<typeof triggeredAnswer>> {
  const schedule = await findSchedule(deps, id);
  refuseLoop(hop);
  const { revision } = await findWorkflow(deps, schedule.workflow);
  const match = matchOf(schedule, revision, "manual");
  const data: TopicData<"schedule.triggered"> = {
    schedule_id: schedule.schedule_id,
    trigger_type: "manual",
    schedule: schedule.expression,
  };
  const { writes, publish, records } = await composeEvents(deps, [
    {
      topic: "schedule.triggered",
      name: `${schedule.trigger}-triggered`,
      source: "api",
      data_type: "schedule",
      workflow_name: schedule.workflow,
      data,
      hop,
      also: [match],
    },
  ]);
  const count = countedFire(schedule, deps.clock.now());
  const outcome = await deps.outbox.commit({ writes: [count, ...writes], publish });
  if (!outcome.ok) throw new ApiError("conflict", "The schedule was changed meanwhile, try again");
  const eventId = records[0]?.event_id ?? "";
  return {
    message: "Schedule triggered",
    schedule: schedule.trigger,
    workflow: schedule.workflow,
    event_id: `evt_${eventId}`,
    run_id: derivedId("run", eventId, match.workflow, match.schedule ?? match.trigger),
  };
}

/** Counts a fire in the transaction of its event; the condition fails where the schedule is gone. */
export function countedFire(schedule: StoredSchedule, now: number) {
  return {
    op: "update",
    table: schedulesTable,
    key: scheduleKey(schedule.schedule_id),
    change: { set: { last_run: new Date(now).toISOString() }, add: { run_count: 1 } },
    when: [["pk", "exists"]],
  } as const;
}
