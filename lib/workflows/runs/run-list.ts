import { readAll } from "../../events/read-all.ts";
import type { Listing, PageRequest } from "../../http/page.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import type { Filter } from "../../ranked-index/view.ts";
import { isTerminal } from "../engine/history.ts";
import { allOf, type List, type ListDeps, listItems, recordsOf } from "../lists/list.ts";
import { assemble, type Numbered, newestFirst, passing, readList, readTogether } from "../lists/read-list.ts";
import { entryKey, pendingWrite } from "../lists/table.ts";
import { jobPartition, RUN_SK, runKey, runNamesTable, runsTable, type StoredRun } from "./table.ts";

/** Longest job id that is looked up, characters. */
const JOB_ID_MAX_LENGTH = 128;

/** The runs of a job in the order of its targets. A run that was started alone is its own job. */
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

/** A run has one pending entry: the message about its end is resent until its event is indexed. */
const ONLY_MARK = "";

/** The index holds the status of finished runs; every other run has an entry that marks it as unfinished. */
export const runList: List<StoredRun> = {
  name: "runs",
  table: runsTable,
  sk: RUN_SK,
  indexedFields: ({ workflow_name, workspace, target, status }) => {
    const final = isTerminal(status);
    const fields = { workflow: workflow_name, workspace, ...(final ? { status } : {}) };
    return { fields, text: target, final };
  },
  tokenOf: () => ONLY_MARK,
  orderOf: ({ created_at, number }) => `${created_at}#${String(number).padStart(12, "0")}`,
  deletesWhenGone: true,
};

/** Belongs to the transaction that creates the run. */
export const runPendingWrite = (run: StoredRun): Write =>
  pendingWrite(runList.name, run.run_id, ONLY_MARK, { order: runList.orderOf(run) });

export interface RunFilters {
  readonly status?: string | undefined;
  readonly workflow?: string | undefined;
  /** Substring of the target. */
  readonly target?: string | undefined;
  readonly workspace?: string | undefined;
  /** Job id. */
  readonly job?: string | undefined;
  readonly mode?: string | undefined;
}

/** If more runs than this are unfinished, runs that ended since they were indexed are not looked up. */
const LOOKED_AT_MAX = 1_000;

/** Maximum reads of ended runs, if others end meanwhile. */
const READS_MAX = 5;

/** Runs that match the filters, newest first. */
export async function findRuns(
  deps: ListDeps,
  { status, workflow, target, workspace, job, mode }: RunFilters,
  page: PageRequest,
): Promise<Listing<StoredRun>> {
  const filters: Filter[] = [];
  if (workflow !== undefined) filters.push({ field: "workflow", value: workflow });
  if (workspace !== undefined) filters.push({ field: "workspace", value: workspace });
  if (target !== undefined) filters.push({ contains: target });
  if (mode !== undefined && mode !== "local") return { total: 0, items: onePage([]) };
  if (job !== undefined) return runsOfJob(deps, job, { status, filters }, page);
  if (status === undefined) return readList(deps, runList, filters, page);
  if (status === "pending" || status === "running") return activeRuns(deps, status, filters, page);
  return endedRuns(deps, status, filters, page);
}

/** A job has few enough runs to filter in memory. */
async function runsOfJob(
  deps: ListDeps,
  job: string,
  { status, filters }: { readonly status: string | undefined; readonly filters: readonly Filter[] },
  { offset, limit }: PageRequest,
): Promise<Listing<StoredRun>> {
  const passes = passing(runList, filters);
  const fitting = (await jobRuns(deps, job)).filter(
    (run) => (status === undefined || run.status === status) && passes(run),
  );
  return {
    total: fitting.length,
    items: onePage(newestFirst(runList, fitting).slice(offset, offset + limit)),
  };
}

/** An unfinished run has a pending entry or an entry; the entry is written before the pending entry is deleted. */
async function activeRuns(
  deps: ListDeps,
  status: string,
  filters: readonly Filter[],
  { offset, limit }: PageRequest,
): Promise<Listing<StoredRun>> {
  const { runs, numbers } = await findUnfinishedRuns(deps);
  const passes = passing(runList, filters);
  const fitting = runs.filter((run) => run.status === status && passes(run));
  const placeOf = ({ run_id }: StoredRun): number => numbers.get(run_id) ?? Number.POSITIVE_INFINITY;
  const ordered = newestFirst(runList, fitting).sort((one, other) => compare(placeOf(other), placeOf(one)));
  return { total: ordered.length, items: onePage(ordered.slice(offset, offset + limit)) };
}

/** Unfinished runs, and their numbers in the index if they have any; may include runs that ended a moment ago. */
export async function findUnfinishedRuns(
  deps: ListDeps,
): Promise<{ readonly runs: StoredRun[]; readonly numbers: ReadonlyMap<string, number | undefined> }> {
  const pendingEntries = await allOf(deps, runList.name, "pending");
  const entries = await allOf(deps, runList.name, "entry");
  const numbers = new Map(entries.map(({ sk, number }) => [sk, number]));
  const runs = await recordsOf(deps, runList, [
    ...new Set([...pendingEntries, ...entries].map(({ sk }) => sk)),
  ]);
  return { runs: [...runs.values()], numbers };
}

const compare = (one: number, other: number): number => (one === other ? 0 : one - other);

async function* onePage<Item>(items: Item[]): AsyncGenerator<Item[]> {
  yield items;
}

/** Includes runs that ended a moment ago: their entry exists before and after the index is read. */
async function endedRuns(
  deps: ListDeps,
  status: string,
  filters: readonly Filter[],
  page: PageRequest,
): Promise<Listing<StoredRun>> {
  const wanted: Filter[] = [...filters, { field: "status", value: status }];
  for (let reads = 1; ; reads += 1) {
    const ended = await endedUnknown(deps, wanted);
    const { view, fresh } = await readTogether(deps, runList, wanted);
    const keys = ended.map(({ item }) => entryKey(runList.name, item.run_id));
    const still = await listItems(deps, keys);
    if (still.size < ended.length && reads < READS_MAX) continue;
    const shown = new Set(fresh.map(({ run_id }) => run_id));
    const late = ended.filter(
      ({ number, item }) => still.has(item.run_id) && !shown.has(item.run_id) && number <= view.last,
    );
    return assemble(deps, runList, { view, fresh, late }, page);
  }
}

/** Matching runs that the index still holds as unfinished. */
async function endedUnknown(deps: ListDeps, wanted: readonly Filter[]): Promise<Numbered<StoredRun>[]> {
  const entries = await allOf(deps, runList.name, "entry");
  if (entries.length > LOOKED_AT_MAX) return [];
  const runs = await recordsOf(
    deps,
    runList,
    entries.map(({ sk }) => sk),
  );
  const passes = passing(runList, wanted);
  return entries.flatMap(({ sk, number }) => {
    const item = runs.get(sk);
    return item !== undefined && passes(item) ? [{ number, item }] : [];
  });
}
