import type { Write } from "../../platform/tables.ts";
import type { Entry } from "../../ranked-index/deltas.ts";
import { hashOf } from "./index-tasks.ts";
import type { IndexedFields } from "./list.ts";
import { entryKey, type ListEntry, type ListName, listEntriesTable } from "./table.ts";

/** Records indexed in one transaction, each with a write. */
export const NEW_ENTRIES_MAX = 98;
/** Their text and fields together with those of changes, characters: one item holds both. */
const TEXT_AT_ONCE = 32 * 1024;

/** Returns the longest prefix that fits into one transaction. */
export function firstFitting<Value>(
  values: readonly Value[],
  listedOf: (value: Value) => IndexedFields,
  most: number,
): Value[] {
  let length = 0;
  return values.slice(0, most).filter((value, at) => {
    length += lengthOf(listedOf(value));
    return at === 0 || length <= TEXT_AT_ONCE;
  });
}

function lengthOf({ fields, text = "" }: IndexedFields): number {
  return Object.entries(fields).reduce((sum, [name, value]) => sum + name.length + value.length, text.length);
}

/** Returns the fields and text of a record for the index. */
export const indexFields = ({ fields, text }: IndexedFields): Pick<Entry, "fields" | "text"> => ({
  fields,
  ...(text === undefined ? {} : { text }),
});

/** Returns the entry of a newly indexed record; its condition fails if another process was faster. */
export function newEntry(
  list: ListName,
  key: string,
  number: number,
  { fields, text }: IndexedFields,
): Write {
  const item: ListEntry = { ...entryKey(list, key), number, revision: 1, fields, text: hashOf(text) };
  return { op: "put", table: listEntriesTable, item, when: [["pk", "missing"]] };
}
