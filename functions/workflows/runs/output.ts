import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { wholeNumber } from "#lib/http/page.ts";
import { defineRoute } from "#lib/http/route.ts";
import { outputRecord, readStepOutput } from "#lib/workflows/runs/step-output.ts";
import { workflowsService } from "#lib/workflows/service.ts";

const STEP_MAX_LENGTH = 512;
const ATTEMPT_MAX = 1_000;
/** Maximum number of lines in one response; together at most 1 MiB. */
const TAIL_MAX = 10_000;

export const route = defineRoute({
  service: workflowsService,
  operationId: "getStepOutput",
  method: "GET",
  path: "/runs/{id}/output",
  summary: "Get what the commands of a step print, also while they run, at most 1 MiB at once",
  tag: "Runs",
  auth: "required",
  params: z.object({ id: z.string() }),
  query: z.object({
    step: z
      .string()
      .min(1, "must not be empty")
      .max(STEP_MAX_LENGTH)
      .describe("Its name, in a flow `module/step`; an item of a foreach is `scan#3`"),
    stream: z.enum(["stdout", "stderr"]).optional().describe("stdout by default"),
    attempt: wholeNumber(1)
      .refine((attempt) => attempt <= ATTEMPT_MAX, `must be at most ${ATTEMPT_MAX}`)
      .optional()
      .meta({ description: "The last one by default", type: "integer", minimum: 1, maximum: ATTEMPT_MAX }),
    tail: wholeNumber(1)
      .optional()
      .transform((lines) => (lines === undefined ? undefined : Math.min(lines, TAIL_MAX)))
      .meta({ description: "Number of lines at the end to return", type: "integer", minimum: 1 }),
    offset: wholeNumber(0).optional().meta({
      description: "First byte to return: `next_offset` of the previous response",
      type: "integer",
    }),
  }),
  status: 200,
  response: outputRecord,
  run: async ({ params, query }, deps: Deps) => readStepOutput(deps, params.id, query),
});

export const handler = toHandler(route, openDeps);
