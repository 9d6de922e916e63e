import type { Ports } from "../platform/ports.ts";
import type { Change, Condition } from "../platform/tables.ts";
import { MIGRATIONS, type Migration, type MigrationDeps } from "./migrations.ts";
import { RELEASE_KEY, type ReleaseState, readReleaseState, releaseTable } from "./release-state.ts";
import { toVersion, UpgradeError } from "./releases.ts";

export type UpgradeDeps = MigrationDeps & Pick<Ports, "ids">;

export interface UpgradeOptions {
  /** The release of the contract that is starting. */
  readonly release: string;
  /** No other server can have the data: the previous holder is dead. */
  readonly isExclusive: boolean;
  /** Defaults to those of the table. */
  readonly migrations?: readonly Migration[];
}

/** Duration of the lease after the last batch, milliseconds: longer than a batch takes. */
export const LEASE_MS = 5 * 60_000;

/**
 * Upgrades stored data to the release that is starting: runs its migrations in order, each once. An interrupted one
 * continues with its batch. Throws UpgradeError if a release would be skipped, for a downgrade, and while another
 * server upgrades. Seed: documents 9.3.
 */
export async function upgradeData(deps: UpgradeDeps, options: UpgradeOptions): Promise<void> {
  const { release, isExclusive, migrations = MIGRATIONS } = options;
  const { state, upgrade } = await readReleaseState(deps.tables, release);
  if (upgrade === "none") return;
  if (upgrade === "fix") {
    // Another server has already upgraded.
    const change: Change = { set: { release } };
    await deps.tables.update(releaseTable, RELEASE_KEY, change, [["release", "=", state.release]]);
    return;
  }
  const holder = deps.ids.random();
  const held = await acquireLease(deps, state, { holder, isExclusive, release });
  deps.log.info("upgrading the stored data", { from: state.release, to: release });
  const { name } = toVersion(release);
  await migrate(
    deps,
    held,
    migrations.filter((migration) => migration.release === name),
  );
  await saveProgress(deps, holder, {
    set: { release },
    remove: ["upgrading", "done", "position", "lease_owner", "lease_expires_at"],
  });
  deps.log.info("upgraded the stored data", { from: state.release, to: release });
}

/** Takes the lease. Throws UpgradeError while another server has it. */
async function acquireLease(
  { tables, clock }: UpgradeDeps,
  state: ReleaseState,
  {
    holder,
    isExclusive,
    release,
  }: { readonly holder: string; readonly isExclusive: boolean; readonly release: string },
): Promise<ReleaseState> {
  const now = clock.now();
  const set = { lease_owner: holder, lease_expires_at: now + LEASE_MS, upgrading: release };
  const free = isExclusive || state.lease_owner === undefined || (state.lease_expires_at ?? 0) <= now;
  const asRead: Condition[] = [
    ["release", "=", state.release],
    state.lease_owner === undefined ? ["lease_owner", "missing"] : ["lease_owner", "=", state.lease_owner],
    ...(state.lease_expires_at === undefined
      ? []
      : [["lease_expires_at", "=", state.lease_expires_at] as const]),
  ];
  const held = free ? await tables.update(releaseTable, RELEASE_KEY, { set }, asRead) : undefined;
  if (held === undefined)
    throw new UpgradeError(
      `Another server is upgrading the stored data to release ${release}: start this one again when it has finished`,
    );
  return held;
}

async function migrate(
  deps: UpgradeDeps,
  held: ReleaseState,
  migrations: readonly Migration[],
): Promise<void> {
  const holder = held.lease_owner ?? "";
  let done = held.done ?? [];
  let position = held.position;
  for (const migration of migrations) {
    if (done.includes(migration.name)) continue;
    deps.log.info("migrating", {
      migration: migration.name,
      ...(position === undefined ? {} : { position }),
    });
    for (;;) {
      position = await migration.migrateBatch(deps, position);
      if (position === undefined) break;
      await saveProgress(deps, holder, { set: { position } });
    }
    done = [...done, migration.name];
    await saveProgress(deps, holder, { set: { done }, remove: ["position"] });
  }
}

/** Stores the progress. Throws UpgradeError if another server has taken over. */
async function saveProgress({ tables, clock }: UpgradeDeps, holder: string, change: Change): Promise<void> {
  const unchanged = change.remove?.includes("lease_expires_at") !== true;
  const set = { ...change.set, ...(unchanged ? { lease_expires_at: clock.now() + LEASE_MS } : {}) };
  const leaseCondition: Condition[] = [["lease_owner", "=", holder]];
  const kept = await tables.update(releaseTable, RELEASE_KEY, { ...change, set }, leaseCondition);
  if (kept === undefined)
    throw new UpgradeError("Another server has taken over the upgrade of the stored data");
}
