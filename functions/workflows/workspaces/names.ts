import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { workflowsService } from "#lib/workflows/service.ts";
import { workspaceNames } from "#lib/workflows/workspaces/list.ts";

/** Reference 1.6, GET /workspace-names. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "listWorkspaceNames",
  method: "GET",
  path: "/workspace-names",
  summary: "List the names of workspaces",
  tag: "Workspaces",
  auth: "required",
  status: 200,
  response: z.object({ data: z.array(z.string()), count: z.int() }),
  run: (_input, deps: Deps) => workspaceNames(deps),
});

export const handler = toHandler(route, openDeps);
