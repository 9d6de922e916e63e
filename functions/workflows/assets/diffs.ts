import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { pageQuery, textQuery } from "#lib/http/page.ts";
import { defineRoute } from "#lib/http/route.ts";
import { listDiffs, storedDiff } from "#lib/workflows/diffs/stored-diffs.ts";
import { workflowsService } from "#lib/workflows/service.ts";

/** Reference 1.6, GET /assets/diffs. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "listAssetDiffs",
  method: "GET",
  path: "/assets/diffs",
  summary: "List stored asset diffs, newest first",
  tag: "Assets",
  auth: "required",
  query: z.object({ workspace: textQuery, ...pageQuery }),
  status: 200,
  response: storedDiff,
  list: true,
  run: async ({ query }, deps: Deps) => {
    const { workspace, ...page } = query;
    return { listing: await listDiffs(deps, "assets", workspace, page), pagination: page };
  },
});

export const handler = toHandler(route, openDeps);
