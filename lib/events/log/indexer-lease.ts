import type { Ports } from "../../platform/ports.ts";
import type { Key, TableSpec } from "../../platform/tables.ts";
import { CONFLICT, retryOnConflict } from "../../retry-on-conflict.ts";
import { eventTailTable } from "./table.ts";

/** The right to index the tail: one process at a time, because additions to the index exclude each other. */
interface IndexerLease extends Key {
  /** Missing if no process indexes. */
  readonly owner?: string;
  /** Milliseconds since the epoch; 0 if the owner left work to the next one. */
  readonly expires_at?: number;
  /** How often another process found the lease taken: its records may have been written after the tail was read. */
  readonly wanted?: number;
}

const leaseTable: TableSpec<IndexerLease> = { name: eventTailTable.name, indexes: {} };
const LEASE: Key = { pk: "lease", sk: "indexer" };

/** Longer than an indexer may take, milliseconds. */
const LEASE_MS = 40_000;
/** After this time no further turn begins, milliseconds: one more may take ten seconds, and the process has thirty. */
const TURNS_MS = 15_000;

/** What an indexer has to look for. */
export interface IndexerTurn {
  /** Any record may be waiting: other processes left theirs to this one. */
  readonly isForOthers: boolean;
}

type LeaseDeps = Pick<Ports, "tables" | "clock" | "ids">;

/**
 * Indexes while no other process does; else leaves the work to that process. Repeats if others left their work to this
 * one meanwhile, and after some time calls `wake` so that another process continues. Returns false if the work was left
 * to another process. If `index` fails, the next process looks for all records.
 */
export async function indexInTurn(
  deps: LeaseDeps,
  index: (turn: IndexerTurn) => Promise<void>,
  wake: () => Promise<void>,
): Promise<boolean> {
  const until = deps.clock.now() + TURNS_MS;
  const owner = deps.ids.random();
  const acquired = await acquireLease(deps, owner);
  if (acquired === undefined) return false;
  try {
    let { wanted } = acquired;
    await index({ isForOthers: acquired.isForOthers });
    while (!(await releaseLease(deps, owner, wanted))) {
      if (deps.clock.now() >= until) {
        await endLease(deps, owner);
        await wake();
        break;
      }
      const now = await deps.tables.get(leaseTable, LEASE);
      if (now?.owner !== owner) break;
      wanted = now.wanted ?? 0;
      await index({ isForOthers: true });
    }
  } catch (error) {
    // If this fails too, the lease expires later.
    await endLease(deps, owner).catch(() => undefined);
    throw error;
  }
  return true;
}

interface AcquiredLease extends IndexerTurn {
  readonly wanted: number;
}

/** Undefined if another process has the lease, which then indexes the records of this process too. */
const acquireLease = (deps: LeaseDeps, owner: string): Promise<AcquiredLease | undefined> =>
  retryOnConflict(() => tryToAcquire(deps, owner), {
    exceeded: () => new Error("too many conflicts at the lease of the indexer"),
  });

async function tryToAcquire(
  { tables, clock }: LeaseDeps,
  owner: string,
): Promise<AcquiredLease | undefined | typeof CONFLICT> {
  const set = { owner, expires_at: clock.now() + LEASE_MS };
  const free = await tables.update(leaseTable, LEASE, { set, setIfMissing: { wanted: 0 } }, [
    ["owner", "missing"],
  ]);
  if (free !== undefined) return { wanted: free.wanted ?? 0, isForOthers: false };
  const other = await tables.get(leaseTable, LEASE);
  if (other?.owner === undefined) return CONFLICT;
  const { expires_at = 0 } = other;
  const same = [
    ["owner", "=", other.owner],
    ["expires_at", "=", expires_at],
  ] as const;
  if (expires_at > clock.now()) {
    const requested = await tables.update(leaseTable, LEASE, { add: { wanted: 1 } }, same);
    return requested === undefined ? CONFLICT : undefined;
  }
  const expired = await tables.update(leaseTable, LEASE, { set }, same);
  return expired === undefined ? CONFLICT : { wanted: expired.wanted ?? 0, isForOthers: true };
}

/** False if others wanted the lease since `wanted` was read, or took it after it had expired. */
async function releaseLease({ tables }: LeaseDeps, owner: string, wanted: number): Promise<boolean> {
  const released = await tables.update(leaseTable, LEASE, { remove: ["owner"] }, [
    ["owner", "=", owner],
    ["wanted", "=", wanted],
  ]);
  return released !== undefined;
}

/** Lets the lease expire at once: whoever takes it looks for all records, as others may have left theirs to this owner. */
async function endLease({ tables }: LeaseDeps, owner: string): Promise<void> {
  await tables.update(leaseTable, LEASE, { set: { expires_at: 0 } }, [["owner", "=", owner]]);
}
