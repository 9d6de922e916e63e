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

/** What a list knows of a record. */
export interface IndexedFields {
  /** The values that it may be filtered by. */
  readonly fields: Readonly<Record<string, string>>;
  /** What a search for a part of it finds. */
  readonly text?: string;
  /** Nothing of this will change any more. */
  readonly final: boolean;
}

/** A table of records, found by their partition keys, that are listed newest first. */
export interface List<Item extends Key> {
  readonly name: ListName;
  readonly table: TableSpec<Item>;
  /** Sort key of every record. */
  readonly sk: string;
  indexedFields(item: Item): IndexedFields;
  /** Token of the record's last mark. */
  tokenOf(item: Item): string;
  /** Sorts as the records were made. */
  orderOf(item: Item): string;
  /**
   * Records come to be final, or are taken away, and the list then keeps nothing of them but their place. Each is
   * marked once, when it is made, unless it is taken away.
   */
  readonly deletesWhenGone: boolean;
}

export type ListIndexes = Readonly<Record<ListName, RankedIndex>>;
export type ListDeps = Pick<Ports, "tables"> & { readonly lists: ListIndexes };

/** The indexes of all lists; one for all readers and writers of a process. */
export const listIndexes = (deps: Pick<Ports, "tables">): ListIndexes => ({
  runs: new RankedIndex(deps, "runs"),
  steps: new RankedIndex(deps, "steps"),
  assets: new RankedIndex(deps, "assets"),
  vulnerabilities: new RankedIndex(deps, "vulnerabilities"),
  artifacts: new RankedIndex(deps, "artifacts"),
  workspaces: new RankedIndex(deps, "workspaces"),
  "dead-letters": new RankedIndex(deps, "dead-letters"),
});

/** The records of these keys by their keys; those that are not there are left out. */
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

/** The items of these keys by their sort keys. */
export async function listItems(
  deps: Pick<Ports, "tables">,
  keys: readonly Key[],
): Promise<Map<string, PendingEntry & ListEntry>> {
  if (keys.length === 0) return new Map();
  return new Map((await deps.tables.batchGet(listEntriesTable, keys)).map((item) => [item.sk, item]));
}

/** All marks or entries of a list, or so many of the first of each partition. */
export async function allOf(
  deps: Pick<Ports, "tables">,
  list: ListName,
  kind: "mark" | "entry",
  most?: number,
): Promise<(PendingEntry & ListEntry)[]> {
  const parts = listPartitions(list, kind).map((pk) => readAll(deps, listEntriesTable, { pk }, most));
  return (await Promise.all(parts)).flat();
}
