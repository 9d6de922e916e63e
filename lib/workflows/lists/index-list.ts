import type { Key, Write } from "../../platform/tables.ts";
import type { Entry, FieldChange } from "../../ranked-index/deltas.ts";
import { pauseBefore } from "../../ranked-index/index-cache.ts";
import { indexBatch } from "./index-batch.ts";
import { hashOf, type IndexTask, type IndexTaskOf, indexTasks } from "./index-tasks.ts";
import { allOf, type IndexedFields, type List, type ListDeps } from "./list.ts";
import { firstFitting, indexFields, NEW_ENTRIES_MAX, newEntry } from "./new-entries.ts";
import { clearPendingEntries, deletePendingEntries } from "./pending-entries.ts";
import { entryKey, type ListEntry, type ListName, listEntriesTable, type PendingEntry } from "./table.ts";

/** Changed records indexed in one transaction, each with one or two writes. */
const CHANGES_AT_ONCE = 24;
const TRIES_MAX = 20;

/**
 * Adds new records to the index of their list, oldest first, and updates changed ones. Idempotent. A record that is not
 * completely visible yet keeps its pending entry. `marks` are pending entries that were read before.
 */
export async function indexRecords<Item extends Key>(
  deps: ListDeps,
  list: List<Item>,
  keys: Iterable<string>,
  marks: readonly PendingEntry[] = [],
): Promise<void> {
  let left = [...new Set(keys)];
  let known = new Map(marks.map((mark) => [mark.sk, mark]));
  for (let attempt = 0; attempt < TRIES_MAX && left.length > 0; attempt += 1) {
    await pauseBefore(attempt);
    const after = await indexSome(deps, list, await indexTasks(deps, list, left, known));
    known = new Map();
    if (after.length < left.length) attempt = -1;
    left = after;
  }
  if (left.length > 0) throw new Error(`the index of the list ${list.name} is contended`);
}

/** Processes pending entries: all, or at most `most` of each partition. Returns their number. */
export async function indexPending<Item extends Key>(
  deps: ListDeps,
  list: List<Item>,
  most?: number,
): Promise<number> {
  const marks = await allOf(deps, list.name, "mark", most);
  await indexBatch(
    deps,
    list,
    marks.filter(({ keys }) => keys !== undefined),
  );
  const own = marks.filter(({ keys }) => keys === undefined);
  await indexRecords(
    deps,
    list,
    own.map(({ sk }) => sk),
    own,
  );
  return marks.length;
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
  const done = kindOf(tasks, "done").map(([, { mark }]) => mark);
  const finished = new Set(done.map(({ sk }) => sk));
  if (fresh.length > 0 || changed.length > 0) {
    const marks = new Map(fresh.map(([key, { mark }]) => [key, mark]));
    const byKey = new Map(fresh);
    const taken = await deps.lists[list.name].take({
      entries: fresh.map(([key, { listed }]): Entry => ({ key, ...indexFields(listed) })),
      entryWrites: ({ key }, number) => freshWrites(list, key, number, byKey.get(key)),
      writesEach: list.deletesWhenGone ? 2 : 1,
      changes: changed.map(([, task]) => changeOf(task)),
      writes: changed.flatMap(([key, task]) => changeWrites(list.name, key, task)),
      // Cleared before the record leaves the recent part of the index: a deleted record leaves no other trace that it
      // was indexed.
      ...(list.deletesWhenGone
        ? {
            settle: (rows) =>
              clearPendingEntries(
                deps,
                list.name,
                rows.map(({ key }) => key),
                marks,
              ),
          }
        : {}),
    });
    // Undefined: another process indexed some of them meanwhile; the rest is determined again.
    for (const { key, added } of taken ?? []) {
      if (!added) continue;
      finished.add(key);
      const mark = marks.get(key);
      if (!list.deletesWhenGone && mark !== undefined) done.push(mark);
    }
    if (taken !== undefined) for (const [key] of changed) finished.add(key);
  }
  await deletePendingEntries(deps, done);
  for (const [key, { mark }] of kindOf(tasks, "never"))
    if (await leaveOut(deps, list.name, mark)) finished.add(key);
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
  const { mark, listed } = task;
  const table = listEntriesTable;
  const put: Write[] = [];
  if (!forgets || !listed.final) {
    put.push(newEntry(name, key, number, listed));
  }
  if (!forgets) return put;
  // A record that was indexed and deleted before no longer has this pending entry, so the check fails.
  const { pk, sk, token } = mark;
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
  { mark, entry, listed, forget }: IndexTaskOf<"changed">,
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
  if (mark !== undefined) {
    const { pk, sk, token } = mark;
    writes.push({ op: "delete", table, key: { pk, sk }, when: [["token", "=", token]] });
  }
  return writes;
}
