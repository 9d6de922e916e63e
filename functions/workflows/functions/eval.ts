import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { evaluateBody, evaluateFunctions, evaluateResponse } from "#lib/workflows/evaluation/evaluate.ts";
import { workflowsService } from "#lib/workflows/service.ts";

/** Reference 1.10, POST /functions/eval. Choice: infra/decisions/0042. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "evaluateFunctions",
  method: "POST",
  path: "/functions/eval",
  summary: "Evaluate a script outside of a run",
  tag: "Functions",
  auth: "required",
  body: evaluateBody,
  status: 200,
  response: evaluateResponse,
  errors: [429],
  scripts: true,
  run: ({ body }, deps: Deps) => evaluateFunctions(deps, body),
});

export const handler = toHandler(route, openDeps);
