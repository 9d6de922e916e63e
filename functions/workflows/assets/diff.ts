import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { computeDiff, diffQuery, diffResponse } from "#lib/workflows/diffs/compute-diff.ts";
import { workflowsService } from "#lib/workflows/service.ts";

/** Reference 1.6, GET /assets/diff. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "diffAssets",
  method: "GET",
  path: "/assets/diff",
  summary: "Compare the assets of a workspace at two times: added, removed and changed",
  tag: "Assets",
  auth: "required",
  query: diffQuery,
  status: 200,
  response: z.object({ data: diffResponse }),
  run: async ({ query }, deps: Deps) => ({ data: await computeDiff(deps, "assets", query) }),
});

export const handler = toHandler(route, openDeps);
