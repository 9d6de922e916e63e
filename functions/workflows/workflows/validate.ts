import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute, type RawBody } from "#lib/http/route.ts";
import { workflowsService } from "#lib/workflows/service.ts";
import { validatedAnswer, validateWorkflow } from "#lib/workflows/uploads/upload.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "validateWorkflow",
  method: "POST",
  path: "/workflows/validate",
  summary: "Say what is wrong with a workflow, and store nothing",
  tag: "Workflows",
  auth: "required",
  query: z.object({
    strict: z.enum(["true", "false"]).optional().describe("Keys that nothing reads are errors"),
  }),
  body: z.custom<RawBody>(),
  bodyKind: "raw",
  bodyTypes: ["application/yaml", "text/yaml", "text/plain", "application/json"],
  status: 200,
  response: validatedAnswer,
  errors: [413],
  run: ({ body, query }, deps: Deps) => validateWorkflow(deps, body, query.strict === "true"),
});

export const handler = toHandler(route, openDeps);
