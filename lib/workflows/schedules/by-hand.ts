import * as z from "zod";
import { ApiError } from "../../errors.ts";
import type { Cause } from "../../events/publish.ts";
import { refuseLoop } from "../installation/hop-tokens.ts";
import { findWorkflow } from "../store/find.ts";
import { type FireNowDeps, fireNow } from "../triggers/fire-now.ts";
import { matchOf, triggeredDraft } from "../triggers/triggered-event.ts";
import { findSchedule } from "./manage.ts";

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
 * its workflow is gone, or where too many runs led to this one (`cause`).
 */
export async function triggerByHand(
  deps: FireNowDeps,
  id: string,
  cause: Cause = {},
): Promise<z.infer<typeof triggeredAnswer>> {
  const schedule = await findSchedule(deps, id);
  refuseLoop(cause.hop ?? 0);
  const { revision } = await findWorkflow(deps, schedule.workflow);
  const match = matchOf(schedule, revision, "manual");
  const data = { trigger_type: "manual", schedule: schedule.expression } as const;
  const fired = await fireNow(deps, schedule, match, {
    ...triggeredDraft(schedule, data),
    ...cause,
  });
  if (fired === undefined) throw new ApiError("conflict", "The schedule was changed meanwhile, try again");
  return {
    message: "Schedule triggered",
    schedule: schedule.trigger,
    workflow: schedule.workflow,
    event_id: `evt_${fired.eventId}`,
    run_id: fired.runId,
  };
}
