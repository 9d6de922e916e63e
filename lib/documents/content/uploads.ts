import { ApiError } from "../../errors.ts";
import { authorize, type Viewer } from "../authorization/document-access.ts";
import { CONTENT_MAX_BYTES } from "../tables/versions.ts";
import { contentTooLarge, parseContent } from "./body.ts";
import { type SaveDeps, saveContent } from "./save.ts";
import { uploadBlob } from "./upload-urls.ts";

/**
 * Saves uploaded content like a content update. It can be retried after a conflict, and repeating it changes nothing.
 * Throws `bad_request`, `payload_too_large`, `precondition_failed`, `not_found`, `unauthorized`, `forbidden`.
 */
export async function finishUpload(
  deps: SaveDeps,
  viewer: Viewer,
  id: string,
  upload: string,
  ifMatch: string | undefined,
): Promise<void> {
  const access = await authorize(deps, viewer, id, "content_patch");
  const blob = uploadBlob(access, upload);
  const info = await deps.blobs.head(blob);
  if (info !== undefined && info.bytes > CONTENT_MAX_BYTES) throw contentTooLarge();
  const bytes = info && (await deps.blobs.get(blob));
  if (bytes === undefined) throw new ApiError("not_found", "Upload not found.");
  // Uploads are never empty: another call has finished it.
  if (bytes.length === 0) return;
  await saveContent(deps, access, parseContent(bytes), { ifMatch });
  // The empty blob marks the upload as finished and blocks its URL until old uploads are removed.
  await deps.blobs
    .put(blob, "")
    .catch((error: unknown) =>
      deps.log.warn("marking an upload as finished failed", { document: id, error }),
    );
}
