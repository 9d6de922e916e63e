import { rm } from "node:fs/promises";
import { join } from "node:path";
import { readAll } from "../../events/read-all.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Key, TableSpec, Write } from "../../platform/tables.ts";
import { clearOldest, type RemovalDecision } from "../../ranked-index/clear-oldest.ts";
import type { Retention } from "../../settings/config.ts";
import { deleteArtifacts } from "../artifacts/delete-artifacts.ts";
import { isTerminal } from "../engine/history.ts";
import { type ListDeps, recordsOf } from "../lists/list.ts";
import { entryKey, listEntriesTable } from "../lists/table.ts";
import type { StepPaths } from "../steps/context.ts";
import { valuesTable } from "../values/table.ts";
import { childrenPartition, keysOfLinks, writtenPartition } from "./run-links.ts";
import { runList, runPendingWrite } from "./run-list.ts";
import { indexSteps, STEPS_LIST, stepKeyOf } from "./step-results.ts";
import {
  historyTable,
  jobPartition,
  numberKey,
  runKey,
  runNamesTable,
  runsTable,
  type StoredRun,
  stepsTable,
} from "./table.ts";

/** Maximum number of runs, and of steps, that one sweep deletes. */
const RUNS_MAX = 300;

const STEPS_MAX = 5_000;

/** Number of runs whose data is deleted concurrently. */
const RUNS_AT_ONCE = 10;

/** Number of writes per transaction, and of blobs per listing. */
const WRITES_AT_ONCE = 100;

const BLOBS_AT_ONCE = 1_000;

/** Number of runs that one transaction lists again, with three writes each. */
const RELISTED_MAX = 30;

export type RetainRunsDeps = ListDeps &
  Pick<Ports, "tables" | "blobs" | "clock" | "ids" | "log"> & {
    readonly paths: Pick<StepPaths, "logsDir">;
    readonly retention: Retention;
  };

/**
 * Deletes runs that ended before the retention period, with their steps, history, values, logs and artifacts. An old
 * run that is unfinished or ended recently is indexed again, so that it does not block the deletion of newer runs.
 * Returns the number of deleted runs.
 */
export async function retainRuns(deps: RetainRunsDeps): Promise<number> {
  const { runsMs } = deps.retention;
  if (runsMs === undefined) return 0;
  const before = new Date(deps.clock.now() - runsMs).toISOString();
  const runs = {
    name: runList.name,
    index: deps.lists[runList.name],
    judge: (ids: readonly string[]) => judgeRuns(deps, ids, before),
    remove: async (ids: readonly string[]) => {
      const found = await recordsOf(deps, runList, ids);
      await removeRuns(
        deps,
        [...found.values()].filter((run) => isDue(run, before)),
      );
    },
  };
  const steps = {
    name: STEPS_LIST,
    index: deps.lists[STEPS_LIST],
    judge: (keys: readonly string[]) => judgeSteps(deps, keys, before),
    remove: (keys: readonly string[]) =>
      deleteAll(
        deps,
        keys.map((key) => deletion(stepsTable, stepKeyOf(key))),
      ),
  };
  const removed = await clearOldest(deps, runs, RUNS_MAX);
  await clearOldest(deps, steps, STEPS_MAX);
  if (removed > 0) deps.log.info("removed expired runs", { count: removed });
  return removed;
}

const isDue = ({ status, completed_at }: StoredRun, before: string): boolean =>
  isTerminal(status) && completed_at !== null && completed_at < before;

/**
 * The runs to delete are a prefix of the list that ends at the first recent run. An old run that stays is indexed again
 * if a later run is to be deleted, or if the whole page stays.
 */
async function judgeRuns(deps: ListDeps, ids: readonly string[], before: string): Promise<RemovalDecision> {
  const runs = await recordsOf(deps, runList, ids);
  const staying: { readonly index: number; readonly run: StoredRun }[] = [];
  let count = 0;
  for (const [index, id] of ids.entries()) {
    const run = runs.get(id);
    if (run === undefined || isDue(run, before)) count = index + 1;
    else if (run.created_at >= before || staying.length === RELISTED_MAX) break;
    else staying.push({ index, run });
  }
  if (count === 0 && staying.length === RELISTED_MAX) count = RELISTED_MAX;
  const relisted = staying.filter(({ index }) => index < count);
  return { count, writes: relisted.flatMap(({ run }) => listAnew(run)) };
}

/** Fails if the run changed since it was read; the next sweep looks at it again. */
const listAnew = (run: StoredRun): Write[] => [
  { op: "check", table: runsTable, key: runKey(run.run_id), when: [["version", "=", run.version]] },
  { op: "delete", table: listEntriesTable, key: entryKey(runList.name, run.run_id) },
  runPendingWrite(run),
];

/** Steps are indexed when their run finishes and are deleted with it. */
async function judgeSteps(deps: ListDeps, keys: readonly string[], before: string): Promise<RemovalDecision> {
  const owners = keys.map((key) => stepKeyOf(key).pk);
  const runs = await recordsOf(deps, runList, [...new Set(owners)]);
  const stays = owners.findIndex((id) => {
    const run = runs.get(id);
    return run !== undefined && !isDue(run, before);
  });
  return { count: stays < 0 ? keys.length : stays };
}

/** Deletes the data of these runs, their rows last: after an interruption the rows show what is left to delete. */
async function removeRuns(deps: RetainRunsDeps, runs: readonly StoredRun[]): Promise<void> {
  for (const [job, members] of Map.groupBy(runs, ({ run_group_id }) => run_group_id)) {
    for (let start = 0; start < members.length; start += RUNS_AT_ONCE)
      await Promise.all(members.slice(start, start + RUNS_AT_ONCE).map((run) => removeBehind(deps, run)));
    const ids = new Set(members.map(({ run_id }) => run_id));
    const names = (await readAll(deps, runNamesTable, { pk: jobPartition(job) })).filter(({ run_id }) =>
      ids.has(run_id),
    );
    const writes = [
      ...names.map((name) => deletion(runNamesTable, name)),
      ...members.map(({ number }) => deletion(runNamesTable, numberKey(number))),
      ...members.map((run) => deletion(runsTable, run)),
    ];
    await deleteAll(deps, writes);
  }
}

async function removeBehind(deps: RetainRunsDeps, run: StoredRun): Promise<void> {
  const { run_id } = run;
  await indexSteps(deps, [run_id]);
  await deleteArtifacts(deps, run_id);
  const prefix = `runs/${run_id}/`;
  for (let keys = await blobsOf(deps, prefix); keys.length > 0; keys = await blobsOf(deps, prefix))
    await deps.blobs.delete(keys);
  await rm(join(deps.paths.logsDir, run_id), { recursive: true, force: true });
  await deleteRows(deps, valuesTable, run_id);
  await deleteRows(deps, historyTable, run_id);
  const children = await readAll(deps, runNamesTable, { pk: childrenPartition(run_id) });
  const written = await readAll(deps, runNamesTable, { pk: writtenPartition(run_id) });
  await deleteAll(
    deps,
    keysOfLinks(run, children, written).map((key) => deletion(runNamesTable, key)),
  );
}

async function deleteRows<Item extends Key>(
  deps: Pick<Ports, "tables">,
  table: TableSpec<Item>,
  pk: string,
): Promise<void> {
  const items = await readAll(deps, table, { pk });
  await deleteAll(
    deps,
    items.map((item) => deletion(table, item)),
  );
}

const blobsOf = ({ blobs }: Pick<Ports, "blobs">, prefix: string): Promise<string[]> =>
  blobs.list(prefix, { limit: BLOBS_AT_ONCE });

function deletion<Item extends Key>(table: TableSpec<Item>, { pk, sk }: Key): Write {
  return { op: "delete", table, key: { pk, sk } };
}

async function deleteAll(deps: Pick<Ports, "tables">, writes: readonly Write[]): Promise<void> {
  for (let start = 0; start < writes.length; start += WRITES_AT_ONCE)
    await deps.tables.write(writes.slice(start, start + WRITES_AT_ONCE));
}
