import { type Deps, openDeps } from "#lib/app/aws.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { importRecord, readImport, toImportRecord } from "#lib/documents/imports/import-record.ts";
import { requireUser } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Choice: infra/decisions/0124. */
export const route = defineRoute({
  service: documentsService,
  operationId: "getImport",
  method: "GET",
  path: "/imports/{id}",
  summary: "The progress of an import of the caller",
  tag: "Documents",
  auth: "required",
  throttle: "document",
  params: documentParams,
  status: 200,
  response: importRecord,
  run: async ({ params, request }, deps: Deps) =>
    toImportRecord(await readImport(deps, await requireUser(deps, request), params.id)),
});

export const handler = toHandler(route, openDeps);
