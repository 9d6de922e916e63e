import type { Ports } from "../../platform/ports.ts";
import type { RenderedImage } from "../../platform/renderer.ts";
import { findAttachmentKeys } from "../attachments/attachment-keys.ts";
import { mayReadAttachment } from "../attachments/media-access.ts";
import type { AuthorizationDeps, Viewer } from "../authorization/document-access.ts";
import { isShownInline } from "../media/read-media.ts";
import {
  attachmentBlob,
  attachmentKey,
  attachmentsTable,
  type StoredAttachment,
} from "../tables/attachments.ts";

/** Images of one document, and their bytes. Those above the limits stay links. */
const IMAGES_MAX = 500;
const IMAGES_MAX_BYTES = 64 * 1024 * 1024;

/**
 * The images that a document shows and the viewer may read. Only raster images that are what they claim to be: the
 * others stay links, like everything on other hosts.
 */
export const findImages = (deps: AuthorizationDeps, viewer: Viewer, blocks: string) =>
  readableAttachments(deps, viewer, blocks, isShownInline);

/** Reads images, by key in lower case. */
export async function readImages(
  { blobs }: Pick<Ports, "blobs">,
  found: readonly StoredAttachment[],
): Promise<Map<string, RenderedImage>> {
  const images = new Map<string, RenderedImage>();
  let bytesLeft = IMAGES_MAX_BYTES;
  for (const { pk: key, type, bytes } of found) {
    if (bytes > bytesLeft) continue;
    const content = await blobs.get(attachmentBlob(key));
    if (content === undefined) continue;
    bytesLeft -= content.length;
    images.set(key.toLowerCase(), { type, bytes: content });
  }
  return images;
}

/** The attachments that the blocks reference and the viewer may read. */
export async function readableAttachments(
  deps: AuthorizationDeps,
  viewer: Viewer,
  blocks: string,
  isWanted: (attachment: StoredAttachment) => boolean,
): Promise<StoredAttachment[]> {
  const keys = findAttachmentKeys(Buffer.from(blocks)).slice(0, IMAGES_MAX);
  if (keys.length === 0) return [];
  const stored = await deps.tables.batchGet(attachmentsTable, keys.map(attachmentKey));
  const found: StoredAttachment[] = [];
  for (const attachment of stored) {
    const { pk: key, state } = attachment;
    if (state !== "ready" || !isWanted(attachment)) continue;
    const document = key.slice(0, key.indexOf("/"));
    if (await mayReadAttachment(deps, viewer, { key, document })) found.push(attachment);
  }
  return found;
}
