import { type AuthorizationDeps, authorize, type Viewer } from "../authorization/document-access.ts";
import type { StoredDocument } from "../tables/documents.ts";
import { type ContentKind, versionBlob } from "../tables/versions.ts";
import {
  type Content,
  contentEtag,
  contentWithLog,
  type LogDeps,
  readDocumentWithLog,
} from "../updates/read-log.ts";

export type ContentDeps = AuthorizationDeps & LogDeps;

/** Content to stream. */
export interface OpenedContent {
  readonly etag: string;
  readonly bytes: number;
  readonly kind: ContentKind;
  /** ISO 8601. */
  readonly saved_at: string;
  open(): Promise<AsyncIterable<Uint8Array>>;
}

/**
 * Returns the current content of a document, with the updates in its log; undefined if none was ever saved. Throws
 * `not_found`, `unauthorized`, `forbidden`. Reference 1.5.
 */
export async function readContent(
  deps: ContentDeps,
  viewer: Viewer,
  id: string,
): Promise<OpenedContent | undefined> {
  const { document } = await authorize(deps, viewer, id, "content_retrieve");
  const read = await readDocumentWithLog(deps, id, document);
  const head = read.document.content;
  const last = read.entries.at(-1);
  if (last === undefined)
    return head && { ...head, open: () => openVersion(deps, document.id, head.version) };
  const content = await contentWithLog(deps, read);
  if (content === undefined) return undefined;
  const { bytes, kind } = content;
  return {
    etag: contentEtag(read),
    bytes: bytes.length,
    kind,
    saved_at: last.at,
    open: async () => inChunks(bytes),
  };
}

async function* inChunks(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Streams a version's bytes. Throws if they are missing, which never happens to the latest. */
export async function openVersion(
  { blobs }: Pick<LogDeps, "blobs">,
  document: string,
  version: string,
): Promise<AsyncIterable<Uint8Array>> {
  const stream = await blobs.stream(versionBlob(document, version));
  if (stream === undefined)
    throw new Error(`the bytes of version ${version} of document ${document} are missing`);
  return stream;
}

/**
 * Reads a document's current content, with the updates in its log, and its entity tag; undefined if nothing was ever
 * saved. Throws `not_found`.
 */
export async function readCurrentContent(
  deps: LogDeps,
  document: StoredDocument,
): Promise<(Content & { readonly etag: string }) | undefined> {
  const read = await readDocumentWithLog(deps, document.id, document);
  const content = await contentWithLog(deps, read);
  return content && { ...content, etag: contentEtag(read) };
}
