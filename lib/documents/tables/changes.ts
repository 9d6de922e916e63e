import type { Key, TableSpec } from "../../platform/tables.ts";

/** What one transaction changed. Lists and open connections read these rows. */
export interface ChangeRow extends Key {
  /** Ids of changed documents. */
  readonly documents: readonly string[];
  /** Changed relations. */
  readonly relations: readonly (readonly [user: string, document: string])[];
  /** Ids of users whose sessions or tokens were ended; missing if there are none. */
  readonly users?: readonly string[];
}

/** Number of rows ever written to a shard. */
export interface ChangeCount extends Key {
  readonly count: number;
}

/** Change rows by shard, sorted by id; the counts of all shards are one partition. */
export const changesTable: TableSpec<ChangeRow> = { name: "document-changes", indexes: {} };
export const countsTable: TableSpec<ChangeCount> = { name: "document-change-counts", indexes: {} };
export const CHANGE_COUNTS = "counts";

/** Shards keep concurrent transactions from writing the same count. */
export const SHARDS = [..."0123456789abcdef"] as const;
