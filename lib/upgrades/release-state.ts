import type { Key, TableSpec, Tables } from "../platform/tables.ts";
import { FIRST_START_KEY, serviceTable } from "../workflows/installation/table.ts";
import { checkSkippedReleases, planUpgrade } from "./plan.ts";
import { FIRST_RELEASE, formatVersion, toVersion, UpgradeError } from "./releases.ts";

/** The release of the stored data, and the progress of its upgrade. */
export interface ReleaseState extends Key {
  readonly release: string;
  /** The release that it is being upgraded to. */
  readonly upgrading?: string;
  /** Completed migrations of that release. */
  readonly done?: readonly string[];
  /** Position of the migration after them. */
  readonly position?: string;
  /** The server that migrates, and the expiry of its lease, milliseconds. */
  readonly lease_owner?: string;
  readonly lease_expires_at?: number;
}

/** The release item of the service. */
export const releaseTable: TableSpec<ReleaseState> = { name: serviceTable.name, indexes: {} };
export const RELEASE_KEY: Key = { pk: "service", sk: "release" };

/** The difference between stored data and a release: none, a newer fix release, or migrations. */
export type Upgrade = "none" | "fix" | "migrations";

/**
 * The release of the stored data. Data without one gets it: the current release if nothing is stored yet. Throws
 * UpgradeError if the upgrade would skip a release, or go back.
 */
export async function readReleaseState(
  tables: Tables,
  release: string,
): Promise<{ readonly state: ReleaseState; readonly upgrade: Upgrade }> {
  const state = (await tables.get(releaseTable, RELEASE_KEY)) ?? (await createReleaseState(tables, release));
  const [stored, wanted] = [toVersion(state.release), toVersion(release)];
  if (state.upgrading !== undefined && toVersion(state.upgrading).at !== wanted.at)
    throw new UpgradeError(
      `The stored data is being upgraded to release ${state.upgrading}: start that release again before ${formatVersion(wanted)}`,
    );
  checkSkippedReleases(planUpgrade(state.release, release));
  if (stored.at !== wanted.at) return { state, upgrade: "migrations" };
  return { state, upgrade: stored.fix === wanted.fix ? "none" : "fix" };
}

async function createReleaseState(tables: Tables, release: string): Promise<ReleaseState> {
  const started = await tables.get(serviceTable, FIRST_START_KEY);
  const first = started === undefined ? release : FIRST_RELEASE;
  const kept = await tables.update(releaseTable, RELEASE_KEY, { setIfMissing: { release: first } });
  return kept ?? { ...RELEASE_KEY, release: first };
}

/**
 * For processes that only serve requests and must not wait for migrations: `start` is the command of a server that
 * migrates. Throws UpgradeError if the stored data is of another release.
 */
export async function checkStoredRelease(tables: Tables, release: string, start: string): Promise<void> {
  const { state, upgrade } = await readReleaseState(tables, release);
  if (upgrade === "migrations")
    throw new UpgradeError(
      `The stored data is of release ${state.release} and this is ${release}: ${start}, which migrates it`,
    );
}
