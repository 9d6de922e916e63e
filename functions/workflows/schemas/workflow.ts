import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { workflowsService } from "#lib/workflows/service.ts";
import schema from "../../../examples/workflow.schema.json" with { type: "json" };

/** For editors, which send no token. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "getWorkflowSchema",
  method: "GET",
  path: "/schemas/workflow.json",
  summary: "Get the JSON Schema of a workflow file",
  tag: "Workflows",
  auth: "none",
  status: 200,
  response: z.looseObject({}),
  run: (_input, _deps: Deps) => schema as Readonly<Record<string, unknown>>,
});

export const handler = toHandler(route, openDeps);
