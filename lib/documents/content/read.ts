import type { Ports } from "../../platform/ports.ts";
import { type AuthorizationDeps, authorize, type Viewer } from "../authorization/document-access.ts";
import { type ContentHead, versionBlob } from "../tables/versions.ts";

export type ContentDeps = AuthorizationDeps & Pick<Ports, "blobs">;

/** Content that can be read, in chunks. */
export interface OpenedContent {
  readonly head: ContentHead;
  open(): Promise<AsyncIterable<Uint8Array>>;
}

/**
 * The latest content of a document; undefined where none was ever saved. Throws `not_found`, `unauthorized`,
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

/** The bytes of a version. Throws where they are gone, which those of the latest never are. */
export async function openVersion(
  { blobs }: Pick<Ports, "blobs">,
  document: string,
  version: string,
): Promise<AsyncIterable<Uint8Array>> {
  const stream = await blobs.stream(versionBlob(document, version));
  if (stream === undefined) throw new Error(`the bytes of version ${version} of ${document} are gone`);
  return stream;
}

/** All bytes of a document's latest content, for whoever has to have them in one piece; undefined without any. */
export async function contentBytes(
  { blobs }: Pick<Ports, "blobs">,
  document: string,
  { version }: Pick<ContentHead, "version">,
): Promise<Uint8Array> {
  const bytes = await blobs.get(versionBlob(document, version));
  if (bytes === undefined) throw new Error(`the bytes of version ${version} of ${document} are gone`);
  return bytes;
}
