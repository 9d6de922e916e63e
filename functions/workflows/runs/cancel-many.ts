import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { cancelBody, cancelledAnswer, cancelRuns } from "#lib/workflows/runs/cancel.ts";
import { workflowsService } from "#lib/workflows/service.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "cancelRuns",
  method: "POST",
  path: "/runs/cancel",
  summary: "Cancel all runs of a root cause, a workflow or a trigger that are not over",
  tag: "Runs",
  auth: "required",
  body: cancelBody,
  status: 200,
  response: cancelledAnswer,
  scripts: true,
  run: ({ body }, deps: Deps) => cancelRuns(deps, body),
});

export const handler = toHandler(route, openDeps);
