import * as z from "zod";
import { ApiError } from "../../errors.ts";
import { labelText } from "../../events/label-text.ts";
import type { Cause } from "../../events/publish.ts";
import type { Commit } from "../../platform/outbox.ts";
import type { Ports } from "../../platform/ports.ts";
import type { StepPaths } from "../steps/context.ts";
import { type CreateDeps, composeRun, type RunRequest } from "./create.ts";
import { type Plan, planFor } from "./plan.ts";
import { requireRunBudget } from "./run-budget.ts";
import type { StoredRun } from "./table.ts";
import { allTargets, TARGET_MAX_LENGTH, TARGETS_MAX } from "./targets.ts";

const TEXT_MAX_LENGTH = 4096;
const PARAMS_MAX = 256;
const PARAM_MAX_LENGTH = 64 * 1024;
/** Thirty days. */
const TIMEOUT_MAX_MINUTES = 43_200;

const paramValue = z
  .union([z.string().max(PARAM_MAX_LENGTH), z.number(), z.boolean()], "must be text, a number, true or false")
  .transform((value) => String(value));

/** Parameters of a run, each as text. */
export const paramsBody = z
  .record(z.string().max(256), paramValue, "must be an object of texts, numbers, true or false")
  .refine((params) => Object.keys(params).length <= PARAMS_MAX, `must have at most ${PARAMS_MAX} entries`);

const elsewhere = z
  .any()
  .refine(
    (value) => value === undefined || value === null || value === "" || value === false,
    "use POST /schedules to create a schedule",
  )
  .optional();

/** Body of `POST /runs`. Reference 1.4. */
export const startBody = z.object({
  module: z.string().max(TEXT_MAX_LENGTH).optional().describe("Name of a stored module"),
  flow: z
    .string()
    .max(TEXT_MAX_LENGTH)
    .optional()
    .describe("Name of a stored flow; takes precedence over module"),
  target: z.string().max(TARGET_MAX_LENGTH).optional(),
  targets: z
    .array(z.string().max(TARGET_MAX_LENGTH))
    .max(TARGETS_MAX)
    .optional()
    .describe("Targets, one run each; the runs form a job"),
  target_file: z
    .string()
    .max(TEXT_MAX_LENGTH)
    .optional()
    .describe("File with one target per line, in a workspace or in `uploads/`"),
  empty_target: z.boolean().optional().describe("Run without a target: one is generated"),
  params: paramsBody.optional(),
  concurrency: z
    .int()
    .max(TARGETS_MAX)
    .optional()
    .describe("Number of concurrent runs of the job; default 1"),
  priority: z.enum(["low", "normal", "medium", "high", "critical"]).optional(),
  timeout: z
    .int()
    .min(0)
    .max(TIMEOUT_MAX_MINUTES)
    .optional()
    .describe("Timeout of a run from its start in minutes; 0 for no limit"),
  workspace: labelText.max(TEXT_MAX_LENGTH).optional(),
  run_mode: z
    .enum(["local", "distributed", "cloud"])
    .refine((mode) => mode === "local", "must be local")
    .optional(),
  heuristics_check: z.enum(["none", "basic", "advanced"]).optional(),
  threads_hold: z.int().min(0).max(10_000).optional().describe("Value of `{{threads}}`; 0 for the default"),
  schedule: elsewhere,
  schedule_enabled: elsewhere,
  dry_run: z.boolean().optional().describe("Plan the run without executing it"),
});
export type StartBody = z.infer<typeof startBody>;

export const startResponse = z
  .object({
    message: z.string(),
    workflow: z.string(),
    kind: z.enum(["module", "flow"]),
    target: z.string().describe("The first run"),
    targets: z.array(z.string()).optional().describe("Present if there are several"),
    target_count: z.int(),
    priority: z.string(),
    run_mode: z.literal("local"),
    job_id: z.string(),
    run_uuid: z.string().describe("Same as run_id"),
    run_id: z.string().describe("The first run"),
    run_ids: z.array(z.string()).describe("In the order of the targets"),
    concurrency: z.int().optional(),
    timeout: z.int().optional(),
    status: z.enum(["queued", "failed"]),
    poll_url: z.string(),
  })
  .meta({ id: "StartedRun" });

export type StartDeps = CreateDeps &
  Pick<Ports, "outbox"> & { readonly paths: Pick<StepPaths, "workspacesDir"> };

/** A parsed request: the workflow, and the runs to start. */
export interface RunStartRequest {
  readonly plan: Plan;
  readonly workflow: string;
  readonly targets: readonly string[];
  /** Settings that all runs share. */
  readonly request: Omit<RunRequest, "runId" | "target" | "job">;
}

/** Throws `not_found`, `bad_request`. */
export async function readStart(deps: StartDeps, body: StartBody): Promise<RunStartRequest> {
  const written = body.flow || body.module;
  if (written === undefined || written === "")
    throw new ApiError("bad_request", "module: either module or flow is required");
  const plan = await planFor(deps, { workflow: written });
  const workflow = plan.definition.name;
  if (body.flow && plan.definition.kind !== "flow")
    throw new ApiError("bad_request", `flow: ${workflow} is a module`);
  if (!body.flow && plan.definition.kind !== "module")
    throw new ApiError("bad_request", `module: ${workflow} is a flow`);
  const named = await allTargets(deps, body);
  if (named.length === 0 && (body.targets !== undefined || body.target_file !== undefined))
    throw new ApiError(
      "bad_request",
      "targets: at least one target is required (target, targets, target_file, or empty_target)",
    );
  const isEmpty = body.empty_target ?? plan.definition.preferences?.empty_target === true;
  const made = isEmpty ? emptyTarget(deps) : "";
  return {
    plan,
    workflow,
    targets: named.length > 0 ? named : [made],
    request: {
      workflow,
      revision: plan.revision,
      params: body.params ?? {},
      triggerType: "api",
      priority: body.priority === "medium" ? "normal" : (body.priority ?? "normal"),
      ...(body.workspace === undefined ? {} : { workspace: body.workspace }),
      ...(body.timeout === undefined || body.timeout === 0 ? {} : { timeout: body.timeout }),
      ...(body.heuristics_check === undefined ? {} : { heuristics: body.heuristics_check }),
      ...(body.threads_hold === undefined || body.threads_hold === 0 ? {} : { threads: body.threads_hold }),
      ...(body.target_file === undefined ? {} : { targetFile: body.target_file }),
    },
  };
}

const emptyTarget = (deps: Pick<Ports, "ids" | "clock">): string =>
  `empty-${deps.ids.random().slice(0, 6)}-${Math.floor(deps.clock.now() / 1000)}`;

/**
 * Creates one run per target and starts them; all runs exist when this returns. Throws `not_found` and `bad_request`.
 */
export async function startRun(
  deps: StartDeps,
  body: StartBody,
  cause: Cause = {},
): Promise<z.infer<typeof startResponse>> {
  const { plan, targets, request } = await readStart(deps, body);
  const size = targets.length;
  await requireRunBudget(deps, cause, size);
  const width = Math.max(1, body.concurrency ?? 1);
  const jobId = deps.ids.random();
  const made: { commit: Commit; run: StoredRun }[] = [];
  for (const [index, target] of targets.entries()) {
    const one = { ...request, ...causeFields(cause), runId: deps.ids.ordered(), target };
    const job = size === 1 ? {} : { job: { id: jobId, index, size, width } };
    made.push(await composeRun(deps, { ...one, ...job }, plan));
  }
  for (const { run } of made)
    if (run.status === "failed") throw new ApiError("bad_request", `params: ${run.error_message}`);
  for (const commit of together(made.map((one) => one.commit))) {
    const outcome = await deps.outbox.commit(commit);
    if (!outcome.ok) throw new ApiError("conflict", "The run could not be created, try again");
  }
  const [first] = made.map(({ run }) => run);
  if (first === undefined) throw new Error("no run was created");
  return {
    message: "Run started",
    workflow: first.workflow_name,
    kind: first.workflow_kind,
    target: first.target,
    target_count: size,
    priority: first.priority,
    run_mode: "local",
    job_id: first.run_group_id,
    run_uuid: first.run_id,
    run_id: first.run_id,
    run_ids: made.map(({ run }) => run.run_id),
    ...(size === 1 ? {} : { targets: [...targets], concurrency: width }),
    ...(first.timeout === undefined ? {} : { timeout: first.timeout }),
    status: "queued",
    poll_url: `/automation/jobs/${first.run_group_id}`,
  };
}

/** Returns the fields of a run that record its cause. */
export const causeFields = ({ hop = 0, root_cause }: Cause): Pick<RunRequest, "hop" | "rootCause"> => ({
  hop,
  ...(root_cause !== undefined && { rootCause: root_cause }),
});

/** Writes per transaction: stays below the limits on items and on bytes, whatever the size of the parameters. */
const WRITES_TOGETHER = 70;

/** Merges commits into few transactions without splitting any of them. */
function together(commits: readonly Commit[]): Commit[] {
  const groups: Commit[] = [];
  for (const commit of commits) {
    const last = groups.at(-1);
    if (last === undefined || last.writes.length + commit.writes.length > WRITES_TOGETHER) {
      groups.push(commit);
      continue;
    }
    groups[groups.length - 1] = {
      writes: [...last.writes, ...commit.writes],
      publish: [...(last.publish ?? []), ...(commit.publish ?? [])],
      send: [...(last.send ?? []), ...(commit.send ?? [])],
    };
  }
  return groups;
}
