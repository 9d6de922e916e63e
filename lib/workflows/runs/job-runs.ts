import { readAll } from "../../events/read-all.ts";
import type { Ports } from "../../platform/ports.ts";
import { jobPartition, runKey, runNamesTable, runsTable, type StoredRun } from "./table.ts";

/** Longest id of a job that is looked up, characters. */
const JOB_ID_MAX_LENGTH = 128;

/** The runs of a job in the order of its targets: a run that was started alone is a job of its own. */
export async function jobRuns(deps: Pick<Ports, "tables">, jobId: string): Promise<StoredRun[]> {
  if (jobId.length > JOB_ID_MAX_LENGTH) return [];
  const alone = await deps.tables.get(runsTable, runKey(jobId));
  if (alone !== undefined) return alone.run_group_id === jobId ? [alone] : [];
  const members = await readAll(deps, runNamesTable, { pk: jobPartition(jobId) });
  if (members.length === 0) return [];
  return deps.tables.batchGet(
    runsTable,
    members.map(({ run_id }) => runKey(run_id)),
  );
}
