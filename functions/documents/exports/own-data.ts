import { type Deps, openDeps } from "#lib/app/aws.ts";
import { exportRecord, startExport } from "#lib/documents/exports/export-jobs.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Choice: infra/decisions/0122. */
export const route = defineRoute({
  service: documentsService,
  operationId: "exportOwnData",
  method: "GET",
  path: "/users/me/export",
  summary: "Export all documents that the caller owns, their accesses and their comments",
  tag: "Exports",
  auth: "required",
  throttle: "document",
  status: 202,
  response: exportRecord,
  errors: [429, 503],
  run: async ({ request }, deps: Deps) =>
    startExport(deps, await requireUser(deps, request), {
      baseUrl: deps.publicUrl ?? new URL(request.address()).origin,
    }),
});

export const handler = toHandler(route, openDeps);
