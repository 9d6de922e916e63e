import * as z from "zod";
import { ApiError } from "../../errors.ts";
import { authorize, type Viewer } from "../authorization/document-access.ts";
import { uploadBlob } from "../content/upload-urls.ts";
import { documentAttachmentsTable } from "../tables/attachments.ts";
import { inMegabytes } from "./quotas.ts";
import { type UploadDeps, uploadAttachment } from "./upload.ts";

const NAME_MAX = 1000;

/** Body of a request that begins an upload, and of one that finishes it. */
export const attachmentUploadBody = z.object({ bytes: z.int().min(1).describe("Size of the file") });
export const finishUploadBody = z.object({
  name: z.string().min(1).max(NAME_MAX).describe("Name of the file, with its extension"),
});

/** Throws `bad_request` for the field, if a file has more bytes than DOCUMENT_IMAGE_MAX_SIZE. */
export function checkFileSize(
  { documents: { attachments } }: Pick<UploadDeps, "documents">,
  bytes: number,
  field: string,
): void {
  const { maxBytes } = attachments;
  if (bytes <= maxBytes) return;
  const message = `File size exceeds the maximum limit of ${inMegabytes(maxBytes)}.`;
  throw new ApiError("bad_request", message, { body: { [field]: [message] } });
}

/**
 * Makes an uploaded file an attachment and returns its key. Repeating it returns the same key. Throws `not_found`, what
 * `uploadAttachment` throws, `unauthorized`, `forbidden`.
 */
export async function finishAttachmentUpload(
  deps: UploadDeps,
  viewer: Viewer,
  id: string,
  upload: string,
  name: string,
): Promise<string> {
  const access = await authorize(deps, viewer, id, "attachment_upload");
  const blob = uploadBlob(access, upload);
  const [info, finished] = await Promise.all([
    deps.blobs.head(blob),
    deps.tables.query(documentAttachmentsTable, {
      pk: id,
      sk: { beginsWith: `${id}/attachments/${upload}` },
      limit: 1,
    }),
  ]);
  const [attachment] = finished.items;
  if (info !== undefined && attachment !== undefined) return attachment.attachment;
  // The empty blob of content that was uploaded and saved.
  if (info === undefined || info.bytes === 0) throw new ApiError("not_found", "Upload not found.");
  checkFileSize(deps, info.bytes, "file");
  const chunks = await deps.blobs.stream(blob);
  if (chunks === undefined) throw new ApiError("not_found", "Upload not found.");
  const key = await uploadAttachment(deps, access, { name, chunks, id: upload });
  // The empty blob blocks the URL until old uploads are removed.
  await deps.blobs
    .put(blob, "")
    .catch((error: unknown) =>
      deps.log.warn("marking an upload as finished failed", { document: id, error }),
    );
  return key;
}
