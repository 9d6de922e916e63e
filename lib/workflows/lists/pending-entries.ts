import type { Ports } from "../../platform/ports.ts";
import { CONFLICT, retryOnConflict } from "../../retry-on-conflict.ts";
import { listItems } from "./list.ts";
import { type ListName, listEntriesTable, type PendingEntry, pendingKey } from "./table.ts";

/** Pending entries deleted in one transaction. */
const DELETED_AT_ONCE = 100;

/** Deletes pending entries that have not changed since they were read; returns the others. */
export async function deletePendingEntries(
  deps: Pick<Ports, "tables">,
  pendingEntries: readonly PendingEntry[],
): Promise<PendingEntry[]> {
  const kept: PendingEntry[] = [];
  let left = [...pendingEntries];
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
    const again = outcome.ok ? [] : part.filter((pendingEntry) => !failed.includes(pendingEntry));
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
  let pendingEntries = keys.every((key) => known.has(key)) ? known : await read(keys);
  const clear = async () => {
    const open = keys.flatMap((key) => pendingEntries.get(key) ?? []).filter(({ gone }) => gone !== true);
    const failed = await deletePendingEntries(deps, open);
    if (failed.length === 0) return;
    pendingEntries = await read(failed.map(({ sk }) => sk));
    return CONFLICT;
  };
  await retryOnConflict(clear, {
    exceeded: () => new Error(`too many conflicts at the pending entries of the list ${list}`),
  });
}
