import type { Ports } from "../../platform/ports.ts";
import type { Key, TableSpec, Write } from "../../platform/tables.ts";

/** Lists with an index for filters and totals. */
export type ListName =
  | "runs"
  | "steps"
  | "assets"
  | "vulnerabilities"
  | "artifacts"
  | "workspaces"
  | "dead-letters";

/**
 * States that a record is new in its list, or that its indexed fields changed. It is written in the record's
 * transaction and deleted once the index is up to date.
 */
export interface PendingEntry extends Key {
  /** The record has the same token: a reader that sees only one of them sees a part of their transaction. */
  readonly token: string;
  /** The record was deleted. */
  readonly gone?: true;
  /** Sorts in creation order; absent if unknown. */
  readonly order?: string;
  /** The entry stands for these records instead, which its transaction created and which are never deleted. */
  readonly keys?: readonly string[];
}

/** The state of a record in the index of its list. */
export interface ListEntry extends Key {
  readonly number: number;
  readonly fields: Readonly<Record<string, string>>;
  /** Hash of the searchable text. */
  readonly text: string;
  /** Incremented with every change; the condition of the next write. */
  readonly revision: number;
}

export const listEntriesTable: TableSpec<PendingEntry & ListEntry> = { name: "list-entries", indexes: {} };

/** Number of partitions for pending entries and entries: one takes a thousand writes per second in AWS. */
const SHARDS = 2;
/** The same of lists that each run writes several times. */
const RUN_SHARDS = 8;

const shardsOf = (list: ListName): number => (list === "runs" || list === "steps" ? RUN_SHARDS : SHARDS);

type Kind = "pending" | "entry";

const keyOf = (list: ListName, kind: Kind, key: string): Key => ({
  pk: `${list}#${kind}#${key.charCodeAt(key.length - 1) % shardsOf(list)}`,
  sk: key,
});

export const pendingKey = (list: ListName, key: string): Key => keyOf(list, "pending", key);

export const entryKey = (list: ListName, key: string): Key => keyOf(list, "entry", key);

export const listPartitions = (list: ListName, kind: Kind): string[] =>
  Array.from({ length: shardsOf(list) }, (_, shard) => `${list}#${kind}#${shard}`);

/** The pending entry of a record that is put, changed or deleted in the same transaction. */
export function pendingWrite(
  list: ListName,
  key: string,
  token: string,
  more: Pick<PendingEntry, "gone" | "order"> = {},
): Write {
  const item: PendingEntry = { ...pendingKey(list, key), token, ...more };
  return { op: "put", table: listEntriesTable, item };
}

/**
 * One pending entry for records that the same transaction creates and that are never deleted: `id` sorts in creation
 * order and is not a record's key. Later changes of a record have their own pending entry.
 */
export function batchPendingWrite(list: ListName, id: string, keys: readonly string[]): Write {
  const item: PendingEntry = { ...pendingKey(list, id), token: "", keys };
  return { op: "put", table: listEntriesTable, item };
}

/** Returns the keys of the records of a pending entry. */
export const pendingKeys = ({ sk, keys }: PendingEntry): readonly string[] => keys ?? [sk];

/** A counter whose numbers are allocated in blocks. */
export interface StoredCounter extends Key {
  readonly next: number;
}

export const countersTable: TableSpec<StoredCounter> = { name: "counters", indexes: {} };

/**
 * Moves entries that an earlier release, with two partitions, wrote: one that is in another partition is found by
 * queries, but not by its key. Returns their number.
 */
export async function moveOldEntries(
  { tables }: Pick<Ports, "tables">,
  list: ListName,
  entries: readonly (PendingEntry | ListEntry)[],
  kind: Kind,
): Promise<number> {
  let moved = 0;
  for (const entry of entries) {
    const key = keyOf(list, kind, entry.sk);
    if (key.pk === entry.pk) continue;
    const same =
      "token" in entry
        ? (["token", "=", entry.token] as const)
        : (["revision", "=", entry.revision] as const);
    const { pk, sk } = entry;
    const { ok } = await tables.write([
      { op: "delete", table: listEntriesTable, key: { pk, sk }, when: [same] },
      { op: "put", table: listEntriesTable, item: { ...entry, ...key }, when: [["pk", "missing"]] },
    ]);
    if (ok) moved += 1;
  }
  return moved;
}
