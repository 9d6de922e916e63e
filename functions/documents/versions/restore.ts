import * as z from "zod";
import { type DocumentDeps, openDocumentDeps } from "#lib/app/aws.ts";
import { takeEditLock } from "#lib/documents/connections/edit-lock.ts";
import { restoreVersion, versionIdParam } from "#lib/documents/content/versions.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Sets the content back to a version, for all who are editing it. */
export const route = defineRoute({
  service: documentsService,
  operationId: "restoreVersion",
  method: "POST",
  path: "/documents/{id}/versions/{versionId}/restore",
  summary: "Set the content of a document back to a version, as an edit that connected editors see",
  tag: "Content",
  auth: "optional",
  throttle: "document",
  params: documentParams.extend({ versionId: versionIdParam }),
  memoryMb: 1024,
  status: 204,
  response: z.void(),
  errors: [403, 412],
  run: async ({ params, request }, deps: DocumentDeps) =>
    restoreVersion(deps, await resolveViewer(deps, request), params.id, params.versionId, {
      ifMatch: request.headers["if-match"],
      lock: () => takeEditLock(deps, params.id, request, undefined),
    }),
});

export const handler = toHandler(route, openDocumentDeps);
