import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { workflowsService } from "#lib/workflows/service.ts";
import { deleteVulnerability, vulnerabilityId } from "#lib/workflows/vulnerabilities/list.ts";

/** Reference 1.6, DELETE /vulnerabilities/:id. */
export const route = defineRoute({
  service: workflowsService,
  operationId: "deleteVulnerability",
  method: "DELETE",
  path: "/vulnerabilities/{id}",
  summary: "Delete a vulnerability",
  tag: "Vulnerabilities",
  auth: "required",
  params: z.object({ id: vulnerabilityId }),
  status: 200,
  response: z.object({ message: z.string() }),
  errors: [409],
  run: async ({ params }, deps: Deps) => {
    await deleteVulnerability(deps, params.id);
    return { message: "Vulnerability deleted successfully" };
  },
});

export const handler = toHandler(route, openDeps);
