import { readAll } from "../../events/read-all.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Key, TableSpec } from "../../platform/tables.ts";
import { RankedIndex } from "../../ranked-index/ranked-index.ts";
import {
  type ListEntry,
  type ListName,
  listEntriesTable,
  listPartitions,
  type PendingEntry,
} from "./table.ts";

/** The indexed data of a record. */
export interface IndexedFields {
  /** Fields for filters. */
  readonly fields: Readonly<Record<string, string>>;
  /** Text for substring search. */
  readonly text?: string;
  /** The fields and the text will not change again. */
  readonly final: boolean;
}

/** A table of records, identified by their partition keys, that are listed newest first. */
export interface List<Item extends Key> {
  readonly name: ListName;
  readonly table: TableSpec<Item>;
  /** Sort key of every record. */
  readonly sk: string;
  indexedFields(item: Item): IndexedFields;
  /** The same data as the record shows it, if the index gets some of it only when the record is final. */
  currentFields?(item: Item): IndexedFields;
  /** Token of the record's latest pending entry. */
  tokenOf(item: Item): string;
  /** Sorts in creation order. */
  orderOf(item: Item): string;
  /**
   * Records become final or are deleted, and the list then keeps only their number. A record has one pending entry,
   * written when it is created, unless it is deleted.
   */
  readonly deletesWhenGone: boolean;
}

export type ListIndexes = Readonly<Record<ListName, RankedIndex>>;
export type ListDeps = Pick<Ports, "tables"> & { readonly lists: ListIndexes };

/** The indexes of all lists; all readers and writers of a process share them. */
export const listIndexes = (deps: Pick<Ports, "tables">): ListIndexes => ({
  runs: new RankedIndex(deps, "runs"),
  steps: new RankedIndex(deps, "steps"),
  assets: new RankedIndex(deps, "assets"),
  vulnerabilities: new RankedIndex(deps, "vulnerabilities"),
  artifacts: new RankedIndex(deps, "artifacts"),
  workspaces: new RankedIndex(deps, "workspaces"),
  "dead-letters": new RankedIndex(deps, "dead-letters"),
});

/** Returns the records by key; missing records are omitted. */
export async function recordsOf<Item extends Key>(
  deps: Pick<Ports, "tables">,
  { table, sk }: List<Item>,
  keys: readonly string[],
): Promise<Map<string, Item>> {
  if (keys.length === 0) return new Map();
  const items = await deps.tables.batchGet(
    table,
    keys.map((pk) => ({ pk, sk })),
  );
  return new Map(items.map((item) => [item.pk, item]));
}

/** Returns the items of these keys by sort key. */
export async function listItems(
  deps: Pick<Ports, "tables">,
  keys: readonly Key[],
): Promise<Map<string, PendingEntry & ListEntry>> {
  if (keys.length === 0) return new Map();
  return new Map((await deps.tables.batchGet(listEntriesTable, keys)).map((item) => [item.sk, item]));
}

/** Returns all pending entries or entries of a list, or the first ones of each partition. */
export async function allOf(
  deps: Pick<Ports, "tables">,
  list: ListName,
  kind: "pending" | "entry",
  most?: number,
): Promise<(PendingEntry & ListEntry)[]> {
  const parts = listPartitions(list, kind).map((pk) => readAll(deps, listEntriesTable, { pk }, most));
  return (await Promise.all(parts)).flat();
}
