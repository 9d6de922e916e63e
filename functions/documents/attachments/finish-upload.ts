import { type Deps, openDeps } from "#lib/app/aws.ts";
import { uploadIdParam } from "#lib/documents/content/upload-urls.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { finishAttachmentUpload, finishUploadBody } from "#lib/documents/media/finish-upload.ts";
import { can } from "#lib/documents/requests/can.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";
import { mediaCheckRecord, mediaCheckUrl } from "./check.ts";

/** Like POST documents/{id}/attachment-upload/, with an uploaded file. Choice: infra/decisions/0118. */
export const route = defineRoute({
  service: documentsService,
  operationId: "finishAttachmentUpload",
  method: "POST",
  path: "/documents/{id}/attachment-uploads/{uploadId}/finish",
  summary: "Make an uploaded file an attachment of the document",
  tag: "Media",
  auth: "optional",
  throttle: "document",
  params: documentParams.extend({ uploadId: uploadIdParam }),
  body: finishUploadBody,
  memoryMb: 1024,
  status: 201,
  response: mediaCheckRecord,
  errors: [403],
  before: can("attachment_upload"),
  run: async ({ params, body, request }, deps: Deps) => {
    const viewer = await resolveViewer(deps, request);
    const key = await finishAttachmentUpload(deps, viewer, params.id, params.uploadId, body.name);
    return { file: mediaCheckUrl(params.id, key) };
  },
});

export const handler = toHandler(route, openDeps);
