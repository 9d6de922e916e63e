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
  /** Position of the last update of the log that the content includes. Absent: 0. */
  readonly position?: number;
}

/** A state that was saved, to recognize it when it is sent again. */
export interface SavedState {
  /** MD5 of its bytes, hexadecimal. */
  readonly etag: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Id of the user who saved it; null if anonymous. */
  readonly by: string | null;
  /** Position of the log afterwards. */
  readonly position: number;
  /** Whether it did not become the content itself, but was merged with other edits or made an edit. */
  readonly isMerged: boolean;
}

/** A version of a document's content; immutable. The bytes are a blob. */
export interface StoredVersion extends Key {
  readonly etag: string;
  readonly bytes: number;
  readonly kind: ContentKind;
  readonly last_modified: string;
  /** Id of the user who saved it; null if anonymous. */
  readonly author: string | null;
  /** Keys of the attachments that it references; absent in versions of earlier releases. */
  readonly attachments?: readonly string[];
  /** Ids of the users whose edits since the previous version it includes, if it was made from the update log. */
  readonly authors?: readonly string[];
}

/** Sorted by id, that is, by time. */
export const versionsTable: TableSpec<StoredVersion> = { name: "document-versions", indexes: {} };
export const versionKey = (document: string, version: string): Key => ({ pk: document, sk: version });

/** Blob key of a version. */
export const versionBlob = (document: string, version: string): string => `documents/${document}/${version}`;
