import type { Key, TableSpec } from "../../platform/tables.ts";

/** The kind of content: a Yjs state, or plain text. */
export const CONTENT_KINDS = ["yjs", "plain"] as const;
export type ContentKind = (typeof CONTENT_KINDS)[number];

/** Maximum content size, bytes. */
export const CONTENT_MAX_BYTES = 20 * 1024 * 1024;

/** The latest content as stored in the document's item. */
export interface ContentHead {
  /** Id of its version. */
  readonly version: string;
  /** MD5 of its bytes, hexadecimal. */
  readonly etag: string;
  readonly bytes: number;
  readonly kind: ContentKind;
  /** ISO 8601. */
  readonly saved_at: string;
}

/** A version of a document's content; immutable. The bytes are a blob. */
export interface StoredVersion extends Key {
  readonly etag: string;
  readonly bytes: number;
  readonly kind: ContentKind;
  readonly last_modified: string;
  /** Id of the user who saved it; null if anonymous. */
  readonly author: string | null;
}

/** Sorted by id, that is, by time. */
export const versionsTable: TableSpec<StoredVersion> = { name: "document-versions", indexes: {} };
export const versionKey = (document: string, version: string): Key => ({ pk: document, sk: version });

/** Blob key of a version. */
export const versionBlob = (document: string, version: string): string => `documents/${document}/${version}`;
