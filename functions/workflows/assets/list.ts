import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { arrivalOrderingQuery, pageQuery, textQuery } from "#lib/http/page.ts";
import { defineRoute } from "#lib/http/route.ts";
import { assetRecord, listAssets } from "#lib/workflows/assets/list.ts";
import { orgQuery } from "#lib/workflows/lists/organization.ts";
import { workflowsService } from "#lib/workflows/service.ts";

/** Seed: workflow 4, GET /assets. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "listAssets",
  method: "GET",
  path: "/assets",
  summary: "List assets, newest first by default",
  tag: "Assets",
  auth: "required",
  query: z.object({
    workspace: textQuery,
    org: orgQuery,
    asset_type: textQuery,
    source: textQuery,
    status_code: textQuery,
    search: textQuery.describe("Substring of the value, url, title or host address"),
    ordering: arrivalOrderingQuery,
    ...pageQuery,
  }),
  status: 200,
  response: assetRecord,
  list: true,
  run: async ({ query }, deps: Deps) => {
    const { offset, limit, ordering, org: _org, ...filters } = query;
    const page = { offset, limit, oldestFirst: ordering === "created_at" };
    return { listing: await listAssets(deps, filters, page), pagination: page };
  },
});

export const handler = toHandler(route, openDeps);
