import { type Deps, openDeps } from "#lib/deps.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { readStats, stats } from "#lib/workflows/records/stats.ts";

/** Reference 1.6, GET /stats. */
export const route = defineRoute({
  service: "automation",
  operationId: "getStats",
  method: "GET",
  path: "/stats",
  summary: "How many there are of everything",
  tag: "Workspaces",
  auth: "token",
  status: 200,
  response: stats,
  run: (_input, deps: Deps) => readStats(deps),
});

export const handler = toHandler(route, openDeps);
