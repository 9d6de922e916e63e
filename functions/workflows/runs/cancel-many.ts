import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { cancelBody, cancelResponse, cancelRuns } from "#lib/workflows/runs/cancel.ts";
import { workflowsService } from "#lib/workflows/service.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "cancelRuns",
  method: "POST",
  path: "/runs/cancel",
  summary: "Cancel all unfinished runs of a root cause, a workflow or a trigger",
  tag: "Runs",
  auth: "required",
  body: cancelBody,
  status: 200,
  response: cancelResponse,
  scripts: true,
  run: ({ body }, deps: Deps) => cancelRuns(deps, body),
});

export const handler = toHandler(route, openDeps);
