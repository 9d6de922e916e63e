import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { rerunResponse, startPending, toRerunResponse } from "#lib/workflows/runs/rerun.ts";
import { workflowsService } from "#lib/workflows/service.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "startRun",
  method: "POST",
  path: "/runs/{id}/start",
  summary: "Start a pending run",
  tag: "Runs",
  auth: "required",
  params: z.object({ id: z.string() }),
  status: 202,
  response: rerunResponse,
  run: async ({ params }, deps: Deps) => {
    const run = await startPending(deps, params.id);
    return toRerunResponse("Run started", run, run, "queued");
  },
});

export const handler = toHandler(route, openDeps);
