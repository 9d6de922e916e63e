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
  /** Keeps a free place for a run that is about to be told to start; false where there is none. */
  keep(runId: string): Promise<boolean>;
  /** The place that was kept for a run, which may be committed now. */
  kept(runId: string): number | undefined;
  /** Runs for which places are kept. */
  awaited(): ReadonlySet<string>;
  /** How many are free, as far as is known. */
  free(): Promise<number>;
  /** The place is free: the run that had it is over. */
  left(slot: number): void;
  /** What is remembered was wrong: a commit that leaned on it did not hold. */
  forget(): void;
}

/** A place is kept for so long, milliseconds: the message that it is kept for has come or is lost. */
const KEPT_MS = 10_000;

/** At most `max` places. */
export function runSlots(deps: Pick<Ports, "tables" | "outbox" | "clock">, max: number): RunSlots {
  let taken: Set<number> | undefined;
  const keeping = new Map<string, { readonly slot: number; readonly until: number }>();
  const awaited = new Set<string>();
  const release = (runId: string): number | undefined => {
    const found = keeping.get(runId);
    keeping.delete(runId);
    awaited.delete(runId);
    return found?.slot;
  };
  const look = async (): Promise<Set<number>> => {
    const items = await readAll(deps, runQueueTable, { pk: SLOTS });
    taken = new Set(items.map(({ sk }) => Number(sk)));
    for (const { slot } of keeping.values()) taken.add(slot);
    return taken;
  };
  /** The oldest come first. */
  const dropOld = (): void => {
    const now = deps.clock.now();
    for (const [runId, { slot, until }] of keeping) {
      if (until > now) return;
      release(runId);
      taken?.delete(slot);
    }
  };
  const firstFree = (known: ReadonlySet<number>): number | undefined => {
    for (let slot = 0; slot < max; slot += 1) if (!known.has(slot)) return slot;
    return undefined;
  };
  const pick = async (): Promise<number | undefined> => {
    dropOld();
    const remembered = taken;
    let slot = firstFree(remembered ?? (await look()));
    // Where other processes end runs as well, some may have become free.
    if (slot === undefined && remembered !== undefined && deps.outbox.atomic !== true)
      slot = firstFree(await look());
    if (slot !== undefined) taken?.add(slot);
    return slot;
  };
  return {
    pick,
    keep: async (runId) => {
      awaited.add(runId);
      const slot = await pick();
      if (slot === undefined) awaited.delete(runId);
      else keeping.set(runId, { slot, until: deps.clock.now() + KEPT_MS });
      return slot !== undefined;
    },
    kept: release,
    awaited: () => awaited,
    free: async () => {
      dropOld();
      return Math.max(0, max - (taken ?? (await look())).size);
    },
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
