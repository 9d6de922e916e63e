import type { Ports } from "../../platform/ports.ts";
import { scheduleKey, schedulesTable } from "../store/trigger-tables.ts";

/** Files that a trigger watches; further ones are ignored, and its schedule shows an error. */
export const WATCHED_FILES_MAX = 5_000;

/** Files with a longer path are ignored, bytes. */
export const WATCHED_PATH_MAX_BYTES = 1_000;

/** Stores the error that a watch trigger's schedule shows; empty if all files are watched. */
export async function setWatchError(
  { tables }: Pick<Ports, "tables">,
  scheduleId: string,
  error: string,
): Promise<void> {
  const row = await tables.get(schedulesTable, scheduleKey(scheduleId));
  if (row === undefined || row.error === error) return;
  await tables.update(schedulesTable, scheduleKey(scheduleId), { set: { error } }, [["pk", "exists"]]);
}

export const TOO_MANY_FILES = `more than ${WATCHED_FILES_MAX} files: further files are not watched`;
