import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { workflowsService } from "#lib/workflows/service.ts";
import { createVulnerability, vulnerabilityBody } from "#lib/workflows/vulnerabilities/create.ts";
import { vulnerabilityRecord } from "#lib/workflows/vulnerabilities/list.ts";

/** Reference 1.6, POST /vulnerabilities. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "createVulnerability",
  method: "POST",
  path: "/vulnerabilities",
  summary: "Record a vulnerability",
  tag: "Vulnerabilities",
  auth: "required",
  body: vulnerabilityBody,
  status: 201,
  response: z.object({ data: vulnerabilityRecord, message: z.string() }),
  errors: [409],
  run: async ({ body }, deps: Deps) => ({
    data: await createVulnerability(deps, body),
    message: "Vulnerability created successfully",
  }),
});

export const handler = toHandler(route, openDeps);
