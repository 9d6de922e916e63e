import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { diffAnswer, diffQuery, diffVulnerabilities } from "#lib/workflows/diffs/compute-diff.ts";
import { workflowsService } from "#lib/workflows/service.ts";

/** Reference 1.6, GET /vulnerabilities/diff. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "diffVulnerabilities",
  method: "GET",
  path: "/vulnerabilities/diff",
  summary: "Vulnerabilities of a workspace that were added, removed or changed between two times",
  tag: "Vulnerabilities",
  auth: "required",
  query: diffQuery,
  status: 200,
  response: z.object({ data: diffAnswer }),
  run: async ({ query }, deps: Deps) => ({ data: await diffVulnerabilities(deps, query) }),
});

export const handler = toHandler(route, openDeps);
