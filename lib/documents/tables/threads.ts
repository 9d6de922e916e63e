import type { Key, TableSpec } from "../../platform/tables.ts";

/** A talk about a document. Reference 2.4. */
export interface StoredThread extends Key {
  readonly id: string;
  readonly document: string;
  /** Null where whoever began it has no name. */
  readonly creator: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly resolved: boolean;
  readonly resolved_at: string | null;
  readonly resolved_by: string | null;
  /** What it takes of its document's room, with its comments: moves with each of them. */
  readonly bytes: number;
}

export const threadsTable: TableSpec<StoredThread> = { name: "document-threads", indexes: {} };
export const threadKey = (document: string, id: string): Key => ({ pk: document, sk: id });

/** What the threads of a document come to. */
export interface ThreadUsage extends Key {
  readonly threads: number;
  readonly bytes: number;
}

export const threadUsageTable: TableSpec<ThreadUsage> = { name: "document-threads", indexes: {} };
export const threadUsageKey = (document: string): Key => ({ pk: `${document}/room`, sk: "room" });

/** Everybody who answered with the same emoji. */
export type StoredReaction = {
  readonly id: string;
  readonly emoji: string;
  readonly created_at: string;
  /** Ids, first one first; never none. */
  readonly users: readonly string[];
};

export interface StoredComment extends Key {
  readonly id: string;
  readonly document: string;
  readonly thread: string;
  readonly user: string | null;
  /** JSON text: any value that an editor makes, deeper than items may be. */
  readonly body: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly reactions: readonly StoredReaction[];
  /** Moves with each change: the condition of the next one. */
  readonly revision: number;
}

/** All comments of a document are one partition: its threads are listed whole. */
export const commentsTable: TableSpec<StoredComment> = { name: "document-comments", indexes: {} };
export const commentsOf = (thread: string): string => `${thread}/`;
export const commentKey = (document: string, thread: string, id: string): Key => ({
  pk: document,
  sk: `${commentsOf(thread)}${id}`,
});
