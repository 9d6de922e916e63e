import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { arrivalOrderingQuery, pageQuery, textQuery } from "#lib/http/page.ts";
import { defineRoute } from "#lib/http/route.ts";
import { orgQuery } from "#lib/workflows/lists/organization.ts";
import { workflowsService } from "#lib/workflows/service.ts";
import { listVulnerabilities, vulnerabilityRecord } from "#lib/workflows/vulnerabilities/list.ts";

/** Reference 1.6, GET /vulnerabilities. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "listVulnerabilities",
  method: "GET",
  path: "/vulnerabilities",
  summary: "List vulnerabilities, newest first by default",
  tag: "Vulnerabilities",
  auth: "required",
  query: z.object({
    workspace: textQuery,
    org: orgQuery,
    severity: textQuery,
    confidence: textQuery,
    asset_value: textQuery.describe("Substring of it"),
    ordering: arrivalOrderingQuery,
    ...pageQuery,
  }),
  status: 200,
  response: vulnerabilityRecord,
  list: true,
  run: async ({ query }, deps: Deps) => {
    const { offset, limit, ordering, org: _org, ...filters } = query;
    const page = { offset, limit, oldestFirst: ordering === "created_at" };
    return { listing: await listVulnerabilities(deps, filters, page), pagination: page };
  },
});

export const handler = toHandler(route, openDeps);
