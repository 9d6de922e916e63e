import { type Deps, openDeps } from "#lib/app/aws.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { readDocument } from "#lib/documents/records/read.ts";
import { documentRecord, toDocument } from "#lib/documents/records/record.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Seed: documents 4, GET documents/{document_id}/; reference 1.2. */
export const route = defineRoute({
  service: documentsService,
  operationId: "getDocument",
  method: "GET",
  path: "/documents/{id}",
  summary: "Get a document, without its content",
  tag: "Documents",
  auth: "optional",
  throttle: "document",
  params: documentParams,
  status: 200,
  response: documentRecord,
  errors: [403],
  run: async ({ params, request }, deps: Deps) =>
    toDocument(await readDocument(deps, await resolveViewer(deps, request), params.id)),
});

export const handler = toHandler(route, openDeps);
