import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { arrivalOrderingQuery, pageQuery, textQuery } from "#lib/http/page.ts";
import { defineRoute } from "#lib/http/route.ts";
import { orgQuery } from "#lib/workflows/lists/organization.ts";
import { workflowsService } from "#lib/workflows/service.ts";
import { listWorkspaces, workspaceRecord } from "#lib/workflows/workspaces/list.ts";

/** Reference 1.6, GET /workspaces. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "listWorkspaces",
  method: "GET",
  path: "/workspaces",
  summary: "List workspaces with their counters, newest first by default",
  tag: "Workspaces",
  auth: "required",
  query: z.object({
    search: textQuery.describe("Substring of the name"),
    org: orgQuery,
    ordering: arrivalOrderingQuery,
    ...pageQuery,
  }),
  status: 200,
  response: workspaceRecord,
  list: true,
  run: async ({ query }, deps: Deps) => {
    const { offset, limit, search, ordering } = query;
    const page = { offset, limit, oldestFirst: ordering === "created_at" };
    return { listing: await listWorkspaces(deps, search, page), pagination: page };
  },
});

export const handler = toHandler(route, openDeps);
