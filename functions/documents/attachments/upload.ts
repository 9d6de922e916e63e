import * as z from "zod";
import { type Deps, openDeps } from "#lib/app/aws.ts";
import { authorize } from "#lib/documents/authorization/document-access.ts";
import { documentParams } from "#lib/documents/fields.ts";
import { fileError, inMegabytes } from "#lib/documents/media/quotas.ts";
import { uploadAttachment } from "#lib/documents/media/upload.ts";
import { resolveViewer } from "#lib/documents/requests/viewer.ts";
import { documentsService } from "#lib/documents/service.ts";
import { toHandler } from "#lib/http/handler.ts";
import { FileTooLargeError, NotAFileError, readFormFile } from "#lib/http/multipart.ts";
import { defineRoute, type MultipartBody } from "#lib/http/route.ts";
import { mediaCheckRecord, mediaCheckUrl } from "./check.ts";

/** More than the largest value of DOCUMENT_IMAGE_MAX_SIZE, and the other parts of a form. */
const BODY_MAX_BYTES = 104 * 1024 * 1024;

/** Reference 1.7, POST documents/{id}/attachment-upload/. Choice: infra/decisions/0118. */
export const route = defineRoute({
  service: documentsService,
  operationId: "uploadAttachment",
  method: "POST",
  path: "/documents/{id}/attachment-upload",
  summary: "Upload a file to a document; its URL is in the content of media-check/ once it is ready",
  tag: "Media",
  auth: "optional",
  throttle: "document",
  params: documentParams,
  body: z.custom<MultipartBody>(),
  bodyKind: "multipart",
  bodySchema: z.object({ file: z.string().meta({ format: "binary" }) }),
  bodyLimitBytes: BODY_MAX_BYTES,
  memoryMb: 1024,
  status: 201,
  response: mediaCheckRecord,
  errors: [403, 413],
  run: async ({ params, body, request }, deps: Deps) => {
    const viewer = await resolveViewer(deps, request);
    const access = await authorize(deps, viewer, params.id, "attachment_upload");
    const { maxBytes } = deps.documents.attachments;
    try {
      const key = await readFormFile(body, { field: "file", maxBytes }, (file) =>
        uploadAttachment(deps, access, file),
      );
      if (key === undefined) throw fileError("No file was submitted.");
      return { file: mediaCheckUrl(params.id, key) };
    } catch (error) {
      if (error instanceof FileTooLargeError)
        throw fileError(`File size exceeds the maximum limit of ${inMegabytes(maxBytes)}.`);
      if (error instanceof NotAFileError)
        throw fileError("The submitted data was not a file. Check the encoding type on the form.");
      throw error;
    }
  },
});

export const handler = toHandler(route, openDeps);
