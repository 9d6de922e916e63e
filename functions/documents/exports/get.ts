import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { exportRecord, readExport } from "#lib/documents/exports/export-jobs.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Choice: infra/decisions/0122. */
export const route = defineRoute({
  service: documentsService,
  operationId: "getExport",
  method: "GET",
  path: "/exports/{id}",
  summary: "Get the progress of an export, and the link to its file",
  tag: "Exports",
  auth: "required",
  params: z.object({ id: z.guid() }),
  status: 200,
  response: exportRecord,
  errors: [404],
  run: async ({ params, request }, deps: Deps) =>
    readExport(deps, await requireUser(deps, request), params.id.toLowerCase()),
});

export const handler = toHandler(route, openDeps);
