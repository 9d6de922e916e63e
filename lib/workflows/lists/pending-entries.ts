import type { Ports } from "../../platform/ports.ts";
import { listItems } from "./list.ts";
import { type ListName, listEntriesTable, type PendingEntry, pendingKey } from "./table.ts";

/** Pending entries deleted in one transaction. */
const DELETED_AT_ONCE = 100;
const TRIES_MAX = 20;

/** Deletes pending entries that have not changed since they were read; returns the others. */
export async function deletePendingEntries(
  deps: Pick<Ports, "tables">,
  marks: readonly PendingEntry[],
): Promise<PendingEntry[]> {
  const kept: PendingEntry[] = [];
  let left = [...marks];
  while (left.length > 0) {
    const part = left.slice(0, DELETED_AT_ONCE);
    const outcome = await deps.tables.write(
      part.map(({ pk, sk, token }) => ({
        op: "delete",
        table: listEntriesTable,
        key: { pk, sk },
        when: [["token", "=", token]],
      })),
    );
    const failed = outcome.ok ? [] : part.filter((_, at) => outcome.failed.includes(at));
    kept.push(...failed);
    const again = outcome.ok ? [] : part.filter((mark) => !failed.includes(mark));
    left = [...again, ...left.slice(DELETED_AT_ONCE)];
  }
  return kept;
}

/**
 * Deletes the pending entries of records that are in the index. `known` holds pending entries that were read before.
 * Idempotent.
 */
export async function clearPendingEntries(
  deps: Pick<Ports, "tables">,
  list: ListName,
  keys: readonly string[],
  known: ReadonlyMap<string, PendingEntry>,
): Promise<void> {
  const read = (some: readonly string[]) =>
    listItems(
      deps,
      some.map((key) => pendingKey(list, key)),
    );
  let marks = keys.every((key) => known.has(key)) ? known : await read(keys);
  for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
    const open = keys.flatMap((key) => marks.get(key) ?? []).filter(({ gone }) => gone !== true);
    const failed = await deletePendingEntries(deps, open);
    if (failed.length === 0) return;
    marks = await read(failed.map(({ sk }) => sk));
  }
  throw new Error(`the marks of the list ${list} are contended`);
}
