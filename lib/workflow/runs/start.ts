import * as z from "zod";
import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import { type CreateDeps, composeRun } from "./create.ts";

const TEXT_MAX_LENGTH = 4096;
const PARAMS_MAX = 256;
const PARAM_MAX_LENGTH = 64 * 1024;

const paramValue = z
  .union([z.string().max(PARAM_MAX_LENGTH), z.number(), z.boolean()], "must be text, a number, true or false")
  .transform((value) => String(value));

/** Body of `POST /runs`. Reference 1.4. */
export const startBody = z.object({
  module: z.string().max(TEXT_MAX_LENGTH).optional().describe("Name of a stored module"),
  flow: z
    .string()
    .max(TEXT_MAX_LENGTH)
    .optional()
    .describe("Name of a stored flow; wins where both are given"),
  target: z.string().max(TEXT_MAX_LENGTH).optional(),
  params: z
    .record(z.string().max(256), paramValue)
    .refine((params) => Object.keys(params).length <= PARAMS_MAX, `must have at most ${PARAMS_MAX} entries`)
    .optional(),
  workspace: z.string().max(TEXT_MAX_LENGTH).optional(),
  priority: z.enum(["low", "normal", "medium", "high", "critical"]).optional(),
});

export const startAnswer = z
  .object({
    message: z.string(),
    workflow: z.string(),
    kind: z.enum(["module", "flow"]),
    target: z.string(),
    target_count: z.int(),
    priority: z.string(),
    run_mode: z.literal("local"),
    job_id: z.string(),
    run_uuid: z.string(),
    run_id: z.string(),
    status: z.enum(["queued", "failed"]),
  })
  .meta({ id: "StartedRun" });

/** Creates a run by hand and sends it off. Throws `not_found`, `bad_request`. */
export async function startRun(
  deps: CreateDeps & Pick<Ports, "outbox">,
  body: z.infer<typeof startBody>,
  hop = 0,
): Promise<z.infer<typeof startAnswer>> {
  const workflow = body.flow || body.module;
  if (workflow === undefined || workflow === "")
    throw new ApiError("bad_request", "module: either module or flow is required");
  const { commit, run } = await composeRun(deps, {
    runId: deps.ids.ordered(),
    workflow,
    target: body.target ?? "",
    params: body.params ?? {},
    triggerType: "api",
    hop,
    priority: body.priority === "medium" ? "normal" : (body.priority ?? "normal"),
    ...(body.workspace === undefined ? {} : { workspace: body.workspace }),
  });
  if (body.flow && run.workflow_kind !== "flow")
    throw new ApiError("bad_request", `flow: ${workflow} is a module`);
  if (!body.flow && run.workflow_kind !== "module")
    throw new ApiError("bad_request", `module: ${workflow} is a flow`);
  if (run.status === "failed") throw new ApiError("bad_request", `params: ${run.error_message}`);
  const outcome = await deps.outbox.commit(commit);
  if (!outcome.ok) throw new ApiError("conflict", "The run could not be created, try again");
  return {
    message: "Run started",
    workflow: run.workflow_name,
    kind: run.workflow_kind,
    target: run.target,
    target_count: 1,
    priority: run.priority,
    run_mode: "local",
    job_id: run.run_group_id,
    run_uuid: run.run_id,
    run_id: run.run_id,
    status: "queued",
  };
}
