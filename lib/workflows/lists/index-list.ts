import type { Key, Write } from "../../platform/tables.ts";
import type { Entry, FieldChange } from "../../ranked-index/deltas.ts";
import { CONFLICT, PROGRESS, retryOnConflict } from "../../retry-on-conflict.ts";
import { indexBatch } from "./index-batch.ts";
import { hashOf, type IndexTask, type IndexTaskOf, indexTasks } from "./index-tasks.ts";
import { allOf, type IndexedFields, type List, type ListDeps } from "./list.ts";
import { firstFitting, indexFields, NEW_ENTRIES_MAX, newEntry } from "./new-entries.ts";
import { clearPendingEntries, deletePendingEntries } from "./pending-entries.ts";
import { entryKey, type ListEntry, type ListName, listEntriesTable, type PendingEntry } from "./table.ts";

/** Changed records indexed in one transaction, each with one or two writes. */
const CHANGES_AT_ONCE = 24;

/**
 * Adds new records to the index of their list, oldest first, and updates changed ones. Idempotent. A record that is not
 * completely visible yet keeps its pending entry. `pendingEntries` are pending entries that were read before.
 */
export async function indexRecords<Item extends Key>(
  deps: ListDeps,
  list: List<Item>,
  keys: Iterable<string>,
  pendingEntries: readonly PendingEntry[] = [],
): Promise<void> {
  let left = [...new Set(keys)];
  let known = new Map(pendingEntries.map((pendingEntry) => [pendingEntry.sk, pendingEntry]));
  const indexNext = async () => {
    if (left.length === 0) return;
    const after = await indexSome(deps, list, await indexTasks(deps, list, left, known));
    const isProgress = after.length < left.length;
    known = new Map();
    left = after;
    return isProgress ? PROGRESS : CONFLICT;
  };
  await retryOnConflict(indexNext, {
    exceeded: () => new Error(`too many conflicts at the index of the list ${list.name}`),
  });
}

/** Processes pending entries: all, or at most `most` of each partition. Returns their number. */
export async function indexPending<Item extends Key>(
  deps: ListDeps,
  list: List<Item>,
  most?: number,
): Promise<number> {
  const pendingEntries = await allOf(deps, list.name, "pending", most);
  await indexBatch(
    deps,
    list,
    pendingEntries.filter(({ keys }) => keys !== undefined),
  );
  const own = pendingEntries.filter(({ keys }) => keys === undefined);
  await indexRecords(
    deps,
    list,
    own.map(({ sk }) => sk),
    own,
  );
  return pendingEntries.length;
}

/** Returns the keys that may need another attempt. */
async function indexSome<Item extends Key>(
  deps: ListDeps,
  list: List<Item>,
  tasks: ReadonlyMap<string, IndexTask>,
): Promise<string[]> {
  const listedOf = ([, { listed }]: Keyed<{ readonly listed: IndexedFields }>): IndexedFields => listed;
  const fresh = firstFitting(oldestFirst(kindOf(tasks, "fresh")), listedOf, NEW_ENTRIES_MAX);
  const changed = firstFitting(kindOf(tasks, "changed"), listedOf, CHANGES_AT_ONCE);
  const done = kindOf(tasks, "done").map(([, { pendingEntry }]) => pendingEntry);
  const finished = new Set(done.map(({ sk }) => sk));
  if (fresh.length > 0 || changed.length > 0) {
    const pendingEntries = new Map(fresh.map(([key, { pendingEntry }]) => [key, pendingEntry]));
    const byKey = new Map(fresh);
    const taken = await deps.lists[list.name].take({
      entries: fresh.map(([key, { listed }]): Entry => ({ key, ...indexFields(listed) })),
      entryWrites: ({ key }, number) => freshWrites(list, key, number, byKey.get(key)),
      writesEach: list.deletesWhenGone && !fresh.every(([, { listed }]) => listed.final) ? 2 : 1,
      changes: changed.map(([, task]) => changeOf(task)),
      writes: changed.flatMap(([key, task]) => changeWrites(list.name, key, task)),
      // Cleared before the record leaves the recent part of the index: a deleted record leaves no other trace that it
      // was indexed.
      ...(list.deletesWhenGone
        ? {
            acknowledge: (rows) =>
              clearPendingEntries(
                deps,
                list.name,
                rows.map(({ key }) => key),
                pendingEntries,
              ),
          }
        : {}),
    });
    // Undefined: another process indexed some of them meanwhile; the rest is determined again.
    for (const { key, added } of taken ?? []) {
      if (!added) continue;
      finished.add(key);
      const pendingEntry = pendingEntries.get(key);
      if (!list.deletesWhenGone && pendingEntry !== undefined) done.push(pendingEntry);
    }
    if (taken !== undefined) for (const [key] of changed) finished.add(key);
  }
  await deletePendingEntries(deps, done);
  for (const [key, { pendingEntry }] of kindOf(tasks, "never"))
    if (await leaveOut(deps, list.name, pendingEntry)) finished.add(key);
  return [...tasks.keys()].filter((key) => !finished.has(key));
}

/**
 * Deletes the pending entry of a record that was deleted before it was indexed. Returns false if it was indexed
 * meanwhile.
 */
async function leaveOut(
  { tables }: ListDeps,
  list: ListName,
  { pk, sk, token }: PendingEntry,
): Promise<boolean> {
  const table = listEntriesTable;
  const outcome = await tables.write([
    { op: "delete", table, key: { pk, sk }, when: [["token", "=", token]] },
    { op: "check", table, key: entryKey(list, sk), when: [["pk", "missing"]] },
  ]);
  return outcome.ok;
}

type Keyed<Value> = readonly [key: string, value: Value];

function kindOf<Kind extends IndexTask["is"]>(
  tasks: ReadonlyMap<string, IndexTask>,
  kind: Kind,
): Keyed<IndexTaskOf<Kind>>[] {
  return [...tasks].filter((task): task is [string, IndexTaskOf<Kind>] => task[1].is === kind);
}

function oldestFirst(fresh: readonly Keyed<IndexTaskOf<"fresh">>[]): Keyed<IndexTaskOf<"fresh">>[] {
  return fresh.toSorted(([, one], [, other]) =>
    one.order < other.order ? -1 : one.order > other.order ? 1 : 0,
  );
}

function freshWrites<Item extends Key>(
  { name, deletesWhenGone: forgets }: List<Item>,
  key: string,
  number: number,
  task: IndexTaskOf<"fresh"> | undefined,
): Write[] {
  if (task === undefined) return [];
  const { pendingEntry, listed } = task;
  const table = listEntriesTable;
  const put: Write[] = [];
  if (!forgets || !listed.final) {
    put.push(newEntry(name, key, number, listed));
  }
  if (!forgets) return put;
  // A record that was indexed and deleted before no longer has this pending entry, so the check fails.
  const { pk, sk, token } = pendingEntry;
  return [{ op: "check", table, key: { pk, sk }, when: [["token", "=", token]] }, ...put];
}

function changeOf({ entry, listed }: IndexTaskOf<"changed">): FieldChange {
  const hasText = listed.text !== undefined && hashOf(listed.text) !== entry.text;
  return {
    number: entry.number,
    before: entry.fields,
    after: listed.fields,
    ...(hasText ? { text: listed.text } : {}),
  };
}

function changeWrites(
  list: ListName,
  key: string,
  { pendingEntry, entry, listed, forget }: IndexTaskOf<"changed">,
): Write[] {
  const table = listEntriesTable;
  const when = [["revision", "=", entry.revision]] as const;
  const own = entryKey(list, key);
  const next: ListEntry = {
    ...own,
    number: entry.number,
    revision: entry.revision + 1,
    fields: listed.fields,
    text: hashOf(listed.text),
  };
  const writes: Write[] = [
    forget ? { op: "delete", table, key: own, when } : { op: "put", table, item: next, when },
  ];
  if (pendingEntry !== undefined) {
    const { pk, sk, token } = pendingEntry;
    writes.push({ op: "delete", table, key: { pk, sk }, when: [["token", "=", token]] });
  }
  return writes;
}
