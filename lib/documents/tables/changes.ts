import type { Key, TableSpec } from "../../platform/tables.ts";

/** The documents and relations that one transaction changed. Lists read these rows. */
export interface ChangeRow extends Key {
  /** Ids of changed documents. */
  readonly documents: readonly string[];
  /** Changed relations. */
  readonly relations: readonly (readonly [user: string, document: string])[];
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
