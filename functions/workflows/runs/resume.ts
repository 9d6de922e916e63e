import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { rerunResponse, toRerunResponse } from "#lib/workflows/runs/rerun.ts";
import { resumeRun } from "#lib/workflows/runs/resume.ts";
import { workflowsService } from "#lib/workflows/service.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "resumeRun",
  method: "POST",
  path: "/runs/{id}/resume",
  summary: "Continue a failed run at the step that failed, as a new run",
  tag: "Runs",
  auth: "required",
  params: z.object({ id: z.string() }),
  status: 202,
  response: rerunResponse,
  run: async ({ params }, deps: Deps) => {
    const { original, run } = await resumeRun(deps, params.id);
    return toRerunResponse("Run resumed", original, run, "running");
  },
});

export const handler = toHandler(route, openDeps);
