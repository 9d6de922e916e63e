import * as z from "zod";
import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import { CONFLICT, retryOnConflict } from "../../retry-on-conflict.ts";
import { CONDUCT_QUEUE } from "../steps/messages.ts";
import { BASE_VALUES, type BaseValues, openValue } from "../values/stored-values.ts";
import { valueKey, valuesTable } from "../values/table.ts";
import { repeatedStart } from "./admission.ts";
import { forEachRun, runIds, runResult } from "./bulk.ts";
import { composeRun, type RunRequest } from "./create.ts";
import { getRun } from "./read.ts";
import { paramsBody, type StartDeps } from "./start.ts";
import { isActionAllowed } from "./status-transitions.ts";
import { type RunSource, runsTable, type StoredRun } from "./table.ts";

export const rerunResponse = z
  .object({
    message: z.string(),
    original_run_uuid: z.string(),
    original_run_id: z.string(),
    run_uuid: z.string(),
    run_id: z.string(),
    new_run_uuid: z.string(),
    id: z.int(),
    workflow: z.string(),
    kind: z.enum(["module", "flow"]),
    target: z.string(),
    job_id: z.string(),
    status: z.string(),
    poll_url: z.string(),
  })
  .meta({ id: "RunMadeAgain" });

export function toRerunResponse(
  message: string,
  original: StoredRun,
  run: StoredRun,
  status: string,
): z.infer<typeof rerunResponse> {
  return {
    message,
    original_run_uuid: original.run_id,
    original_run_id: original.run_id,
    run_uuid: run.run_id,
    run_id: run.run_id,
    new_run_uuid: run.run_id,
    id: run.number,
    workflow: run.workflow_name,
    kind: run.workflow_kind,
    target: run.target,
    job_id: run.run_group_id,
    status,
    poll_url: `/automation/jobs/${run.run_group_id}`,
  };
}

export const rerunBody = z.object({
  params: paramsBody.optional().describe("Override the params of the run with the same names"),
});

export const rerunManyBody = rerunBody.extend({ ids: runIds.describe("Runs by their ids or numbers") });

export const rerunManyResponse = z
  .object({ message: z.string(), started: z.int(), results: z.array(runResult) })
  .meta({ id: "RunsMadeAgain" });

export interface RerunRequest {
  readonly original: StoredRun;
  readonly run: StoredRun;
}

/**
 * Creates a copy of a run from the current revision of its workflow; it stays `pending` until it is started. Throws
 * `not_found` and `bad_request`.
 */
export function duplicateRun(deps: StartDeps, idOrNumber: string): Promise<RerunRequest> {
  return makeAgain(deps, idOrNumber, "duplicate", { held: true });
}

/**
 * Starts a copy of a run from the current revision of its workflow, with some parameters changed. Throws `not_found`
 * and `bad_request`.
 */
export function rerunRun(
  deps: StartDeps,
  idOrNumber: string,
  params: Readonly<Record<string, string>>,
): Promise<RerunRequest> {
  return makeAgain(deps, idOrNumber, "rerun", { params });
}

/** Starts a copy of each of the runs, as `rerunRun` does. */
export async function rerunRuns(
  deps: StartDeps & Pick<Ports, "log">,
  { ids, params = {} }: z.infer<typeof rerunManyBody>,
): Promise<z.infer<typeof rerunManyResponse>> {
  const results = await forEachRun(deps, ids, async (id) => (await rerunRun(deps, id, params)).run.run_id);
  return { message: "Runs started", started: results.filter(({ ok }) => ok).length, results };
}

async function makeAgain(
  deps: StartDeps,
  idOrNumber: string,
  action: RunSource["action"],
  change: Partial<Pick<RunRequest, "held" | "params">>,
): Promise<RerunRequest> {
  const original = await getRun(deps, idOrNumber);
  const base = await baseOf(deps, original.run_id);
  const { commit, run } = await composeRun(deps, {
    runId: deps.ids.ordered(),
    workflow: original.workflow_name,
    target: original.target,
    workspace: original.workspace,
    params: { ...givenParams(original, base), ...change.params },
    triggerType: "api",
    priority: original.priority,
    hop: original.hop,
    source: { run_id: original.run_id, action },
    // Values of the original run's event stay available to templates.
    values: base.values,
    ...(original.timeout === undefined ? {} : { timeout: original.timeout }),
    ...(change.held === true ? { held: true } : {}),
  });
  if (run.status === "failed") throw new ApiError("bad_request", `params: ${run.error_message}`);
  const outcome = await deps.outbox.commit(commit);
  if (!outcome.ok) throw new ApiError("conflict", "The run could not be created, try again");
  return { original, run };
}

/** Returns the parameters and built-in variables that a run started with. */
export async function baseOf(deps: Pick<Ports, "tables" | "blobs">, runId: string): Promise<BaseValues> {
  const item = await deps.tables.get(valuesTable, valueKey(runId, BASE_VALUES));
  if (item === undefined) return { values: {}, trusted: [] };
  const kept = item.blob === undefined ? { json: item.json ?? "{}" } : { blob: item.blob };
  return ((await openValue(deps, kept)) as BaseValues | null) ?? { values: {}, trusted: [] };
}

/** Only parameters that the original run was given; defaults are computed again and stay trusted workflow text. */
function givenParams(run: StoredRun, { values, trusted, given }: BaseValues): Record<string, string> {
  const names = given ?? Object.keys(run.params).filter((name) => !trusted.includes(name));
  return Object.fromEntries(
    names.flatMap((name) => (Object.hasOwn(values, name) ? [[name, String(values[name])]] : [])),
  );
}

/** Starts a pending run. Throws `not_found`, and `bad_request` for a run that has already started. */
export async function startPending(
  deps: Pick<Ports, "tables" | "outbox" | "clock" | "ids">,
  idOrNumber: string,
): Promise<StoredRun> {
  const start = async (): Promise<StoredRun | typeof CONFLICT> => {
    const run = await getRun(deps, idOrNumber);
    if (!isActionAllowed("start", run.status))
      throw new ApiError(
        "bad_request",
        `Cannot start run with status '${run.status}'. Only runs with 'pending' status can be started.`,
      );
    // The run is already queued.
    if (run.queued !== undefined) return run;
    const moved_at = new Date(deps.clock.now()).toISOString();
    const item: StoredRun = { ...run, moved_at, version: run.version + 1 };
    const outcome = await deps.outbox.commit({
      writes: [{ op: "put", table: runsTable, item, when: [["version", "=", run.version]] }],
      send: [{ queue: CONDUCT_QUEUE, messages: [repeatedStart(deps, run.run_id)] }],
    });
    return outcome.ok ? item : CONFLICT;
  };
  return retryOnConflict(start, {
    exceeded: () => new ApiError("conflict", "The run is being changed concurrently, try again"),
  });
}
