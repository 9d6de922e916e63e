import { hash } from "node:crypto";
import type { Key } from "../../platform/tables.ts";
import { type IndexedFields, type List, type ListDeps, listItems, recordsOf } from "./list.ts";
import { entryKey, type ListEntry, type PendingEntry, pendingKey } from "./table.ts";

/** The task that updates a record's index entry. */
export type IndexTask =
  | {
      readonly is: "fresh";
      readonly pendingEntry: PendingEntry;
      readonly listed: IndexedFields;
      readonly order: string;
    }
  | {
      readonly is: "changed";
      readonly pendingEntry: PendingEntry | undefined;
      readonly entry: ListEntry;
      readonly listed: IndexedFields;
      readonly forget: boolean;
    }
  | { readonly is: "done"; readonly pendingEntry: PendingEntry }
  /** The record was deleted before it was indexed. */
  | { readonly is: "never"; readonly pendingEntry: PendingEntry };

export type IndexTaskOf<Kind extends IndexTask["is"]> = Extract<IndexTask, { is: Kind }>;

const NOWHERE: IndexedFields = { fields: {}, final: true };

/**
 * Returns the tasks that update the index for these records; none for records that are up to date. `before` holds
 * pending entries that were read before.
 */
export async function indexTasks<Item extends Key>(
  deps: ListDeps,
  list: List<Item>,
  keys: readonly string[],
  before: ReadonlyMap<string, PendingEntry>,
): Promise<Map<string, IndexTask>> {
  const unknown = keys.filter((key) => !before.has(key));
  const [read, entries] = await Promise.all([
    listItems(
      deps,
      unknown.map((key) => pendingKey(list.name, key)),
    ),
    listItems(
      deps,
      keys.map((key) => entryKey(list.name, key)),
    ),
  ]);
  const pendingEntries = new Map<string, PendingEntry>([...before, ...read]);
  const known = keys.filter((key) => pendingEntries.has(key) || entries.has(key));
  const records = await recordsOf(deps, list, known);
  const tasks = new Map<string, IndexTask>();
  for (const key of known) {
    const task = taskFor(list, pendingEntries.get(key), entries.get(key), records.get(key));
    if (task !== undefined) tasks.set(key, task);
  }
  return tasks;
}

/** Undefined if there is nothing to do, or the record is not completely visible yet. */
function taskFor<Item extends Key>(
  list: List<Item>,
  pendingEntry: PendingEntry | undefined,
  entry: ListEntry | undefined,
  record: Item | undefined,
): IndexTask | undefined {
  if (pendingEntry !== undefined && !isWhole(list, pendingEntry, record)) return undefined;
  const listed = record === undefined ? NOWHERE : list.indexedFields(record);
  if (entry === undefined) {
    if (pendingEntry === undefined) return undefined;
    if (record === undefined) return { is: "never", pendingEntry };
    return { is: "fresh", pendingEntry, listed, order: list.orderOf(record) };
  }
  if (record === undefined && pendingEntry === undefined) return undefined;
  const forget = list.deletesWhenGone && listed.final;
  if (forget || hasChanged(entry, listed)) return { is: "changed", pendingEntry, entry, listed, forget };
  return pendingEntry === undefined ? undefined : { is: "done", pendingEntry };
}

function isWhole<Item extends Key>(
  list: List<Item>,
  { token, gone }: PendingEntry,
  record: Item | undefined,
): boolean {
  if (gone === true) return record === undefined;
  return record !== undefined && list.tokenOf(record) === token;
}

function hasChanged({ fields, text }: ListEntry, listed: IndexedFields): boolean {
  const names = new Set([...Object.keys(fields), ...Object.keys(listed.fields)]);
  return hashOf(listed.text) !== text || [...names].some((name) => fields[name] !== listed.fields[name]);
}

/** A missing text counts as an empty one. */
export const hashOf = (text = ""): string => hash("sha256", text, "base64url");
