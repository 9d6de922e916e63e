import * as z from "zod";
import { ApiError } from "../../errors.ts";
import type { ListDeps } from "../lists/list.ts";
import { forEachRun, runIds, runResult } from "./bulk.ts";
import { type ConductDeps, conduct, endSteps } from "./conduct.ts";
import { getRun } from "./read.ts";
import type { RunBudget } from "./run-budget.ts";
import { findUnfinishedRuns } from "./run-list.ts";
import { isActionAllowed } from "./status-transitions.ts";
import { rootCauseOf, type StoredRun } from "./table.ts";

/** Maximum number of runs that one request cancels, and how many it cancels concurrently. */
const CANCELLED_MAX = 1_000;
const CANCELLED_AT_ONCE = 8;
/**
 * A request stops cancelling after this time, milliseconds; the response counts the remaining runs.
 */
const CANCELLING_MS = 20_000;
const FILTER_MAX_LENGTH = 512;

const filter = z.string().min(1, "must not be empty").max(FILTER_MAX_LENGTH).optional();

/** Body of `POST /runs/cancel`: the runs, or filters, all of which a run must match. */
export const cancelBody = z
  .object({
    ids: runIds.optional().describe("Runs by their ids or numbers, instead of filters"),
    root_cause: filter.describe(
      "Root cause of the runs to cancel, an id of an event or run; it also starts no further runs",
    ),
    workflow: filter.describe("Name of the workflow"),
    trigger: filter.describe("Name of the trigger of the runs to cancel"),
  })
  .refine(
    (body) => Object.values(body).some((value) => value !== undefined),
    "ids, or at least one of root_cause, workflow and trigger, is required",
  )
  .refine(
    ({ ids, ...filters }) =>
      ids === undefined || Object.values(filters).every((value) => value === undefined),
    {
      path: ["ids"],
      message: "cannot be combined with root_cause, workflow or trigger",
    },
  );

export const cancelResponse = z
  .object({
    message: z.string(),
    cancelled: z.int(),
    remaining: z.int().describe("Number of matching runs that are not cancelled yet: repeat the request"),
    run_ids: z.array(z.string()).describe("Ids of the cancelled runs"),
    results: z.array(runResult).optional().describe("The result for each run of a request with ids"),
  })
  .meta({ id: "CancelledRuns" });

/** Cancels runs by their ids, or the unfinished ones that match the filters. */
export async function cancelRuns(
  deps: ConductDeps & ListDeps & { readonly runBudget: RunBudget },
  { ids, root_cause, workflow, trigger }: z.infer<typeof cancelBody>,
): Promise<z.infer<typeof cancelResponse>> {
  if (ids !== undefined) return cancelNamed(deps, ids);
  const began = deps.clock.now();
  // Closing the budget first prevents active runs from starting further runs while they are cancelled.
  if (root_cause !== undefined) await deps.runBudget.close(root_cause);
  const { runs } = await findUnfinishedRuns(deps);
  const fitting = runs.filter(
    (run) =>
      isActionAllowed("cancel", run.status) &&
      (root_cause === undefined || rootCauseOf(run) === root_cause) &&
      (workflow === undefined || run.workflow_name === workflow) &&
      (trigger === undefined || run.trigger_name === trigger),
  );
  const run_ids: string[] = [];
  let left = fitting.length;
  const next = fitting.slice(0, CANCELLED_MAX).values();
  const work = async (): Promise<void> => {
    for (const { run_id } of next) {
      const input = { type: "cancel", reason: "cancelled by the user" } as const;
      const after = await conduct(deps, { run_id, input });
      left -= 1;
      if (after?.status === "cancelled") run_ids.push(run_id);
      if (deps.clock.now() - began > CANCELLING_MS) return;
    }
  };
  await Promise.all(Array.from({ length: CANCELLED_AT_ONCE }, work));
  return { message: "Runs cancelled", cancelled: run_ids.length, remaining: left, run_ids };
}

async function cancelNamed(
  deps: ConductDeps,
  ids: readonly string[],
): Promise<z.infer<typeof cancelResponse>> {
  const results = await forEachRun(deps, ids, async (id) => (await cancelRun(deps, id)).run_id);
  const run_ids = results.flatMap(({ ok, run_id }) => (ok ? [run_id] : []));
  return { message: "Runs cancelled", cancelled: run_ids.length, remaining: 0, run_ids, results };
}

/**
 * Cancels a run permanently. Executors notice within half a second and end the processes of its steps. Throws
 * `not_found`, and `bad_request` for a finished run.
 */
export async function cancelRun(deps: ConductDeps, idOrNumber: string): Promise<StoredRun> {
  const run = await getRun(deps, idOrNumber);
  if (!isActionAllowed("cancel", run.status)) {
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
