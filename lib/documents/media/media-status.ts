import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import { isAttachmentKey } from "../attachments/attachment-keys.ts";
import {
  attachmentBlob,
  attachmentKey,
  attachmentsTable,
  containedKey,
  documentAttachmentsTable,
} from "../tables/attachments.ts";

export type MediaStatus =
  | { readonly status: "processing" }
  | { readonly status: "ready"; readonly file: string };

/**
 * Returns the state of an attachment of a document, and its path once it is ready. Throws `bad_request` without a key,
 * `not_found` if the document does not contain it, it was infected, or its bytes are missing. Reference 1.7.
 */
export async function checkMedia(
  { tables, blobs }: Pick<Ports, "tables" | "blobs">,
  document: string,
  key: string | undefined,
): Promise<MediaStatus> {
  if (!key) throw new ApiError("bad_request", "Missing 'key' query parameter");
  const [stored, contained] = isAttachmentKey(key)
    ? await Promise.all([
        tables.get(attachmentsTable, attachmentKey(key)),
        tables.get(documentAttachmentsTable, containedKey(document, key)),
      ])
    : [];
  if (stored === undefined || contained === undefined) throw new ApiError("not_found", "Attachment missing");
  if (stored.state === "infected")
    throw new ApiError("not_found", "Attachment missing: it was deleted because it is dangerous");
  if (stored.state === "processing") return { status: "processing" };
  if ((await blobs.head(attachmentBlob(key))) === undefined)
    throw new ApiError("not_found", "Media not found");
  return { status: "ready", file: `/media/${key}` };
}
