import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { workflowsService } from "#lib/workflows/service.ts";
import { deleteWorkflow } from "#lib/workflows/store/store.ts";

export const route = defineRoute({
  service: workflowsService,
  operationId: "deleteWorkflow",
  method: "DELETE",
  path: "/workflows/{name}",
  summary: "Delete a workflow and its triggers",
  tag: "Workflows",
  auth: "required",
  params: z.object({ name: z.string() }),
  status: 200,
  response: z.object({ message: z.string(), name: z.string() }),
  run: async ({ params }, deps: Deps) => {
    await deleteWorkflow(deps, params.name);
    return { message: "Workflow deleted", name: params.name };
  },
});

export const handler = toHandler(route, openDeps);
