import type { Ports } from "../../platform/ports.ts";
import { RASTER_IMAGES } from "../attachments/unsafe-types.ts";
import { attachmentBlob, type StoredAttachment } from "../tables/attachments.ts";

/** Part of a file, in bytes; `end` is exclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** How long a presigned URL is valid, seconds. */
export const DOWNLOAD_SECONDS = 60;

/** Whether browsers may show an attachment in place: a raster image that is what it claims to be. */
export const isShownInline = ({ type, is_unsafe }: StoredAttachment): boolean =>
  !is_unsafe && RASTER_IMAGES.has(type);

/** The content type to serve: an unsafe file is bytes, whatever it is. */
export const servedType = ({ type, is_unsafe }: StoredAttachment): string => {
  if (is_unsafe) return "application/octet-stream";
  return type.startsWith("text/") ? `${type}; charset=utf-8` : type;
};

/** The tag of an attachment, whose bytes never change. */
export const mediaEtag = (key: string): string => key.slice(key.lastIndexOf("/") + 1, key.lastIndexOf("."));

/** How an attachment is served, except its content and length. */
export const mediaFile = (key: string, attachment: StoredAttachment) => ({
  type: servedType(attachment),
  name: attachment.name,
  isInline: isShownInline(attachment),
  headers: {
    "accept-ranges": "bytes",
    "cache-control": "private, no-cache",
    etag: `"${mediaEtag(key)}"`,
    "last-modified": new Date(attachment.created_at).toUTCString(),
  },
});

/** Opens the bytes of an attachment, or a part of them. Throws if they are missing. */
export async function openAttachment(
  { blobs }: Pick<Ports, "blobs">,
  key: string,
  range?: ByteRange,
): Promise<AsyncIterable<Uint8Array>> {
  const chunks = await blobs.stream(attachmentBlob(key), range);
  if (chunks === undefined) throw new Error(`the bytes of the attachment ${key} are missing`);
  return chunks;
}

/** Header names as proxies configure them. */
const SIGNED_HEADERS: Readonly<Record<string, string>> = {
  authorization: "Authorization",
  "x-amz-date": "X-Amz-Date",
  "x-amz-content-sha256": "X-Amz-Content-SHA256",
  "x-amz-security-token": "X-Amz-Security-Token",
};

/** The headers with which a proxy gets the bytes from the blob store; none if it has no URLs of its own. */
export async function authorizeDownload(
  { blobs }: Pick<Ports, "blobs">,
  key: string,
): Promise<Readonly<Record<string, string>>> {
  const headers = (await blobs.authorizeDownload?.(attachmentBlob(key))) ?? {};
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [SIGNED_HEADERS[name] ?? name, value]),
  );
}

/** The URL at which the blob store serves an attachment; undefined if it has none. */
export function downloadUrl(
  { blobs }: Pick<Ports, "blobs">,
  key: string,
  attachment: StoredAttachment,
  contentDisposition: string,
): Promise<string> | undefined {
  return blobs.downloadUrl?.(attachmentBlob(key), {
    seconds: DOWNLOAD_SECONDS,
    contentType: servedType(attachment),
    contentDisposition,
    cacheControl: "private, max-age=60",
  });
}
