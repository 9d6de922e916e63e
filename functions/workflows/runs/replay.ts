import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { replayBody, replayRun } from "#lib/workflows/runs/replay.ts";
import { rerunResponse, toRerunResponse } from "#lib/workflows/runs/rerun.ts";
import { workflowsService } from "#lib/workflows/service.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "replayRun",
  method: "POST",
  path: "/runs/{id}/replay",
  summary:
    "Repeat a finished run from one of its steps, optionally with other parameters and results of earlier steps, as a new run",
  tag: "Runs",
  auth: "required",
  params: z.object({ id: z.string() }),
  body: replayBody,
  errors: [413],
  status: 202,
  response: rerunResponse,
  run: async ({ params, body }, deps: Deps) => {
    const { original, run } = await replayRun(deps, params.id, body);
    return toRerunResponse("Run replayed", original, run, "running");
  },
});

export const handler = toHandler(route, openDeps);
