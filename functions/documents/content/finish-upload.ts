import * as z from "zod";
import { type DocumentDeps, openDocumentDeps } from "#lib/app/aws.ts";
import { uploadIdParam } from "#lib/documents/content/upload-urls.ts";
import { finishUpload } from "#lib/documents/content/uploads.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** Like PATCH documents/{id}/content/, with uploaded content. Choice: infra/decisions/0062. */
export const route = defineRoute({
  service: documentsService,
  operationId: "finishContentUpload",
  method: "POST",
  path: "/documents/{id}/content-uploads/{uploadId}/finish",
  summary: "Save uploaded content; If-Match prevents lost updates",
  tag: "Content",
  auth: "optional",
  throttle: "document",
  params: documentParams.extend({ uploadId: uploadIdParam }),
  memoryMb: 1024,
  status: 204,
  response: z.void(),
  errors: [403, 412, 413],
  run: async ({ params, request }, deps: DocumentDeps) => {
    const viewer = await resolveViewer(deps, request);
    await finishUpload(deps, viewer, params.id, params.uploadId, request.headers["if-match"]);
  },
});

export const handler = toHandler(route, openDocumentDeps);
