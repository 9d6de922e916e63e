import type { Key } from "../../platform/tables.ts";
import type { Entry } from "../../ranked-index/deltas.ts";
import { pauseBefore } from "../../ranked-index/index-cache.ts";
import { type IndexedFields, type List, type ListDeps, listItems, recordsOf } from "./list.ts";
import { firstFitting, indexFields, NEW_ENTRIES_MAX, newEntry } from "./new-entries.ts";
import { deletePendingEntries } from "./pending-entries.ts";
import { newestFirst } from "./read-list.ts";
import { entryKey, type PendingEntry, pendingKeys } from "./table.ts";

/** Pending entries processed together, and attempts for each. */
const MARKS_AT_ONCE = 20;
const TRIES_MAX = 20;

interface Fresh {
  readonly key: string;
  readonly listed: IndexedFields;
}

/**
 * Indexes records that were created together, oldest first. A pending entry is deleted when each of its records has
 * an entry; one whose record is not visible yet stays.
 */
export async function indexBatch<Item extends Key>(
  deps: ListDeps,
  list: List<Item>,
  marks: readonly PendingEntry[],
): Promise<void> {
  const ordered = marks.toSorted((one, other) => (one.sk < other.sk ? -1 : 1));
  for (let start = 0; start < ordered.length; start += MARKS_AT_ONCE) {
    const part = ordered.slice(start, start + MARKS_AT_ONCE);
    const records = await recordsOf(deps, list, [...new Set(part.flatMap(pendingKeys))]);
    const oldestFirst = newestFirst(list, [...records.values()]).reverse();
    await takeAll(
      deps,
      list,
      oldestFirst.map((record) => ({ key: record.pk, listed: list.indexedFields(record) })),
    );
    await deletePendingEntries(
      deps,
      part.filter((mark) => pendingKeys(mark).every((key) => records.has(key))),
    );
  }
}

/** Existing entries are rare, so they are only looked up after a condition failed. */
async function takeAll<Item extends Key>(
  deps: ListDeps,
  { name }: List<Item>,
  records: readonly Fresh[],
): Promise<void> {
  let left = [...records];
  for (let attempt = 0; attempt < TRIES_MAX && left.length > 0; attempt += 1) {
    await pauseBefore(attempt);
    const part = new Map(
      firstFitting(left, ({ listed }) => listed, NEW_ENTRIES_MAX).map((one) => [one.key, one]),
    );
    const taken = await deps.lists[name].take({
      entries: [...part.values()].map(({ key, listed }): Entry => ({ key, ...indexFields(listed) })),
      entryWrites: ({ key }, number) => {
        const listed = part.get(key)?.listed;
        return listed === undefined ? [] : [newEntry(name, key, number, listed)];
      },
      writesEach: 1,
    });
    const held =
      taken === undefined
        ? await listItems(
            deps,
            left.map(({ key }) => entryKey(name, key)),
          )
        : new Set(taken.map(({ key }) => key));
    if (held.size > 0) attempt = -1;
    left = left.filter(({ key }) => !held.has(key));
  }
  if (left.length > 0) throw new Error(`the index of the list ${name} is contended`);
}
