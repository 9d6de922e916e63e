import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { textQuery } from "#lib/http/page.ts";
import { defineRoute } from "#lib/http/route.ts";
import { assetStats, readAssetStats } from "#lib/workflows/assets/facets.ts";
import { workflowsService } from "#lib/workflows/service.ts";

/** Reference 1.6, GET /asset-stats. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "getAssetStats",
  method: "GET",
  path: "/asset-stats",
  summary: "List the technologies, sources, remarks and types of assets",
  tag: "Assets",
  auth: "required",
  query: z.object({ workspace: textQuery }),
  status: 200,
  response: z.object({ data: assetStats }),
  run: async ({ query }, deps: Deps) => ({ data: await readAssetStats(deps, query.workspace) }),
});

export const handler = toHandler(route, openDeps);
