import * as z from "zod";
import { ApiError } from "../../errors.ts";
import type { Cause } from "../../events/publish.ts";
import { requireHopLimit } from "../installation/hop-tokens.ts";
import { findWorkflow } from "../store/find-workflow.ts";
import { type StartTriggeredRunDeps, startTriggeredRun } from "../triggers/start-triggered-run.ts";
import { matchOf, scheduleTriggeredDraft } from "../triggers/triggered-event.ts";
import { findSchedule } from "./manage.ts";

/** Response of `POST /schedules/{id}/trigger`. Reference 1.5. */
export const triggerResponse = z
  .object({
    message: z.string(),
    schedule: z.string(),
    workflow: z.string(),
    event_id: z.string(),
    run_id: z.string(),
  })
  .meta({ id: "TriggeredSchedule" });

/**
 * Fires a schedule now, enabled or not; its next slot stays. Throws `not_found`, and `bad_request` if its workflow was
 * deleted or `cause` has too many hops.
 */
export async function triggerSchedule(
  deps: StartTriggeredRunDeps,
  id: string,
  cause: Cause = {},
): Promise<z.infer<typeof triggerResponse>> {
  const schedule = await findSchedule(deps, id);
  requireHopLimit(cause.hop ?? 0);
  const { revision } = await findWorkflow(deps, schedule.workflow);
  const match = matchOf(schedule, revision, "manual");
  const data = { trigger_type: "manual", schedule: schedule.expression } as const;
  const fired = await startTriggeredRun(deps, schedule, match, {
    ...scheduleTriggeredDraft(schedule, data),
    ...cause,
  });
  if (fired === undefined) throw new ApiError("conflict", "The schedule was changed concurrently, try again");
  return {
    message: "Schedule triggered",
    schedule: schedule.trigger,
    workflow: schedule.workflow,
    event_id: `evt_${fired.eventId}`,
    run_id: fired.runId,
  };
}
