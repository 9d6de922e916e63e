import * as z from "zod";
import { ApiError } from "../../errors.ts";
import { readAll } from "../../events/read-all.ts";
import type { Listing, OrderedPageRequest, PageRequest } from "../../http/page.ts";
import type { Ports } from "../../platform/ports.ts";
import type { ListDeps } from "../lists/list.ts";
import { mapped } from "../lists/read-list.ts";
import type { Definitions } from "../store/store.ts";
import { findRuns, type RunFilters } from "./run-list.ts";
import { hasOwnRow, programOf, stepRow } from "./running-steps.ts";
import { findSteps, type StepFilters } from "./step-results.ts";
import {
  historyTable,
  numberKey,
  rootCauseOf,
  runKey,
  runNamesTable,
  runsTable,
  type StoredRun,
  type StoredStep,
  stepKey,
  stepsTable,
} from "./table.ts";

/** A run in responses. Reference 6. */
export const runRecord = z
  .object({
    id: z.int(),
    run_uuid: z.string(),
    run_id: z.string().describe("Same as run_uuid: the id in events"),
    workflow_name: z.string(),
    workflow_kind: z.enum(["module", "flow"]),
    workflow_revision: z.int(),
    target: z.string(),
    params: z.record(z.string(), z.string()),
    status: z.enum(["pending", "running", "completed", "failed", "cancelled"]),
    workspace: z.string(),
    started_at: z.string().nullable(),
    completed_at: z.string().nullable(),
    error_message: z.string(),
    created_at: z.string(),
    updated_at: z.string(),
    trigger_type: z.string(),
    trigger_name: z.string(),
    event_id: z.string(),
    root_cause: z
      .string()
      .describe(
        "Id of the external event or run at the start of the chain; its own id if it started the chain",
      ),
    hop: z.int().describe("Number of runs between it and its root cause"),
    source: z
      .object({
        run_id: z.string(),
        action: z.enum(["duplicate", "rerun", "resume", "replay"]),
        step: z.string().describe("The step that a replay begins with"),
      })
      .nullable()
      .describe("The run that it was made from"),
    run_group_id: z.string().describe("Job of the run"),
    is_queued: z.boolean().describe("Whether it is waiting for a slot"),
    timeout: z.int().describe("Timeout from its start in minutes; 0 for no limit"),
    total_steps: z.int(),
    completed_steps: z.int(),
    run_priority: z.string(),
    run_mode: z.literal("local"),
  })
  .meta({ id: "Run" });
export type RunRecord = z.infer<typeof runRecord>;

export const stepRecord = z
  .object({
    id: z.string(),
    run_id: z.string(),
    run_uuid: z.string(),
    module: z.string(),
    step_name: z.string(),
    step_type: z.string(),
    status: z.enum(["running", "completed", "failed", "skipped", "cancelled"]),
    attempt: z.int().describe("Number of times that an executor started the step"),
    command: z.string(),
    output: z.string(),
    output_truncated: z.boolean(),
    error_message: z.string(),
    exports: z.record(z.string(), z.string()),
    environment: z
      .record(z.string(), z.string())
      .describe("Variables that the step added to the environment of its commands, without secrets"),
    duration_ms: z.int(),
    log_file: z.string(),
    started_at: z.string(),
    completed_at: z.string().nullable(),
    created_at: z.string(),
  })
  .meta({ id: "StepResult" });

export function toRunRecord(run: StoredRun): RunRecord {
  return {
    id: run.number,
    run_uuid: run.run_id,
    run_id: run.run_id,
    workflow_name: run.workflow_name,
    workflow_kind: run.workflow_kind,
    workflow_revision: run.workflow_revision,
    target: run.target,
    params: { ...run.params },
    status: run.status,
    workspace: run.workspace,
    started_at: run.started_at,
    completed_at: run.completed_at,
    error_message: run.error_message,
    created_at: run.created_at,
    updated_at: run.updated_at,
    trigger_type: run.trigger_type,
    trigger_name: run.trigger_name,
    event_id: run.event_id,
    root_cause: rootCauseOf(run),
    hop: run.hop,
    source: run.source === undefined ? null : { step: "", ...run.source },
    run_group_id: run.run_group_id,
    is_queued: run.queued !== undefined,
    timeout: run.timeout ?? 0,
    total_steps: run.total_steps,
    completed_steps: run.completed_steps,
    run_priority: run.priority,
    run_mode: "local",
  };
}

/** Returns the runs that match the filters, newest first unless the page says otherwise. */
export async function listRuns(
  deps: ListDeps,
  filters: RunFilters,
  page: OrderedPageRequest,
): Promise<Listing<RunRecord>> {
  return mapped(await findRuns(deps, filters, page), toRunRecord);
}

/** Longest id that is looked up, characters. */
const RUN_ID_MAX_LENGTH = 128;

const NUMBER = /^\d{1,15}$/;

/** Returns a run by its id or its number. Throws `not_found`. */
export async function getRun(deps: Pick<Ports, "tables">, idOrNumber: string): Promise<StoredRun> {
  const runId = NUMBER.test(idOrNumber)
    ? (await deps.tables.get(runNamesTable, numberKey(Number(idOrNumber))))?.run_id
    : idOrNumber;
  const run =
    runId === undefined || runId.length > RUN_ID_MAX_LENGTH
      ? undefined
      : await deps.tables.get(runsTable, runKey(runId));
  if (run === undefined) throw new ApiError("not_found", "Run not found");
  return run;
}

/**
 * Returns every step of a run that was requested, in request order, without the items of a foreach, which are part of
 * it; with a key, only that step. Throws `not_found`.
 */
export async function listSteps(
  deps: Pick<Ports, "tables"> & { readonly definitions: Definitions },
  idOrNumber: string,
  only?: string,
): Promise<z.infer<typeof stepRecord>[]> {
  const steps = new Map<string, StoredStep>();
  const run = await getRun(deps, idOrNumber);
  const runId = run.run_id;
  for (const step of await stepsUnderWay(deps, run))
    if (only === undefined || step.key === only) steps.set(step.key, step);
  // The row of a step that finished after the run was read replaces its running state.
  for (const step of await readSteps(deps, runId, only)) steps.set(step.key, step);
  const ordered = [...steps.values()].sort(
    (a, b) => compare(a.started_at, b.started_at) || a.dispatch - b.dispatch,
  );
  return ordered.map((step) => toStepRecord(runId, step));
}

async function readSteps(
  deps: Pick<Ports, "tables">,
  runId: string,
  only: string | undefined,
): Promise<StoredStep[]> {
  if (only === undefined) return readAll(deps, stepsTable, { pk: runId });
  const step = await deps.tables.get(stepsTable, stepKey(runId, only));
  return step === undefined ? [] : [step];
}

function toStepRecord(runId: string, step: StoredStep): z.infer<typeof stepRecord> {
  return {
    id: step.id,
    run_id: runId,
    run_uuid: runId,
    module: step.module,
    step_name: step.step_name,
    step_type: step.step_type,
    status: step.status,
    attempt: step.attempt,
    command: step.command,
    output: step.output,
    output_truncated: step.output_truncated,
    error_message: step.error_message,
    exports: { ...(step.exports as Record<string, string>) },
    environment: { ...(step.environment as Record<string, string> | undefined) },
    duration_ms: step.duration_ms,
    log_file: step.log_file,
    started_at: step.started_at,
    completed_at: step.completed_at,
    created_at: step.created_at,
  };
}

async function stepsUnderWay(
  deps: { readonly definitions: Definitions },
  run: StoredRun,
): Promise<StoredStep[]> {
  const frames = Object.entries(run.state.frames).filter(([key]) => hasOwnRow(key));
  if (frames.length === 0) return [];
  const program = await programOf(deps, run);
  return frames.map(([key, frame]) => stepRow(run, program, key, frame));
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export const historyRecord = z
  .looseObject({ number: z.int(), at: z.string(), type: z.string() })
  .meta({ id: "HistoryEntry" });

/** Returns the finished steps that match the filters, those of the newest runs first. Reference 1.6. */
export async function listStepResults(
  deps: ListDeps,
  filters: StepFilters,
  page: PageRequest,
): Promise<Listing<z.infer<typeof stepRecord>>> {
  return mapped(await findSteps(deps, filters, page), ({ run_id, step }) => toStepRecord(run_id, step));
}

/** Returns the history of a run, oldest entry first. Throws `not_found`. */
export async function listHistory(
  deps: Pick<Ports, "tables">,
  idOrNumber: string,
): Promise<z.infer<typeof historyRecord>[]> {
  const { run_id } = await getRun(deps, idOrNumber);
  const entries: z.infer<typeof historyRecord>[] = [];
  for (const { at, entries: made } of await readAll(deps, historyTable, { pk: run_id })) {
    for (const entry of made) entries.push({ number: entries.length + 1, at, ...entry });
  }
  return entries;
}
