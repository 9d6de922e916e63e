import { hash } from "node:crypto";
import type { Key } from "../../platform/tables.ts";
import { type IndexedFields, type List, type ListDeps, listItems, recordsOf } from "./list.ts";
import { entryKey, type ListEntry, type PendingEntry, pendingKey } from "./table.ts";

/** The task that updates a record's index entry. */
export type IndexTask =
  | {
      readonly is: "fresh";
      readonly mark: PendingEntry;
      readonly listed: IndexedFields;
      readonly order: string;
    }
  | {
      readonly is: "changed";
      readonly mark: PendingEntry | undefined;
      readonly entry: ListEntry;
      readonly listed: IndexedFields;
      readonly forget: boolean;
    }
  | { readonly is: "done"; readonly mark: PendingEntry }
  /** The record was deleted before it was indexed. */
  | { readonly is: "never"; readonly mark: PendingEntry };

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
  const marks = new Map<string, PendingEntry>([...before, ...read]);
  const known = keys.filter((key) => marks.has(key) || entries.has(key));
  const records = await recordsOf(deps, list, known);
  const tasks = new Map<string, IndexTask>();
  for (const key of known) {
    const task = taskFor(list, marks.get(key), entries.get(key), records.get(key));
    if (task !== undefined) tasks.set(key, task);
  }
  return tasks;
}

/** Undefined if there is nothing to do, or the record is not completely visible yet. */
function taskFor<Item extends Key>(
  list: List<Item>,
  mark: PendingEntry | undefined,
  entry: ListEntry | undefined,
  record: Item | undefined,
): IndexTask | undefined {
  if (mark !== undefined && !isWhole(list, mark, record)) return undefined;
  const listed = record === undefined ? NOWHERE : list.indexedFields(record);
  if (entry === undefined) {
    if (mark === undefined) return undefined;
    if (record === undefined) return { is: "never", mark };
    return { is: "fresh", mark, listed, order: list.orderOf(record) };
  }
  if (record === undefined && mark === undefined) return undefined;
  const forget = list.deletesWhenGone && listed.final;
  if (forget || hasChanged(entry, listed)) return { is: "changed", mark, entry, listed, forget };
  return mark === undefined ? undefined : { is: "done", mark };
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
