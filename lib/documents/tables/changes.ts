import type { Key, TableSpec, Tables } from "../../platform/tables.ts";

/** What one transaction changed. Lists and open connections read these rows. */
export interface ChangeRow extends Key {
  /** Ids of changed documents. */
  readonly documents: readonly string[];
  /** Those whose link, parent or deletion has changed. Missing in rows of earlier versions: it may be all of them. */
  readonly access?: readonly string[];
  /** Changed relations. */
  readonly relations: readonly (readonly [user: string, document: string])[];
  /** Ids of users whose sessions or tokens were ended; missing if there are none. */
  readonly users?: readonly string[];
}

/** Number of rows ever written to a shard. */
export interface ChangeCount extends Key {
  readonly count: number;
}

/**
 * Change rows by shard, sorted by id. The counts of all shards are one partition; where partitions have limits, each
 * shard's are one, in several parts.
 */
export const changesTable: TableSpec<ChangeRow> = { name: "document-changes", indexes: {} };
export const countsTable: TableSpec<ChangeCount> = { name: "document-change-counts", indexes: {} };
export const CHANGE_COUNTS = "counts";

/** Shards keep concurrent transactions from writing the same count. */
export const SHARDS = [..."0123456789abcdef"] as const;

type CountTables = Pick<Tables, "partitionLimits">;

const countPartition = (shard: string): string => `${CHANGE_COUNTS}#${shard}`;

/**
 * The item that counts a row: where partitions have limits, one of sixteen parts of its shard's count, so that few
 * transactions write the same item.
 */
export function countKey({ partitionLimits }: CountTables, { pk: shard, sk: id }: Key): Key {
  if (partitionLimits !== true) return { pk: CHANGE_COUNTS, sk: shard };
  return { pk: countPartition(shard), sk: id.slice(-2, -1) };
}

/** Number of rows ever written to each shard. */
export async function readChangeCounts(tables: Tables): Promise<ReadonlyMap<string, number>> {
  if (tables.partitionLimits !== true) {
    const { items } = await tables.query(countsTable, { pk: CHANGE_COUNTS });
    return new Map(items.map(({ sk, count }) => [sk, count]));
  }
  const counts = SHARDS.map(async (shard) => {
    const { items } = await tables.query(countsTable, { pk: countPartition(shard) });
    return [shard, items.reduce((sum, { count }) => sum + count, 0)] as const;
  });
  return new Map(await Promise.all(counts));
}
