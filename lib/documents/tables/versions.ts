import type { Key, TableSpec } from "../../platform/tables.ts";

/** What content is: a state of Yjs, or text that somebody wrote elsewhere. */
export const CONTENT_KINDS = ["yjs", "plain"] as const;
export type ContentKind = (typeof CONTENT_KINDS)[number];

/** A document's content at its largest, bytes. */
export const CONTENT_MAX_BYTES = 20 * 1024 * 1024;

/** What a document's row says of its latest content. */
export interface ContentHead {
  /** Id of the version that it is. */
  readonly version: string;
  /** MD5 of its bytes, hexadecimal. */
  readonly etag: string;
  readonly bytes: number;
  readonly kind: ContentKind;
  /** ISO 8601. */
  readonly saved_at: string;
}

/** A version of a document's content; it never changes. The bytes are a blob. */
export interface StoredVersion extends Key {
  readonly etag: string;
  readonly bytes: number;
  readonly kind: ContentKind;
  readonly last_modified: string;
  /** Id of the user who saved it; null where nobody is known. */
  readonly author: string | null;
}

/** Sorted by their ids, which is by time. */
export const versionsTable: TableSpec<StoredVersion> = { name: "document-versions", indexes: {} };
export const versionKey = (document: string, version: string): Key => ({ pk: document, sk: version });

/** Where the bytes of a version lie. */
export const versionBlob = (document: string, version: string): string => `documents/${document}/${version}`;
