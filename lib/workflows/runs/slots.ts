import { setTimeout as sleep } from "node:timers/promises";
import { readAll } from "../../events/read-all.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Key, TableSpec, Write } from "../../platform/tables.ts";
import { runQueueTable } from "./table.ts";

const SLOTS = "slots";

/** Another view of the run queue table, whose other items are queue positions and slots. */
const slotCursorTable: TableSpec<Key & { readonly count: number }> = {
  name: runQueueTable.name,
  indexes: {},
};

/** Partitions of slots where partitions have limits: each run writes its slot twice, in transactions. */
const SLOT_SHARDS = 16;
/** Slots from this number on are spread over the partitions; earlier releases took lower ones. */
const SPREAD_FROM = 1_000_000;

const slotPartition = (shard: number): string => `${SLOTS}#${shard}`;

function slotKey(slot: number): Key {
  const pk = slot < SPREAD_FROM ? SLOTS : slotPartition(slot % SLOT_SHARDS);
  return { pk, sk: String(slot).padStart(6, "0") };
}

/** The slots that are taken. */
async function readTaken(deps: Pick<Ports, "tables">): Promise<Set<number>> {
  const spread = Array.from({ length: SLOT_SHARDS }, (_, shard) => slotPartition(shard));
  const partitions = [SLOTS, ...(deps.tables.partitionLimits === true ? spread : [])];
  const items = await Promise.all(partitions.map((pk) => readAll(deps, runQueueTable, { pk })));
  return new Set(items.flat().map(({ sk }) => Number(sk)));
}

/**
 * The slots of concurrent runs, for the whole service. A slot is an item that is written with the start of a run and
 * deleted with its end, so no slot leaks. Each process caches which slots are free.
 */
export interface RunSlots {
  /** Picks a free slot for a run that is about to be committed; undefined if there is none. */
  pick(): Promise<number | undefined>;
  /** Reserves a free slot for a run that is about to receive its start message; false if there is none. */
  keep(runId: string): Promise<boolean>;
  /** Takes the slot that was reserved for a run, to commit it with the run's start. */
  kept(runId: string): number | undefined;
  /** Runs with a reserved slot. */
  awaited(): ReadonlySet<string>;
  /** Number of free slots, as far as this process knows. */
  free(): Promise<number>;
  /** Marks a slot as free, since its run has ended. */
  left(slot: number): void;
  /** Discards the cached view after a commit for this slot failed. */
  forget(slot?: number): void;
}

/** How long a slot stays reserved, milliseconds; by then the start message has arrived or is lost. */
const KEPT_MS = 10_000;
/** Maximum age of the cached view if other processes take slots as well, milliseconds. */
const VIEW_MAX_AGE_MS = 5_000;
/** Slots that a process claims at once to try before other processes do: a share of the free ones, up to a maximum. */
const RANGE_SHARE = 1 / 16;
const RANGE_MAX = 10;
/** How long other processes get to commit their claimed slots before the free ones are read again, milliseconds. */
const COMMIT_WAIT_MS = 100;

/**
 * Counts all claims of slots. A claim does not take a slot: it only keeps processes that start runs concurrently from
 * trying the same slots. Each claim continues where the previous one ended, modulo the number of slots.
 */
const CURSOR: Key = { pk: "slot-cursor", sk: "cursor" };

/** The cached state of the slots. */
interface View {
  readonly taken: Set<number>;
  /** The value of the counter when the state was read. */
  readonly claimed: number;
  readonly readAt: number;
}

/** Creates at most `max` slots. */
export function runSlots(deps: Pick<Ports, "tables" | "outbox" | "clock" | "ids">, max: number): RunSlots {
  const alone = deps.outbox.atomic === true;
  const first = deps.tables.partitionLimits === true ? SPREAD_FROM : 0;
  let view: View | undefined;
  /** Slots claimed by this process and not tried yet. */
  let claimed: number[] = [];
  /** Slots picked by this process, and until when the table may not show them. */
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
    const taken = await readTaken(deps);
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
  /** Both maps are ordered by age, so the loops stop at the first entry that is still valid. */
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
    for (let slot = first; slot < first + max; slot += 1) if (!taken.has(slot)) free.push(slot);
    // Those of earlier releases count as well.
    return free.slice(0, Math.max(0, max - taken.size));
  };
  const firstFree = ({ taken }: View): number | undefined => {
    for (let slot = 0; slot < max; slot += 1) if (!taken.has(slot)) return slot;
    return undefined;
  };

  const findAlone = async (): Promise<number | undefined> => firstFree(await current());

  /** Finds a slot that, as far as this process knows, no other process tries concurrently. */
  const findAmongOthers = async (): Promise<number | undefined> => {
    let known = await current();
    const next = (): number | undefined => {
      for (let slot = claimed.shift(); slot !== undefined; slot = claimed.shift())
        if (!known.taken.has(slot)) return slot;
      return undefined;
    };
    const own = next();
    if (own !== undefined) return own;
    // Other processes end runs as well, so slots may have become free.
    if (freeOf(known).length === 0) known = await look();
    const free = freeOf(known).length;
    if (free === 0) return undefined;
    const size = Math.min(RANGE_MAX, Math.ceil(free * RANGE_SHARE));
    const end = await claim(deps, size);
    if (end - known.claimed > free) {
      // More slots are claimed than are free: waits until the other processes have committed, then reads again.
      await sleep(COMMIT_WAIT_MS);
      known = await look();
    }
    claimed = Array.from({ length: size }, (_, at) => first + ((end - size + at) % max));
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
  /** Serialized, so that concurrent calls do not each read the slots and claim some. */
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

/** Claims the next `size` slots. Returns the counter after the claim. */
async function claim(deps: Pick<Ports, "tables">, size: number): Promise<number> {
  const item = await deps.tables.update(slotCursorTable, CURSOR, { add: { count: size } });
  if (item === undefined) throw new Error("an update without conditions failed");
  return item.count;
}

/** A random slot, so that concurrent processes choose different ones. */
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
