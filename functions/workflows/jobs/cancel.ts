import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { cancelJob } from "#lib/workflows/runs/jobs.ts";
import { workflowsService } from "#lib/workflows/service.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "cancelJob",
  method: "DELETE",
  path: "/jobs/{id}",
  summary: "Cancel all runs of a job",
  tag: "Runs",
  auth: "required",
  params: z.object({ id: z.string() }),
  status: 200,
  response: z.object({
    message: z.string(),
    job_id: z.string(),
    cancelled: z.int(),
    run_ids: z.array(z.string()),
  }),
  run: async ({ params }, deps: Deps) => {
    const run_ids = await cancelJob(deps, params.id);
    return {
      message: "Job cancelled successfully",
      job_id: params.id,
      cancelled: run_ids.length,
      run_ids,
    };
  },
});

export const handler = toHandler(route, openDeps);
