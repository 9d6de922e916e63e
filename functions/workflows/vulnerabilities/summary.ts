import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { textQuery } from "#lib/http/page.ts";
import { defineRoute } from "#lib/http/route.ts";
import { workflowsService } from "#lib/workflows/service.ts";
import { summarizeVulnerabilities, vulnerabilitySummary } from "#lib/workflows/vulnerabilities/list.ts";

/** Reference 1.6, GET /vulnerabilities/summary. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "getVulnerabilitySummary",
  method: "GET",
  path: "/vulnerabilities/summary",
  summary: "Count vulnerabilities by severity",
  tag: "Vulnerabilities",
  auth: "required",
  query: z.object({ workspace: textQuery }),
  status: 200,
  response: z.object({ data: vulnerabilitySummary }),
  run: async ({ query }, deps: Deps) => ({ data: await summarizeVulnerabilities(deps, query.workspace) }),
});

export const handler = toHandler(route, openDeps);
