import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { rerunManyBody, rerunManyResponse, rerunRuns } from "#lib/workflows/runs/rerun.ts";
import { workflowsService } from "#lib/workflows/service.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "rerunRuns",
  method: "POST",
  path: "/runs/rerun",
  summary: "Start a run with the same input as each of several runs, optionally with other parameters",
  tag: "Runs",
  auth: "required",
  body: rerunManyBody,
  status: 202,
  response: rerunManyResponse,
  run: ({ body }, deps: Deps) => rerunRuns(deps, body),
});

export const handler = toHandler(route, openDeps);
