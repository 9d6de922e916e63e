import type { Key, TableSpec } from "../../platform/tables.ts";

/** One transaction's changes of what lists are made from. */
export interface ChangeRow extends Key {
  /** Ids of documents. */
  readonly documents: readonly string[];
  /** Of people to documents. */
  readonly relations: readonly (readonly [user: string, document: string])[];
}

/** How many rows a shard has had. */
export interface ChangeCount extends Key {
  readonly count: number;
}

/** Rows by shard, in the order of their ids, and one partition of the counts of all shards. */
export const changesTable: TableSpec<ChangeRow> = { name: "document-changes", indexes: {} };
export const countsTable: TableSpec<ChangeCount> = { name: "document-change-counts", indexes: {} };
export const CHANGE_COUNTS = "counts";

/** Shards, so that those who write at the same time rarely meet. */
export const SHARDS = [..."0123456789abcdef"] as const;
