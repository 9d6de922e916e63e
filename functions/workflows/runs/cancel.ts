import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { cancelRun } from "#lib/workflows/runs/cancel.ts";
import { workflowsService } from "#lib/workflows/service.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "cancelRun",
  method: "DELETE",
  path: "/runs/{id}",
  summary: "Cancel a run",
  tag: "Runs",
  auth: "required",
  params: z.object({ id: z.string() }),
  status: 200,
  response: z.object({
    message: z.string(),
    id: z.int(),
    run_uuid: z.string(),
    run_id: z.string(),
    status: z.literal("cancelled"),
  }),
  scripts: true,
  run: async ({ params }, deps: Deps) => {
    const run = await cancelRun(deps, params.id);
    return {
      message: "Run cancelled successfully",
      id: run.number,
      run_uuid: run.run_id,
      run_id: run.run_id,
      status: "cancelled" as const,
    };
  },
});

export const handler = toHandler(route, openDeps);
