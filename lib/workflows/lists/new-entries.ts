import type { Write } from "../../platform/tables.ts";
import type { Entry } from "../../ranked-index/deltas.ts";
import { hashOf } from "./index-tasks.ts";
import type { IndexedFields } from "./list.ts";
import { entryKey, type ListEntry, type ListName, listEntriesTable } from "./table.ts";

/** Records taken in by one transaction, each with a write. */
export const NEW_ENTRIES_MAX = 98;
/** Text of those, characters, and of the changes beside them: one item holds both. */
const TEXT_AT_ONCE = 32 * 1024;

/** As many of the first as one transaction may take. */
export function firstFitting<Value>(
  values: readonly Value[],
  listedOf: (value: Value) => IndexedFields,
  most: number,
): Value[] {
  let length = 0;
  return values.slice(0, most).filter((value, at) => {
    length += listedOf(value).text?.length ?? 0;
    return at === 0 || length <= TEXT_AT_ONCE;
  });
}

/** What the index is told of a record. */
export const indexFields = ({ fields, text }: IndexedFields): Pick<Entry, "fields" | "text"> => ({
  fields,
  ...(text === undefined ? {} : { text }),
});

/** The entry of a record that the index takes in; its condition fails where another was faster. */
export function newEntry(
  list: ListName,
  key: string,
  number: number,
  { fields, text }: IndexedFields,
): Write {
  const item: ListEntry = { ...entryKey(list, key), number, revision: 1, fields, text: hashOf(text) };
  return { op: "put", table: listEntriesTable, item, when: [["pk", "missing"]] };
}
