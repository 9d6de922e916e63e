import { ApiError } from "../../errors.ts";
import { type ConductDeps, conduct, endSteps } from "./conduct.ts";
import { mayDo } from "./moves.ts";
import { getRun } from "./read.ts";
import type { StoredRun } from "./table.ts";

/**
 * Cancels a run for good. Executors see it within half a second and end the processes of its steps. Throws
 * `not_found`, and `bad_request` for a run that is over.
 */
export async function cancelRun(deps: ConductDeps, idOrNumber: string): Promise<StoredRun> {
  const run = await getRun(deps, idOrNumber);
  if (!mayDo("cancel", run.status)) {
    await endSteps(deps, run);
    throw new ApiError("bad_request", `Cannot cancel run with status '${run.status}'`);
  }
  const after = await conduct(deps, {
    run_id: run.run_id,
    input: { type: "cancel", reason: "cancelled by the user" },
  });
  if (after === undefined) throw new ApiError("not_found", "Run not found");
  if (after.status !== "cancelled")
    throw new ApiError("bad_request", `Cannot cancel run with status '${after.status}'`);
  return after;
}
