import type { Ports } from "../platform/ports.ts";
import type { Change, Condition } from "../platform/tables.ts";
import { markTable, RELEASE_KEY, type ReleaseMark, readMark } from "./mark.ts";
import { MIGRATIONS, type Migration, type MigrationDeps } from "./migrations.ts";
import { toVersion, UpgradeRefused } from "./releases.ts";

export type UpgradeDeps = MigrationDeps & Pick<Ports, "ids">;

export interface UpgradeOptions {
  /** The release of the contract that is starting. */
  readonly release: string;
  /** Nobody else can have the data: whoever held it has died. */
  readonly alone: boolean;
  /** Those of the table where nothing is said. */
  readonly migrations?: readonly Migration[];
}

/** How long somebody who migrates is waited for after the last piece, milliseconds: longer than a piece takes. */
export const HOLD_MS = 5 * 60_000;

/**
 * Brings stored data to the release that is starting: its migrations in order, each once. One that was stopped goes on
 * with the piece that it was at. Throws UpgradeRefused where a release would be skipped, for going back, and while
 * another server is at it. Seed: documents 9.3.
 */
export async function upgradeData(deps: UpgradeDeps, options: UpgradeOptions): Promise<void> {
  const { release, alone, migrations = MIGRATIONS } = options;
  const { mark, upgrade } = await readMark(deps.tables, release);
  if (upgrade === "none") return;
  if (upgrade === "fix") {
    // Whoever comes second finds it done.
    const change: Change = { set: { release } };
    await deps.tables.update(markTable, RELEASE_KEY, change, [["release", "=", mark.release]]);
    return;
  }
  const holder = deps.ids.random();
  const held = await hold(deps, mark, { holder, alone, release });
  deps.log.info("upgrading the stored data", { from: mark.release, to: release });
  const { name } = toVersion(release);
  await migrate(
    deps,
    held,
    migrations.filter((migration) => migration.release === name),
  );
  await keep(deps, holder, {
    set: { release },
    remove: ["upgrading", "done", "place", "holder", "held_until"],
  });
  deps.log.info("upgraded the stored data", { from: mark.release, to: release });
}

/** Takes the data for oneself. Throws UpgradeRefused while another has it. */
async function hold(
  { tables, clock }: UpgradeDeps,
  mark: ReleaseMark,
  { holder, alone, release }: { readonly holder: string; readonly alone: boolean; readonly release: string },
): Promise<ReleaseMark> {
  const now = clock.now();
  const set = { holder, held_until: now + HOLD_MS, upgrading: release };
  const free = alone || mark.holder === undefined || (mark.held_until ?? 0) <= now;
  const asRead: Condition[] = [
    ["release", "=", mark.release],
    mark.holder === undefined ? ["holder", "missing"] : ["holder", "=", mark.holder],
    ...(mark.held_until === undefined ? [] : [["held_until", "=", mark.held_until] as const]),
  ];
  const held = free ? await tables.update(markTable, RELEASE_KEY, { set }, asRead) : undefined;
  if (held === undefined)
    throw new UpgradeRefused(
      `Another server is bringing the stored data to release ${release}: start this one again when it has`,
    );
  return held;
}

async function migrate(
  deps: UpgradeDeps,
  held: ReleaseMark,
  migrations: readonly Migration[],
): Promise<void> {
  const holder = held.holder ?? "";
  let done = held.done ?? [];
  let place = held.place;
  for (const migration of migrations) {
    if (done.includes(migration.name)) continue;
    deps.log.info("migrating", { migration: migration.name, ...(place === undefined ? {} : { place }) });
    for (;;) {
      place = await migration.piece(deps, place);
      if (place === undefined) break;
      await keep(deps, holder, { set: { place } });
    }
    done = [...done, migration.name];
    await keep(deps, holder, { set: { done }, remove: ["place"] });
  }
}

/** Writes down how far one has come. Throws UpgradeRefused where another has taken over. */
async function keep({ tables, clock }: UpgradeDeps, holder: string, change: Change): Promise<void> {
  const stays = change.remove?.includes("held_until") !== true;
  const set = { ...change.set, ...(stays ? { held_until: clock.now() + HOLD_MS } : {}) };
  const mine: Condition[] = [["holder", "=", holder]];
  const kept = await tables.update(markTable, RELEASE_KEY, { ...change, set }, mine);
  if (kept === undefined)
    throw new UpgradeRefused(
      "Another server has taken over the upgrade of the stored data: it goes on there",
    );
}
