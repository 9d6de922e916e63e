import * as z from "zod";
import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import { isTerminal, type RunStatus } from "../engine/history.ts";
import { cancelRun } from "./cancel.ts";
import type { ConductDeps } from "./conduct.ts";
import { jobRuns } from "./run-list.ts";
import type { StoredRun } from "./table.ts";

const SHOWN_ERROR_LENGTH = 500;

/** Number of runs that are cancelled concurrently. */
const CANCELS_AT_ONCE = 8;

const counts = {
  pending: z.int(),
  running: z.int(),
  completed: z.int(),
  failed: z.int(),
  cancelled: z.int(),
};

/** A job: the runs that one request started. Reference 1.4. */
export const jobRecord = z
  .object({
    job_id: z.string(),
    run_group_id: z.string().describe("Same as job_id"),
    status: z
      .enum(["pending", "running", "completed", "failed", "cancelled", "partial"])
      .describe("`partial`: all runs have finished, with different statuses"),
    total_runs: z.int(),
    ...counts,
    progress: z.object({ total: z.int(), ...counts }),
    runs: z.array(
      z.object({
        id: z.int(),
        run_id: z.string(),
        run_uuid: z.string(),
        workflow_name: z.string(),
        target: z.string(),
        workspace: z.string(),
        status: z.string(),
        started_at: z.string().nullable(),
        completed_at: z.string().nullable(),
        error_message: z.string(),
      }),
    ),
  })
  .meta({ id: "Job" });

/** Throws `not_found`. */
export async function getJob(deps: Pick<Ports, "tables">, jobId: string): Promise<z.infer<typeof jobRecord>> {
  const runs = await jobRuns(deps, jobId);
  if (runs.length === 0) throw new ApiError("not_found", "Job not found");
  const number = { pending: 0, running: 0, completed: 0, failed: 0, cancelled: 0 };
  for (const { status } of runs) number[status] += 1;
  return {
    job_id: jobId,
    run_group_id: jobId,
    status: jobStatus(runs),
    total_runs: runs.length,
    ...number,
    progress: { total: runs.length, ...number },
    runs: runs.map((run) => ({
      id: run.number,
      run_id: run.run_id,
      run_uuid: run.run_id,
      workflow_name: run.workflow_name,
      target: run.target,
      workspace: run.workspace,
      status: run.status,
      started_at: run.started_at,
      completed_at: run.completed_at,
      error_message: run.error_message.slice(0, SHOWN_ERROR_LENGTH),
    })),
  };
}

function jobStatus(runs: readonly StoredRun[]): RunStatus | "partial" {
  const [first, ...others] = new Set(runs.map(({ status }) => status));
  if (first !== undefined && others.length === 0) return first;
  return runs.every(({ status }) => isTerminal(status)) ? "partial" : "running";
}

/**
 * Cancels every unfinished run of a job, waiting runs first, so that none of them starts meanwhile. Returns the ids of
 * the cancelled runs. Throws `not_found`, and `bad_request` for a finished job.
 */
export async function cancelJob(deps: ConductDeps, jobId: string): Promise<string[]> {
  const runs = await jobRuns(deps, jobId);
  if (runs.length === 0) throw new ApiError("not_found", "Job not found");
  const open = runs.filter(({ status }) => !isTerminal(status)).reverse();
  if (open.length === 0)
    throw new ApiError("bad_request", `Cannot cancel job with status '${jobStatus(runs)}'`);
  const cancelled: string[] = [];
  const work = async (): Promise<void> => {
    for (let run = open.shift(); run !== undefined; run = open.shift()) {
      try {
        await cancelRun(deps, run.run_id);
        cancelled.push(run.run_id);
      } catch (error) {
        // The run finished in the meantime.
        if (!(error instanceof ApiError)) throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: CANCELS_AT_ONCE }, work));
  return cancelled;
}
