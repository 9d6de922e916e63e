import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { wholeNumber } from "#lib/http/page.ts";
import { defineRoute, type RawBody } from "#lib/http/route.ts";
import { workflowsService } from "#lib/workflows/service.ts";
import { saveResponse, uploadWorkflow } from "#lib/workflows/uploads/upload.ts";

/** Stores a workflow as the newest revision of its name. Choice: infra/decisions/0006. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "createWorkflow",
  method: "POST",
  path: "/workflows",
  summary: "Store a workflow: YAML, JSON, or {yaml}",
  tag: "Workflows",
  auth: "required",
  query: z.object({
    revision: wholeNumber(0).optional().meta({
      description:
        "The revision that the text was made from, 0 for a new workflow; 409 if another is the newest",
      type: "integer",
      minimum: 0,
    }),
  }),
  body: z.custom<RawBody>(),
  bodyKind: "raw",
  bodyTypes: ["application/yaml", "text/yaml", "text/plain", "application/json"],
  status: 201,
  response: saveResponse,
  errors: [409, 413],
  run: ({ body, query }, deps: Deps) => uploadWorkflow(deps, body, query.revision),
});

export const handler = toHandler(route, openDeps);
