import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute, type RawBody } from "#lib/http/route.ts";
import { workflowsService } from "#lib/workflows/service.ts";
import { validateResponse, validateWorkflow } from "#lib/workflows/uploads/upload.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "validateWorkflow",
  method: "POST",
  path: "/workflows/validate",
  summary: "Validate a workflow without storing it",
  tag: "Workflows",
  auth: "required",
  query: z.object({
    strict: z.enum(["true", "false"]).optional().describe("Whether unknown keys are errors"),
  }),
  body: z.custom<RawBody>(),
  bodyKind: "raw",
  bodyTypes: ["application/yaml", "text/yaml", "text/plain", "application/json"],
  status: 200,
  response: validateResponse,
  errors: [413],
  run: ({ body, query }, deps: Deps) => validateWorkflow(deps, body, query.strict === "true"),
});

export const handler = toHandler(route, openDeps);
