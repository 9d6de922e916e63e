import * as z from "zod";
import { type DocumentDeps, openDocumentDeps } from "#lib/app/aws.ts";
import { deleteVersion, versionIdParam } from "#lib/documents/content/versions.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Reference 1.7, DELETE documents/{id}/versions/{version_id}/. */
export const route = defineRoute({
  service: documentsService,
  operationId: "deleteVersion",
  method: "DELETE",
  path: "/documents/{id}/versions/{versionId}",
  summary: "Permanently delete an earlier version of a document's content",
  tag: "Content",
  auth: "optional",
  throttle: "document",
  params: documentParams.extend({ versionId: versionIdParam }),
  status: 204,
  response: z.void(),
  errors: [403],
  run: async ({ params, request }, deps: DocumentDeps) =>
    deleteVersion(deps, await resolveViewer(deps, request), params.id, params.versionId),
});

export const handler = toHandler(route, openDocumentDeps);
