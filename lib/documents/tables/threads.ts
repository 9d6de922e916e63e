import type { Key, TableSpec } from "../../platform/tables.ts";

/** A comment thread on a document. Reference 2.4. */
export interface StoredThread extends Key {
  readonly id: string;
  readonly document: string;
  /** Null if the creator is anonymous. */
  readonly creator: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly resolved: boolean;
  readonly resolved_at: string | null;
  readonly resolved_by: string | null;
  /** Size of the thread with its comments; changes with each comment. */
  readonly bytes: number;
}

export const threadsTable: TableSpec<StoredThread> = { name: "document-threads", indexes: {} };
export const threadKey = (document: string, id: string): Key => ({ pk: document, sk: id });

/** Number and size of a document's threads. */
export interface ThreadUsage extends Key {
  readonly threads: number;
  readonly bytes: number;
}

export const threadUsageTable: TableSpec<ThreadUsage> = { name: "document-threads", indexes: {} };
export const threadUsageKey = (document: string): Key => ({ pk: `${document}/room`, sk: "room" });

/** All users who reacted with the same emoji. */
export type StoredReaction = {
  readonly id: string;
  readonly emoji: string;
  readonly created_at: string;
  /** User ids in order of reaction; never empty. */
  readonly users: readonly string[];
};

export interface StoredComment extends Key {
  readonly id: string;
  readonly document: string;
  readonly thread: string;
  readonly user: string | null;
  /** JSON text, because editors nest values deeper than items allow. */
  readonly body: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly reactions: readonly StoredReaction[];
  /** Incremented with each change, for optimistic locking. */
  readonly revision: number;
}

/** All comments of a document are one partition, since its threads are listed together. */
export const commentsTable: TableSpec<StoredComment> = { name: "document-comments", indexes: {} };
export const commentsOf = (thread: string): string => `${thread}/`;
export const commentKey = (document: string, thread: string, id: string): Key => ({
  pk: document,
  sk: `${commentsOf(thread)}${id}`,
});
