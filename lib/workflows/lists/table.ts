import type { Key, TableSpec, Write } from "../../platform/tables.ts";

/** Lists that are filtered and counted by an index of their own. */
export type ListName =
  | "runs"
  | "steps"
  | "assets"
  | "vulnerabilities"
  | "artifacts"
  | "workspaces"
  | "dead-letters";

/**
 * Says that a record is new in its list, or that what the list knows of it has changed. It is written in the
 * transaction that it tells of, and goes when the index has it.
 */
export interface PendingEntry extends Key {
  /** The record carries the same: who sees one without the other sees a part of their transaction. */
  readonly token: string;
  /** The record has been taken away. */
  readonly gone?: true;
  /** Sorts as the records were made, where that is known. */
  readonly order?: string;
  /** It speaks of these records instead, which its transaction made and nobody takes away. */
  readonly keys?: readonly string[];
}

/** What the index of a list knows of a record. */
export interface ListEntry extends Key {
  readonly number: number;
  readonly fields: Readonly<Record<string, string>>;
  /** Hash of the text that is searched. */
  readonly text: string;
  /** Moves with every change: the condition of the next one. */
  readonly revision: number;
}

export const listEntriesTable: TableSpec<PendingEntry & ListEntry> = { name: "list-entries", indexes: {} };

/** Partitions that marks and entries are spread over: one takes a thousand writes a second in AWS. */
const SHARDS = 2;

type Kind = "mark" | "entry";

const keyOf = (list: ListName, kind: Kind, key: string): Key => ({
  pk: `${list}#${kind}#${key.charCodeAt(key.length - 1) % SHARDS}`,
  sk: key,
});

export const pendingKey = (list: ListName, key: string): Key => keyOf(list, "mark", key);

export const entryKey = (list: ListName, key: string): Key => keyOf(list, "entry", key);

export const listPartitions = (list: ListName, kind: Kind): string[] =>
  Array.from({ length: SHARDS }, (_, shard) => `${list}#${kind}#${shard}`);

/** The mark of a record that is put, changed or taken away in the same transaction. */
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
 * One mark for records that the same transaction makes and that nobody takes away: `id` sorts as they were made, and
 * is no key of a record. What changes of one later has a mark of its own.
 */
export function batchPendingWrite(list: ListName, id: string, keys: readonly string[]): Write {
  const item: PendingEntry = { ...pendingKey(list, id), token: "", keys };
  return { op: "put", table: listEntriesTable, item };
}

/** The records that a mark speaks of. */
export const pendingKeys = ({ sk, keys }: PendingEntry): readonly string[] => keys ?? [sk];

/** Numbers given out in blocks. */
export interface StoredCounter extends Key {
  readonly next: number;
}

export const countersTable: TableSpec<StoredCounter> = { name: "counters", indexes: {} };
