import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { workflowsService } from "#lib/workflows/service.ts";
import {
  getVulnerability,
  toRecord,
  vulnerabilityId,
  vulnerabilityRecord,
} from "#lib/workflows/vulnerabilities/list.ts";

/** Reference 1.6, GET /vulnerabilities/:id. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "getVulnerability",
  method: "GET",
  path: "/vulnerabilities/{id}",
  summary: "Get a vulnerability",
  tag: "Vulnerabilities",
  auth: "required",
  params: z.object({ id: vulnerabilityId }),
  status: 200,
  response: z.object({ data: vulnerabilityRecord }),
  run: async ({ params }, deps: Deps) => ({ data: toRecord(await getVulnerability(deps, params.id)) }),
});

export const handler = toHandler(route, openDeps);
