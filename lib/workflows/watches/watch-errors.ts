import type { Ports } from "../../platform/ports.ts";
import { scheduleKey, schedulesTable } from "../store/trigger-tables.ts";

/** Files that one trigger looks at; further ones are left alone, and its schedule says so. */
export const WATCHED_FILES_MAX = 5_000;

/** A file with a longer path is not looked at, bytes. */
export const WATCHED_PATH_MAX_BYTES = 1_000;

/** Says where its schedule is shown why nothing, or not all, is watched; empty where all is well. */
export async function setWatchError(
  { tables }: Pick<Ports, "tables">,
  scheduleId: string,
  error: string,
): Promise<void> {
  const row = await tables.get(schedulesTable, scheduleKey(scheduleId));
  if (row === undefined || row.error === error) return;
  await tables.update(schedulesTable, scheduleKey(scheduleId), { set: { error } }, [["pk", "exists"]]);
}

export const TOO_MANY_FILES = `more than ${WATCHED_FILES_MAX} files: the others are not watched`;
