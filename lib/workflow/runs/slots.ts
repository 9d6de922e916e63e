import { readAll } from "../../events/read-all.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Key, Write } from "../../platform/tables.ts";
import { runQueueTable } from "./table.ts";

const SLOTS = "slots";
const slotKey = (slot: number): Key => ({ pk: SLOTS, sk: String(slot).padStart(6, "0") });

/**
 * Places of runs that go at once, of the whole service. Each is an item that is written with the start of a run and
 * taken away with its end, so none is ever left over; which of them are free is remembered from commit to commit.
 */
export interface RunSlots {
  /** Picks a free place for a run to be committed; undefined where there is none. */
  pick(): Promise<number | undefined>;
  /** How many are free, as far as is known. */
  free(): Promise<number>;
  /** The place is free: the run that had it is over. */
  left(slot: number): void;
  /** What is remembered was wrong: a commit that leaned on it did not hold. */
  forget(): void;
}

/** At most `max` places. */
export function runSlots(deps: Pick<Ports, "tables" | "outbox">, max: number): RunSlots {
  let taken: Set<number> | undefined;
  const look = async (): Promise<Set<number>> => {
    const items = await readAll(deps, runQueueTable, { pk: SLOTS });
    taken = new Set(items.map(({ sk }) => Number(sk)));
    return taken;
  };
  const firstFree = (known: ReadonlySet<number>): number | undefined => {
    for (let slot = 0; slot < max; slot += 1) if (!known.has(slot)) return slot;
    return undefined;
  };
  return {
    pick: async () => {
      const remembered = taken;
      let slot = firstFree(remembered ?? (await look()));
      // Where other processes end runs as well, some may have become free.
      if (slot === undefined && remembered !== undefined && deps.outbox.atomic !== true)
        slot = firstFree(await look());
      if (slot !== undefined) taken?.add(slot);
      return slot;
    },
    free: async () => Math.max(0, max - (taken ?? (await look())).size),
    left: (slot) => taken?.delete(slot),
    forget: () => {
      taken = undefined;
    },
  };
}

export const takeSlot = (slot: number, runId: string): Write => ({
  op: "put",
  table: runQueueTable,
  item: { ...slotKey(slot), run_id: runId },
  when: [["pk", "missing"]],
});

export const leaveSlot = (slot: number): Write => ({
  op: "delete",
  table: runQueueTable,
  key: slotKey(slot),
});
