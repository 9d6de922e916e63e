import type { Key, TableSpec, Tables } from "../platform/tables.ts";
import { FIRST_START_KEY, serviceTable } from "../workflows/installation/table.ts";
import { checkNothingSkipped, planUpgrade } from "./plan.ts";
import { FIRST_RELEASE, toText, toVersion, UpgradeRefused } from "./releases.ts";

/** The release that stored data is of, and how far it is on its way to the next. */
export interface ReleaseMark extends Key {
  readonly release: string;
  /** The release that it is on its way to. */
  readonly upgrading?: string;
  /** Migrations of that release which are done. */
  readonly done?: readonly string[];
  /** Where the one after them goes on. */
  readonly place?: string;
  /** Who migrates, and until when nobody else does, milliseconds. */
  readonly holder?: string;
  readonly held_until?: number;
}

/** A mark of the service, beside its others. */
export const markTable: TableSpec<ReleaseMark> = { name: serviceTable.name, indexes: {} };
export const RELEASE_KEY: Key = { pk: "service", sk: "release" };

/** What stands between stored data and a release: nothing, a newer fix release, or migrations. */
export type Upgrade = "none" | "fix" | "migrations";

/**
 * The mark of the stored data; data that has none gets one: of this release where nothing is stored yet.
 * Throws UpgradeRefused where the way to this release leads over another, or back.
 */
export async function readMark(
  tables: Tables,
  release: string,
): Promise<{ readonly mark: ReleaseMark; readonly upgrade: Upgrade }> {
  const mark = (await tables.get(markTable, RELEASE_KEY)) ?? (await firstMark(tables, release));
  const [stored, wanted] = [toVersion(mark.release), toVersion(release)];
  if (mark.upgrading !== undefined && toVersion(mark.upgrading).at !== wanted.at)
    throw new UpgradeRefused(
      `The stored data is on its way to release ${mark.upgrading}: start that one again before ${toText(wanted)}`,
    );
  checkNothingSkipped(planUpgrade(mark.release, release));
  if (stored.at !== wanted.at) return { mark, upgrade: "migrations" };
  return { mark, upgrade: stored.fix === wanted.fix ? "none" : "fix" };
}

async function firstMark(tables: Tables, release: string): Promise<ReleaseMark> {
  const started = await tables.get(serviceTable, FIRST_START_KEY);
  const first = started === undefined ? release : FIRST_RELEASE;
  const kept = await tables.update(markTable, RELEASE_KEY, { setIfMissing: { release: first } });
  return kept ?? { ...RELEASE_KEY, release: first };
}

/**
 * For what only serves, and may not take the time that migrations need: `start` says how a server that takes it is
 * started. Throws UpgradeRefused where the stored data is not of this release.
 */
export async function checkMark(tables: Tables, release: string, start: string): Promise<void> {
  const { mark, upgrade } = await readMark(tables, release);
  if (upgrade === "migrations")
    throw new UpgradeRefused(
      `The stored data is of release ${mark.release} and this is ${release}: ${start}, which migrates it`,
    );
}
