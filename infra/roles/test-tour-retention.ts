import { randomUUID } from "node:crypto";
import { EVENT_INDEX, eventKey, eventLogTable, type StoredEvent } from "../../lib/events/log/table.ts";
import type { Ports } from "../../lib/platform/ports.ts";
import type { Key } from "../../lib/platform/tables.ts";
import { RankedIndex } from "../../lib/ranked-index/ranked-index.ts";
import { emptyHead, postingsKey, rankedIndexTable } from "../../lib/ranked-index/table.ts";
import {
  artifactKey,
  artifactList,
  artifactsTable,
  type StoredArtifact,
} from "../../lib/workflows/artifacts/table.ts";
import { indexRecords } from "../../lib/workflows/lists/index-list.ts";
import type { ListDeps } from "../../lib/workflows/lists/list.ts";
import { pendingWrite } from "../../lib/workflows/lists/table.ts";
import {
  historyKey,
  historyTable,
  memberKey,
  runKey,
  runNamesTable,
  runsTable,
  type StoredRun,
  stepKey,
  stepsTable,
} from "../../lib/workflows/runs/table.ts";
import { valueKey, valuesTable } from "../../lib/workflows/values/table.ts";
import type { Installation } from "./test-installation.ts";

/** Older than every retention period. */
const LONG_AGO = "2020-01-01T00:00:00.000Z";

/** Records of one segment of an index. */
const SEGMENT = 65_536;

/**
 * Creates an expired event and expired runs before anything else happens. Returns a function that checks, after the
 * first sweep, that exactly these were removed.
 */
export async function createExpiredRecords({
  outside,
}: Pick<Installation, "outside">): Promise<() => Promise<void>> {
  const event = await createExpiredEvent(outside);
  const waiting = await createExpiredRun(outside, "running");
  const ended = await createExpiredRun(outside, "completed");
  // An unfinished run precedes one that is to be removed.
  for (const key of [waiting, ended]) await outside.lists.runs.take({ entries: [{ key, fields: {} }] });
  await createRunRecords(outside, ended);
  const { tables, blobs } = outside;
  return async () => {
    const remaining = await Promise.all([
      tables.get(eventLogTable, eventKey(event)),
      tables.get(runsTable, runKey(ended)),
      tables.get(stepsTable, stepKey(ended, "old")),
      tables.get(valuesTable, valueKey(ended, "old")),
      tables.get(rankedIndexTable, postingsKey("steps", {}, 0, "run=old")),
      blobs.head(`events/${event}`),
      blobs.head(`runs/${ended}/work/1`),
    ]);
    const kept = await tables.get(runsTable, runKey(waiting));
    if (remaining.some((one) => one !== undefined) || kept === undefined)
      throw new Error(`not removed: ${JSON.stringify(remaining)}; kept: ${JSON.stringify(kept)}`);
  };
}

async function createExpiredEvent({ tables, blobs }: Pick<Ports, "tables" | "blobs">): Promise<string> {
  const id = randomUUID();
  const data_blob = `events/${id}`;
  await blobs.put(data_blob, "{}");
  const times = { created_at: LONG_AGO, processed_at: LONG_AGO };
  const event = { ...eventKey(id), event_id: id, processed: true, matches: [], data_blob, ...times };
  await tables.write([{ op: "put", table: eventLogTable, item: event as Key as StoredEvent }]);
  await new RankedIndex({ tables }, EVENT_INDEX).take({ entries: [{ key: id, fields: {} }] });
  return id;
}

async function createExpiredRun(
  { tables }: Pick<Ports, "tables">,
  status: StoredRun["status"],
): Promise<string> {
  const id = randomUUID();
  const times = { created_at: LONG_AGO, completed_at: status === "running" ? null : LONG_AGO };
  const names = { workflow_name: "old", workspace: "old", target: "old", run_group_id: "old", number: 0 };
  const found = { params: {}, started_at: LONG_AGO, error_message: "" };
  const run = { ...runKey(id), run_id: id, status, version: 1, ...times, ...names, ...found };
  await tables.write([{ op: "put", table: runsTable, item: run as Key as StoredRun }]);
  return id;
}

/** The records of a run, and an index of steps whose first segment is full. */
async function createRunRecords(deps: ListDeps & Pick<Ports, "blobs">, runId: string): Promise<void> {
  const key = artifactKey("old", "old.txt");
  const listed = { list_token: "old", created_at: LONG_AGO };
  const names = { id: "old", name: "old.txt", workspace: "old", artifact_path: "old.txt" };
  const artifact = { ...key, ...names, run_id: runId, artifact_type: "report", ...listed };
  const head = { ...emptyHead("steps"), version: 1, last: SEGMENT, merged: SEGMENT, low: SEGMENT };
  await deps.blobs.put(`runs/${runId}/work/1`, "{}");
  await deps.tables.write([
    { op: "put", table: stepsTable, item: { ...stepKey(runId, "old"), key: "old" } },
    { op: "put", table: historyTable, item: { ...historyKey(runId, 0), at: LONG_AGO, entries: [] } },
    { op: "put", table: valuesTable, item: { ...valueKey(runId, "old"), json: "1" } },
    { op: "put", table: runNamesTable, item: { ...memberKey("old", 0), run_id: runId } },
    { op: "put", table: artifactsTable, item: artifact as Key as StoredArtifact },
    pendingWrite(artifactList.name, key.pk, listed.list_token),
    { op: "put", table: rankedIndexTable, item: head },
    { op: "put", table: rankedIndexTable, item: { ...postingsKey("steps", {}, 0, "run=old"), until: 0 } },
  ]);
  await indexRecords(deps, artifactList, [key.pk]);
  await deps.lists.steps.take({ entries: [{ key: `${runId}\nold`, fields: {} }] });
}
