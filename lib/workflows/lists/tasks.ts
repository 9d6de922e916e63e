import { hash } from "node:crypto";
import type { Key } from "../../platform/tables.ts";
import { type List, type ListDeps, type Listed, listItems, recordsOf } from "./list.ts";
import { entryKey, type ListEntry, type Mark, markKey } from "./table.ts";

/** What is to be done about a record of a list, so that the index has it as it is. */
export type Task =
  | { readonly is: "fresh"; readonly mark: Mark; readonly listed: Listed; readonly order: string }
  | {
      readonly is: "changed";
      readonly mark: Mark | undefined;
      readonly entry: ListEntry;
      readonly listed: Listed;
      readonly forget: boolean;
    }
  | { readonly is: "done"; readonly mark: Mark }
  /** Taken away before it came into the index. */
  | { readonly is: "never"; readonly mark: Mark };

export type TaskOf<Kind extends Task["is"]> = Extract<Task, { is: Kind }>;

const NOWHERE: Listed = { fields: {}, final: true };

/**
 * What is to be done about records, by their keys; nothing about those that are in the index as they are. `before`
 * holds marks as they were read before.
 */
export async function tasksFor<Item extends Key>(
  deps: ListDeps,
  list: List<Item>,
  keys: readonly string[],
  before: ReadonlyMap<string, Mark>,
): Promise<Map<string, Task>> {
  const unknown = keys.filter((key) => !before.has(key));
  const [read, entries] = await Promise.all([
    listItems(
      deps,
      unknown.map((key) => markKey(list.name, key)),
    ),
    listItems(
      deps,
      keys.map((key) => entryKey(list.name, key)),
    ),
  ]);
  const marks = new Map<string, Mark>([...before, ...read]);
  const known = keys.filter((key) => marks.has(key) || entries.has(key));
  const records = await recordsOf(deps, list, known);
  const tasks = new Map<string, Task>();
  for (const key of known) {
    const task = taskFor(list, marks.get(key), entries.get(key), records.get(key));
    if (task !== undefined) tasks.set(key, task);
  }
  return tasks;
}

/** Undefined where there is nothing to do, or only a part of it can be seen yet. */
function taskFor<Item extends Key>(
  list: List<Item>,
  mark: Mark | undefined,
  entry: ListEntry | undefined,
  record: Item | undefined,
): Task | undefined {
  if (mark !== undefined && !isWhole(list, mark, record)) return undefined;
  const listed = record === undefined ? NOWHERE : list.listed(record);
  if (entry === undefined) {
    if (mark === undefined) return undefined;
    if (record === undefined) return { is: "never", mark };
    return { is: "fresh", mark, listed, order: list.orderOf(record) };
  }
  if (record === undefined && mark === undefined) return undefined;
  const forget = list.forgets && listed.final;
  if (forget || hasChanged(entry, listed)) return { is: "changed", mark, entry, listed, forget };
  return mark === undefined ? undefined : { is: "done", mark };
}

function isWhole<Item extends Key>(
  list: List<Item>,
  { token, gone }: Mark,
  record: Item | undefined,
): boolean {
  if (gone === true) return record === undefined;
  return record !== undefined && list.tokenOf(record) === token;
}

function hasChanged({ fields, text }: ListEntry, listed: Listed): boolean {
  const names = new Set([...Object.keys(fields), ...Object.keys(listed.fields)]);
  return hashOf(listed.text) !== text || [...names].some((name) => fields[name] !== listed.fields[name]);
}

/** No text is an empty one. */
export const hashOf = (text = ""): string => hash("sha256", text, "base64url");
