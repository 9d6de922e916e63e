import { type Deps, openDeps } from "#lib/app/aws.ts";
import { beginUpload, uploadRecord } from "#lib/documents/content/upload-urls.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { attachmentUploadBody, checkFileSize } from "#lib/documents/media/finish-upload.ts";
import { can } from "#lib/documents/requests/can.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { defineRoute } from "#lib/http/route.ts";

/** For files that are too large for a request to a function in Lambda. Choice: infra/decisions/0118. */
export const route = defineRoute({
  service: documentsService,
  operationId: "beginAttachmentUpload",
  method: "POST",
  path: "/documents/{id}/attachment-uploads",
  summary: "Get a URL to upload a file; the finish call then makes it an attachment",
  tag: "Media",
  auth: "optional",
  throttle: "document",
  params: documentParams,
  body: attachmentUploadBody,
  status: 201,
  response: uploadRecord,
  errors: [403],
  before: can("attachment_upload"),
  run: async ({ params, body: { bytes }, request }, deps: Deps) => {
    const viewer = await resolveViewer(deps, request);
    const baseUrl = deps.publicUrl ?? new URL(request.address()).origin;
    const credential = request.principal?.credential;
    const upload = await beginUpload(deps, viewer, params.id, { bytes, baseUrl, credential });
    checkFileSize(deps, bytes, "bytes");
    return upload;
  },
});

export const handler = toHandler(route, openDeps);
