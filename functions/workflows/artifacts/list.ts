import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { arrivalOrderingQuery, booleanQuery, pageQuery, textQuery } from "#lib/http/page.ts";
import { defineRoute } from "#lib/http/route.ts";
import { artifactRecord, listArtifacts } from "#lib/workflows/artifacts/list.ts";
import { workflowsService } from "#lib/workflows/service.ts";

/** Reference 1.6, GET /artifacts. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "listArtifacts",
  method: "GET",
  path: "/artifacts",
  summary: "List artifacts, newest first by default",
  tag: "Artifacts",
  auth: "required",
  query: z.object({
    workspace: textQuery,
    artifact_type: textQuery,
    search: textQuery.describe("Substring of the name or path"),
    verify_exist: booleanQuery.describe("Whether to check that each file exists"),
    ordering: arrivalOrderingQuery,
    ...pageQuery,
  }),
  status: 200,
  response: artifactRecord,
  list: true,
  run: async ({ query }, deps: Deps) => {
    const { offset, limit, ordering, verify_exist = false, ...filters } = query;
    const page = { offset, limit, oldestFirst: ordering === "created_at" };
    return { listing: await listArtifacts(deps, filters, page, verify_exist), pagination: page };
  },
});

export const handler = toHandler(route, openDeps);
