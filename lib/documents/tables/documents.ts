import type { Key, TableSpec } from "../../platform/tables.ts";
import type { LinkReach, LinkRole } from "../access/links.ts";
import type { ContentHead } from "./versions.ts";

/** Levels of a tree, its root among them. Reference 2.1. */
export const DEPTH_MAX = 36;

/** A document without its content. Reference 2.1; what is counted or remembered besides is Weft's own. */
export interface StoredDocument extends Key {
  readonly id: string;
  readonly title: string | null;
  readonly excerpt: string | null;
  readonly link_reach: LinkReach;
  readonly link_role: LinkRole;
  /** Who made it; null where nobody is known. */
  readonly creator: string | null;
  readonly duplicated_from: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  /** When it was itself deleted; what lies below it is deleted with it and says nothing of it. */
  readonly deleted_at: string | null;
  /** Null for a root. */
  readonly parent: string | null;
  /** Key among the children of its parent, or the roots, which are in the order of their keys: its part of the path. */
  readonly order: string;
  /** Its part of the path if it was stored before its key was. */
  readonly segment?: string;
  /** Ancestors, root first, as they were when this was last written: whoever reads them checks them. */
  readonly chain: readonly string[];
  /** Moves with each change of parent, order or deletion: what leans on where a document is has it as a condition. */
  readonly position_version: number;
  /** Levels below it at most. It is never too low; it may be too high once what was below it has gone. */
  readonly height: number;
  /** Children that are not deleted. */
  readonly numchild: number;
  /** There may be children that were deleted. */
  readonly has_deleted_children?: true;
  /** Rows of access of its own, and those of owners among them. */
  readonly accesses: number;
  readonly owners: number;
  /**
   * The move after which its accesses are those staged for it, until they have replaced its own rows. Nothing while its
   * own rows count.
   */
  readonly pending_move?: string;
  /** Moves with each change of what the document itself says. */
  readonly revision: number;
  /** Its latest content; none was ever saved without it. */
  readonly content?: ContentHead;
  /** Where the next look for old versions begins; the empty text is their beginning. */
  readonly retention_cursor?: string;
  /** When `documents.updated` is to tell of edits, milliseconds since the epoch, and of what: nothing without it. */
  readonly pending_update_at?: number;
  readonly pending_update_by?: string | null;
  /** Runs that led to them. */
  readonly pending_update_hop?: number;
  readonly pending_update_content?: true;
  readonly pending_update_title?: true;
  readonly pending_update_excerpt?: true;
}

export const documentsTable: TableSpec<StoredDocument> = { name: "documents", indexes: {} };

export const documentKey = (id: string): Key => ({ pk: id, sk: "document" });

/** A child by its key among its siblings, or how often they were given keys elsewhere than at the end. */
export interface ChildItem extends Key {
  readonly id: string;
  readonly version?: number;
}

export const childrenTable: TableSpec<ChildItem> = { name: "document-children", indexes: {} };

/** Children of a parent that are live are one partition, deleted ones another; all roots are one. */
export const childrenOf = (parent: string | null): string => parent ?? "roots";
export const deletedChildrenOf = (parent: string): string => `${parent}/deleted`;

export const arrangementKey = (parent: string | null): Key => ({
  pk: `${childrenOf(parent)}/arrangement`,
  sk: "arrangement",
});
