import * as z from "zod";
import { ApiError } from "../../errors.ts";
import { EVENT_HOPS_MAX } from "../../events/publish.ts";
import { derivedId } from "../../platform/ids.ts";
import { isTerminal } from "../engine/history.ts";
import { composeRun } from "../runs/create.ts";
import { requireManualStart } from "../runs/manual-trigger.ts";
import { requireRunBudget } from "../runs/run-budget.ts";
import { causeFields, readStart, type StartDeps, startBody } from "../runs/start.ts";
import { rootCauseOf, runKey, runsTable, type StoredRun } from "../runs/table.ts";
import type { CatalogReader } from "../store/catalog.ts";

const PLACE_MAX_CHARS = 4096;

/** A script's call to start a run: the fields of `POST /runs` that it may set, and the call's position. */
export const childQuery = startBody.pick({ module: true, flow: true, target: true, params: true }).extend({
  of: z.literal("new run"),
  /** Identifies the call; the same in every execution of its step. */
  place: z.string().min(1).max(PLACE_MAX_CHARS),
});

export type ChildDeps = StartDeps & { readonly catalog: CatalogReader };

/**
 * Starts a child run of `parent`, with the checks of a request and one hop more. Idempotent per `place`: returns the
 * existing run. Throws `bad_request`, `not_found`, `conflict`.
 */
export async function startChild(
  deps: ChildDeps,
  parent: StoredRun,
  { of: _of, place, ...body }: z.infer<typeof childQuery>,
): Promise<string> {
  const runId = derivedId("run", parent.run_id, place);
  const isThere = async () => (await deps.tables.get(runsTable, runKey(runId))) !== undefined;
  if (await isThere()) return runId;
  if (isTerminal(parent.status)) throw new ApiError("bad_request", "the run that asks is over");
  const hop = parent.hop + 1;
  if (hop > EVENT_HOPS_MAX)
    throw new ApiError("bad_request", `more than ${EVENT_HOPS_MAX} runs caused one another`);
  const { plan, workflow, targets, request } = await readStart(deps, body);
  await requireManualStart(deps, workflow);
  const [target = ""] = targets;
  const cause = { hop, root_cause: rootCauseOf(parent), run_id: parent.run_id };
  await requireRunBudget(deps, cause);
  const { commit, run } = await composeRun(deps, { ...request, ...causeFields(cause), runId, target }, plan);
  if (run.status === "failed") throw new ApiError("bad_request", `params: ${run.error_message}`);
  const outcome = await deps.outbox.commit(commit);
  if (!outcome.ok && !(await isThere()))
    throw new ApiError("conflict", "The run could not be created, try again");
  return runId;
}
