import { setTimeout as sleep } from "node:timers/promises";
import { readAll } from "../../events/read-all.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Key, TableSpec, Write } from "../../platform/tables.ts";
import { runQueueTable } from "./table.ts";

const SLOTS = "slots";

/** The same table: its other items are turns and places. */
const slotCursorTable: TableSpec<Key & { readonly count: number }> = {
  name: runQueueTable.name,
  indexes: {},
};
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
  /** What is remembered was wrong: a commit that leaned on it, for this place, did not hold. */
  forget(slot?: number): void;
}

/** A place is kept for so long, milliseconds: the message that it is kept for has come or is lost. */
const KEPT_MS = 10_000;
/** Where other processes take places too, what is known of them is read again after so long, milliseconds. */
const VIEW_MAX_AGE_MS = 5_000;
/** Places that one process claims at once to try before others: this share of the free ones, within these bounds. */
const RANGE_SHARE = 1 / 16;
const RANGE_MAX = 10;
/** So long others get to commit what they have claimed before it is read which places are free, milliseconds. */
const COMMIT_WAIT_MS = 100;

/**
 * Counts the places that were ever claimed. A claim makes nothing taken: it only keeps processes that start runs at
 * the same moment from trying the same places. Each claim goes on where the one before it ended, in a circle.
 */
const CURSOR: Key = { pk: "slot-cursor", sk: "cursor" };

/** What is known of the places. */
interface View {
  readonly taken: Set<number>;
  /** How many had been claimed when it was read. */
  readonly claimed: number;
  readonly readAt: number;
}

/** At most `max` places. */
export function runSlots(deps: Pick<Ports, "tables" | "outbox" | "clock" | "ids">, max: number): RunSlots {
  const alone = deps.outbox.atomic === true;
  let view: View | undefined;
  /** Claimed here, and not tried yet. */
  let claimed: number[] = [];
  /** Picked here, and until when they may not be seen in the table. */
  const picked = new Map<number, number>();
  const keeping = new Map<string, { readonly slot: number; readonly until: number }>();
  const awaited = new Set<string>();
  const release = (runId: string): number | undefined => {
    const found = keeping.get(runId);
    keeping.delete(runId);
    awaited.delete(runId);
    return found?.slot;
  };
  const look = async (): Promise<View> => {
    const readAt = deps.clock.now();
    const count = alone ? 0 : await cursorOf(deps);
    const taken = new Set((await readAll(deps, runQueueTable, { pk: SLOTS })).map(({ sk }) => Number(sk)));
    for (const slot of picked.keys()) taken.add(slot);
    for (const { slot } of keeping.values()) taken.add(slot);
    view = { taken, claimed: count, readAt };
    return view;
  };
  const current = async (): Promise<View> => {
    const isOld = view !== undefined && !alone && deps.clock.now() - view.readAt > VIEW_MAX_AGE_MS;
    if (isOld) claimed = [];
    return view === undefined || isOld ? look() : view;
  };
  /** The oldest come first. */
  const dropOld = (): void => {
    const now = deps.clock.now();
    for (const [slot, until] of picked) {
      if (until > now) break;
      picked.delete(slot);
    }
    for (const [runId, { slot, until }] of keeping) {
      if (until > now) break;
      release(runId);
      view?.taken.delete(slot);
    }
  };
  const freeOf = ({ taken }: View): number[] => {
    const free: number[] = [];
    for (let slot = 0; slot < max; slot += 1) if (!taken.has(slot)) free.push(slot);
    return free;
  };
  const firstFree = ({ taken }: View): number | undefined => {
    for (let slot = 0; slot < max; slot += 1) if (!taken.has(slot)) return slot;
    return undefined;
  };

  const findAlone = async (): Promise<number | undefined> => firstFree(await current());

  /** A place that no other process tries at the same moment, as far as can be seen. */
  const findAmongOthers = async (): Promise<number | undefined> => {
    let known = await current();
    const next = (): number | undefined => {
      for (let slot = claimed.shift(); slot !== undefined; slot = claimed.shift())
        if (!known.taken.has(slot)) return slot;
      return undefined;
    };
    const own = next();
    if (own !== undefined) return own;
    // Other processes end runs as well: some places may have become free.
    if (freeOf(known).length === 0) known = await look();
    const free = freeOf(known).length;
    if (free === 0) return undefined;
    const size = Math.min(RANGE_MAX, Math.ceil(free * RANGE_SHARE));
    const end = await claim(deps, size);
    if (end - known.claimed > free) {
      // More are claimed than are free: once the others have committed, it can be seen what is left.
      await sleep(COMMIT_WAIT_MS);
      known = await look();
    }
    claimed = Array.from({ length: size }, (_, at) => (end - size + at) % max);
    return next() ?? anyOf(deps, freeOf(known));
  };

  const pickNext = async (): Promise<number | undefined> => {
    dropOld();
    const slot = await (alone ? findAlone() : findAmongOthers());
    if (slot === undefined) return undefined;
    view?.taken.add(slot);
    picked.set(slot, deps.clock.now() + KEPT_MS);
    return slot;
  };
  let last: Promise<unknown> = Promise.resolve();
  /** One after another, so that no two read the places and claim some for the same need. */
  const pick = (): Promise<number | undefined> => {
    const picking = last.then(pickNext);
    last = picking.catch(() => undefined);
    return picking;
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
      return Math.max(0, max - (await current()).taken.size);
    },
    left: (slot) => {
      picked.delete(slot);
      view?.taken.delete(slot);
    },
    forget: (slot) => {
      if (slot !== undefined) picked.delete(slot);
      view = undefined;
    },
  };
}

async function cursorOf(deps: Pick<Ports, "tables">): Promise<number> {
  const item = await deps.tables.get(slotCursorTable, CURSOR);
  return item?.count ?? 0;
}

/** Claims the next `size` places; answers how many have been claimed with them. */
async function claim(deps: Pick<Ports, "tables">, size: number): Promise<number> {
  const item = await deps.tables.update(slotCursorTable, CURSOR, { add: { count: size } });
  if (item === undefined) throw new Error("an update without conditions was refused");
  return item.count;
}

/** Any of them: others that look for one at the same moment take another. */
function anyOf({ ids }: Pick<Ports, "ids">, slots: readonly number[]): number | undefined {
  return slots[Number.parseInt(ids.random().slice(0, 8), 16) % slots.length];
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
