import type { Key } from "../../platform/tables.ts";
import type { Entry } from "../../ranked-index/deltas.ts";
import { CONFLICT, PROGRESS, retryOnConflict } from "../../retry-on-conflict.ts";
import { type IndexedFields, type List, type ListDeps, listItems, recordsOf } from "./list.ts";
import { firstFitting, indexFields, NEW_ENTRIES_MAX, newEntry } from "./new-entries.ts";
import { deletePendingEntries } from "./pending-entries.ts";
import { newestFirst } from "./read-list.ts";
import { entryKey, type PendingEntry, pendingKeys } from "./table.ts";

/** Pending entries processed together. */
const MARKS_AT_ONCE = 20;

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
  pendingEntries: readonly PendingEntry[],
): Promise<void> {
  const ordered = pendingEntries.toSorted((one, other) => (one.sk < other.sk ? -1 : 1));
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
      part.filter((pendingEntry) => pendingKeys(pendingEntry).every((key) => records.has(key))),
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
  const takeSome = async () => {
    if (left.length === 0) return;
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
    left = left.filter(({ key }) => !held.has(key));
    return held.size > 0 ? PROGRESS : CONFLICT;
  };
  await retryOnConflict(takeSome, {
    exceeded: () => new Error(`too many conflicts at the index of the list ${name}`),
  });
}
