import { type Deps, openDeps } from "#lib/deps.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { startAnswer, startBody, startRun } from "#lib/workflow/runs/start.ts";

export const route = defineRoute({
  service: "automation",
  operationId: "createRun",
  method: "POST",
  path: "/runs",
  summary: "Run a module or a flow",
  tag: "Runs",
  auth: "token",
  body: startBody,
  status: 202,
  response: startAnswer,
  errors: [413],
  run: ({ body }, deps: Deps) => startRun(deps, body),
});

export const handler = toHandler(route, openDeps);
