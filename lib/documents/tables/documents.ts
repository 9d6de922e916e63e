import type { Key, TableSpec } from "../../platform/tables.ts";
import type { LinkReach, LinkRole } from "../access/links.ts";
import type { ContentHead, SavedState } from "./versions.ts";

/** Maximum levels of a tree, including the root. Reference 2.1. */
export const DEPTH_MAX = 36;

/** A document without its content. Counters and pending updates are internal to Weft. */
export interface StoredDocument extends Key {
  readonly id: string;
  readonly title: string | null;
  readonly excerpt: string | null;
  readonly link_reach: LinkReach;
  readonly link_role: LinkRole;
  /** Id of the creator; null if unknown. */
  readonly creator: string | null;
  readonly duplicated_from: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  /** When the document itself was deleted. Its descendants count as deleted, but their items do not change. */
  readonly deleted_at: string | null;
  /** Null for a root. */
  readonly parent: string | null;
  /** Sort key among its siblings, and its segment of the path. */
  readonly order: string;
  /** Path segment of documents stored before the sort key was the segment. */
  readonly segment?: string;
  /** Ancestor ids, root first, as of the last write. Readers must verify them. */
  readonly chain: readonly string[];
  /** Incremented when the parent, order or deletion changes, for optimistic locking. */
  readonly position_version: number;
  /** Upper bound of the levels below it. It may be too high after descendants have moved away. */
  readonly height: number;
  /** Children that are not deleted. */
  readonly numchild: number;
  /** The document may have deleted children. */
  readonly has_deleted_children?: true;
  /** Number of its own access rows, and of owners among them. */
  readonly accesses: number;
  readonly owners: number;
  /** Id of the move whose staged accesses replace the document's own rows. Absent if the own rows count. */
  readonly pending_move?: string;
  /** Incremented when the document's own fields change, for optimistic locking. */
  readonly revision: number;
  /** Its latest content. Absent if none was ever saved. */
  readonly content?: ContentHead;
  /** Incremented when the content is replaced as a whole: updates of an earlier generation are refused. Absent: 0. */
  readonly generation?: number;
  /** The current generation may have a log of updates. */
  readonly has_log?: true;
  /** Position up to which the latest version includes the log, so that its entries may be deleted. Absent: 0. */
  readonly log_start?: number;
  /** States that were saved within the last minutes, oldest first. */
  readonly recent_saves?: readonly SavedState[];
  /** Version id from which the next retention pass continues; empty to start over. */
  readonly retention_cursor?: string;
  /** Hash of the session that saves without the collaboration server, and until when no other may, milliseconds. */
  readonly edit_lock_by?: string;
  readonly edit_lock_until?: number;
  /** When the pending `documents.updated` event is due, milliseconds since the epoch; absent if none is pending. */
  readonly pending_update_at?: number;
  readonly pending_update_by?: string | null;
  /** Ids of the users whose edits in the log the event covers. */
  readonly pending_update_authors?: readonly string[];
  /** Number of workflow runs that led to the edits, to stop loops. */
  readonly pending_update_hop?: number;
  readonly pending_update_content?: true;
  readonly pending_update_title?: true;
  readonly pending_update_excerpt?: true;
}

export const documentsTable: TableSpec<StoredDocument> = { name: "documents", indexes: {} };

export const documentKey = (id: string): Key => ({ pk: id, sk: "document" });

/** A child by its sort key, or (under the arrangement key) the arrangement version. */
export interface ChildItem extends Key {
  readonly id: string;
  readonly version?: number;
}

export const childrenTable: TableSpec<ChildItem> = { name: "document-children", indexes: {} };

/** Live children are one partition, deleted children another. All roots are one partition. */
export const childrenOf = (parent: string | null): string => parent ?? "roots";
export const deletedChildrenOf = (parent: string): string => `${parent}/deleted`;

export const arrangementKey = (parent: string | null): Key => ({
  pk: `${childrenOf(parent)}/arrangement`,
  sk: "arrangement",
});
