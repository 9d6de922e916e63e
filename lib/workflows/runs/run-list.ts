import { hash } from "node:crypto";
import { readAll } from "../../events/read-all.ts";
import type { Listing, OrderedPageRequest } from "../../http/page.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { pageIn } from "../../ranked-index/page-window.ts";
import { joinParts } from "../../ranked-index/text-filters.ts";
import type { Filter } from "../../ranked-index/view.ts";
import { isTerminal } from "../engine/history.ts";
import { allOf, type IndexedFields, type List, type ListDeps, listItems, recordsOf } from "../lists/list.ts";
import {
  assemble,
  type Numbered,
  newestFirst,
  onePage,
  passing,
  readList,
  readTogether,
} from "../lists/read-list.ts";
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

/** Parts of the text of a run in the index. */
const TARGET_PART = 0;
const STARTED_PART = 1;
const ERROR_PART = 2;

/** Params that a run can be found by, in the order of their names, and characters of an error that are searched. */
export const SEARCHED_PARAMS_MAX = 64;
export const SEARCHED_ERROR_MAX_LENGTH = 8_000;

/** Longest param that is stored with the run's entry as it is, characters. */
const PARAM_IN_ENTRY_MAX = 128;

const paramField = (name: string): string => `param.${name}`;

const paramValue = (text: string): string =>
  text.length <= PARAM_IN_ENTRY_MAX ? text : `sha256:${hash("sha256", text)}`;

/** A time as text that sorts like it. */
const timeText = (time: string): string => Date.parse(time).toString(36).padStart(9, "0");

/** What does not change while a run is in progress. */
function lastingFields({ workflow_name, workspace, target, params }: StoredRun): IndexedFields {
  const fields: Record<string, string> = { workflow: workflow_name, workspace };
  for (const name of Object.keys(params).sort().slice(0, SEARCHED_PARAMS_MAX))
    fields[paramField(name)] = paramValue(params[name] ?? "");
  return { fields, text: joinParts([target]), final: false };
}

function finalFields(run: StoredRun): IndexedFields {
  const { target, started_at, error_message, status } = run;
  const started = started_at === null ? "" : timeText(started_at);
  const text = joinParts([target, started, error_message.slice(0, SEARCHED_ERROR_MAX_LENGTH)]);
  return { fields: { ...lastingFields(run).fields, status }, text, final: true };
}

/**
 * The index holds the status, the start and the error of finished runs; every other run has an entry that marks it as
 * unfinished.
 */
export const runList: List<StoredRun> = {
  name: "runs",
  table: runsTable,
  sk: RUN_SK,
  indexedFields: (run) => (isTerminal(run.status) ? finalFields(run) : lastingFields(run)),
  currentFields: finalFields,
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
  /** Values of params by name, as the run's record shows them. */
  readonly params?: Readonly<Record<string, string>> | undefined;
  /** Substring of the error, ignoring case. */
  readonly error?: string | undefined;
  /** Runs that started at this time or later, and earlier than that one; ISO 8601. */
  readonly startedAfter?: string | undefined;
  readonly startedBefore?: string | undefined;
}

/** If more runs than this are unfinished, runs that ended since they were indexed are not looked up. */
const LOOKED_AT_MAX = 1_000;

/** Maximum reads of ended runs, if others end meanwhile. */
const READS_MAX = 5;

/** Runs that match the filters, newest first unless the page says otherwise. */
export async function findRuns(
  deps: ListDeps,
  wanted: RunFilters,
  page: OrderedPageRequest,
): Promise<Listing<StoredRun>> {
  const { status, job, mode } = wanted;
  if (mode !== undefined && mode !== "local") return { total: 0, items: onePage([]) };
  const changing = changingFilters(wanted);
  const filters = [...lastingFilters(wanted), ...changing];
  if (job !== undefined) return runsOfJob(deps, job, filters, page);
  if (changing.length === 0) return readList(deps, runList, filters, page);
  if (status === "pending" || status === "running") return activeRuns(deps, filters, page);
  return changedRuns(deps, filters, canBeUnfinished(wanted), page);
}

/** Filters by what the index has of unfinished runs as well. */
function lastingFilters({ workflow, target, workspace, params = {} }: RunFilters): Filter[] {
  const filters: Filter[] = [];
  if (workflow !== undefined) filters.push({ field: "workflow", value: workflow });
  if (workspace !== undefined) filters.push({ field: "workspace", value: workspace });
  if (target !== undefined) filters.push({ contains: target, part: TARGET_PART });
  for (const [name, value] of Object.entries(params))
    filters.push({ field: paramField(name), value: paramValue(value) });
  return filters;
}

/** Filters by what the index has of finished runs only. */
function changingFilters({ status, error, startedAfter, startedBefore }: RunFilters): Filter[] {
  const filters: Filter[] = [];
  if (status !== undefined) filters.push({ field: "status", value: status });
  if (error !== undefined) filters.push({ contains: error, part: ERROR_PART });
  if (startedAfter !== undefined || startedBefore !== undefined)
    filters.push({
      part: STARTED_PART,
      from: startedAfter === undefined ? undefined : timeText(startedAfter),
      until: startedBefore === undefined ? undefined : timeText(startedBefore),
    });
  return filters;
}

const canBeUnfinished = ({ status, error }: RunFilters): boolean =>
  status === undefined && error === undefined;

/** A job has few enough runs to filter in memory. */
async function runsOfJob(
  deps: ListDeps,
  job: string,
  filters: readonly Filter[],
  page: OrderedPageRequest,
): Promise<Listing<StoredRun>> {
  const fitting = (await jobRuns(deps, job)).filter(passing(runList, filters));
  return { total: fitting.length, items: onePage(pageIn(newestFirst(runList, fitting), page)) };
}

/** An unfinished run has a pending entry or an entry; the entry is written before the pending entry is deleted. */
async function activeRuns(
  deps: ListDeps,
  filters: readonly Filter[],
  page: OrderedPageRequest,
): Promise<Listing<StoredRun>> {
  const { runs, numbers } = await findUnfinishedRuns(deps);
  const fitting = runs.filter(passing(runList, filters));
  const placeOf = ({ run_id }: StoredRun): number => numbers.get(run_id) ?? Number.POSITIVE_INFINITY;
  const ordered = newestFirst(runList, fitting).sort((one, other) => compare(placeOf(other), placeOf(one)));
  return { total: ordered.length, items: onePage(pageIn(ordered, page)) };
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

/**
 * The index has the final state of runs. Includes those that it still holds as unfinished: their entry exists before
 * and after the index is read.
 */
async function changedRuns(
  deps: ListDeps,
  filters: readonly Filter[],
  withUnfinished: boolean,
  page: OrderedPageRequest,
): Promise<Listing<StoredRun>> {
  const most = withUnfinished ? Number.POSITIVE_INFINITY : LOOKED_AT_MAX;
  for (let reads = 1; ; reads += 1) {
    const changed = await heldAsUnfinished(deps, filters, most);
    const { view, fresh } = await readTogether(deps, runList, filters);
    const keys = changed.map(({ item }) => entryKey(runList.name, item.run_id));
    const still = await listItems(deps, keys);
    if (still.size < changed.length && reads < READS_MAX) continue;
    const shown = new Set(fresh.map(({ run_id }) => run_id));
    const late = changed.filter(
      ({ number, item }) => still.has(item.run_id) && !shown.has(item.run_id) && number <= view.last,
    );
    return assemble(deps, runList, { view, fresh, late }, page);
  }
}

/** Matching runs that the index holds as unfinished; none if there are more than `most` of these. */
async function heldAsUnfinished(
  deps: ListDeps,
  filters: readonly Filter[],
  most: number,
): Promise<Numbered<StoredRun>[]> {
  const entries = await allOf(deps, runList.name, "entry");
  if (entries.length > most) return [];
  const runs = await recordsOf(
    deps,
    runList,
    entries.map(({ sk }) => sk),
  );
  const passes = passing(runList, filters);
  return entries.flatMap(({ sk, number }) => {
    const item = runs.get(sk);
    return item !== undefined && passes(item) ? [{ number, item }] : [];
  });
}
