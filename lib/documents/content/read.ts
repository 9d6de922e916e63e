import type { Ports } from "../../platform/ports.ts";
import { type AuthorizationDeps, authorize, type Viewer } from "../authorization/document-access.ts";
import { type ContentHead, versionBlob } from "../tables/versions.ts";

export type ContentDeps = AuthorizationDeps & Pick<Ports, "blobs">;

/** Content to stream. */
export interface OpenedContent {
  readonly head: ContentHead;
  open(): Promise<AsyncIterable<Uint8Array>>;
}

/**
 * Returns the latest content of a document; undefined if none was ever saved. Throws `not_found`, `unauthorized`,
 * `forbidden`. Reference 1.5.
 */
export async function readContent(
  deps: ContentDeps,
  viewer: Viewer,
  id: string,
): Promise<OpenedContent | undefined> {
  const { document } = await authorize(deps, viewer, id, "content_retrieve");
  const { content: head } = document;
  return head && { head, open: () => openVersion(deps, document.id, head.version) };
}

/** Streams a version's bytes. Throws if they are missing, which never happens to the latest. */
export async function openVersion(
  { blobs }: Pick<Ports, "blobs">,
  document: string,
  version: string,
): Promise<AsyncIterable<Uint8Array>> {
  const stream = await blobs.stream(versionBlob(document, version));
  if (stream === undefined)
    throw new Error(`the bytes of version ${version} of document ${document} are missing`);
  return stream;
}

/** Reads all bytes of a document's latest content. */
export async function contentBytes(
  { blobs }: Pick<Ports, "blobs">,
  document: string,
  { version }: Pick<ContentHead, "version">,
): Promise<Uint8Array> {
  const bytes = await blobs.get(versionBlob(document, version));
  if (bytes === undefined)
    throw new Error(`the bytes of version ${version} of document ${document} are missing`);
  return bytes;
}
