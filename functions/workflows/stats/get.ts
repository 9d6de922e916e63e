import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { readStats, stats } from "#lib/workflows/records/stats.ts";
import { workflowsService } from "#lib/workflows/service.ts";

/** Reference 1.6, GET /stats. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "getStats",
  method: "GET",
  path: "/stats",
  summary: "Get the numbers of all records",
  tag: "Workspaces",
  auth: "required",
  status: 200,
  response: stats,
  run: (_input, deps: Deps) => readStats(deps),
});

export const handler = toHandler(route, openDeps);
