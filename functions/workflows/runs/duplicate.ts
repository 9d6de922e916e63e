import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { duplicateRun, rerunResponse, toRerunResponse } from "#lib/workflows/runs/rerun.ts";
import { workflowsService } from "#lib/workflows/service.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "duplicateRun",
  method: "POST",
  path: "/runs/{id}/duplicate",
  summary: "Create a pending run with the same input as another run",
  tag: "Runs",
  auth: "required",
  params: z.object({ id: z.string() }),
  status: 201,
  response: rerunResponse,
  run: async ({ params }, deps: Deps) => {
    const { original, run } = await duplicateRun(deps, params.id);
    return toRerunResponse("Run duplicated", original, run, "pending");
  },
});

export const handler = toHandler(route, openDeps);
