import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { rerunBody, rerunResponse, rerunRun, toRerunResponse } from "#lib/workflows/runs/rerun.ts";
import { workflowsService } from "#lib/workflows/service.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "rerunRun",
  method: "POST",
  path: "/runs/{id}/rerun",
  summary: "Start a run with the same input as another run, optionally with other parameters",
  tag: "Runs",
  auth: "required",
  params: z.object({ id: z.string() }),
  body: rerunBody,
  errors: [413],
  status: 202,
  response: rerunResponse,
  run: async ({ params, body }, deps: Deps) => {
    const { original, run } = await rerunRun(deps, params.id, body.params ?? {});
    return toRerunResponse("Run started", original, run, "queued");
  },
});

export const handler = toHandler(route, openDeps);
