import { readAll } from "../../events/read-all.ts";
import type { Listing, PageRequest } from "../../http/page.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Key, Write } from "../../platform/tables.ts";
import type { Entry } from "../../ranked-index/deltas.ts";
import { toRow } from "../../ranked-index/deltas.ts";
import { type Filter, matchesTests, toTests, type View } from "../../ranked-index/view.ts";
import { CONFLICT, PROGRESS, retryOnConflict } from "../../retry-on-conflict.ts";
import { isTerminal } from "../engine/history.ts";
import { allOf, type ListDeps, listItems } from "../lists/list.ts";
import { listEntriesTable, type PendingEntry, pendingKey, pendingWrite } from "../lists/table.ts";
import { runKey, runsTable, type StoredRun, type StoredStep, stepKey, stepsTable } from "./table.ts";

export const STEPS_LIST = "steps";
const LIST = STEPS_LIST;
/** Steps that one transaction indexes. */
const STEPS_AT_ONCE = 250;
/** Runs whose steps one transaction indexes, with one write each. */
const RUNS_AT_ONCE = 80;
/** Rows that are read together for a page. */
const READ_PAGE = 100;
/** Separates the run id from the step key. */
const SEPARATOR = "\n";

export interface StepFilters {
  readonly workspace?: string | undefined;
  readonly status?: string | undefined;
  readonly step_type?: string | undefined;
  readonly run?: string | undefined;
}

/** A step and the workspace of its run. */
export interface FoundStep {
  readonly step: StoredStep;
  readonly run_id: string;
}

/**
 * The pending entry of a run's steps, for the transaction that starts the run. The steps are indexed when the run has
 * finished; the entry's token counts those that are already in the index.
 */
export const stepsPendingWrite = (runId: string): Write => pendingWrite(LIST, runId, "0");

/** Indexes the steps of those runs that have finished and are not completely indexed. Idempotent. */
export async function indexSteps(deps: ListDeps, runIds: readonly string[]): Promise<void> {
  let left = [...new Set(runIds)];
  const indexNext = async () => {
    if (left.length === 0) return;
    const over = await unlistedOf(deps, left.slice(0, RUNS_AT_ONCE));
    const rest = left.slice(RUNS_AT_ONCE);
    const batch = batchOf(over);
    const writes = [...batch.writes.values()];
    const { entries } = batch;
    const isDone =
      entries.length > 0
        ? (await deps.lists[LIST].take({ entries, writes })) !== undefined
        : writes.length === 0 || (await deps.tables.write(writes)).ok;
    const more = isDone ? batch.more : over.map(({ pendingEntry }) => pendingEntry.sk);
    left = [...more, ...rest];
    return isDone ? PROGRESS : CONFLICT;
  };
  await retryOnConflict(indexNext, { exceeded: () => new Error("too many conflicts at the list of steps") });
}

/** A finished run, and its steps that are not in the index. */
interface Unlisted {
  readonly pendingEntry: PendingEntry;
  readonly run: StoredRun;
  readonly steps: readonly StoredStep[];
}

async function unlistedOf(deps: Pick<Ports, "tables">, runIds: readonly string[]): Promise<Unlisted[]> {
  const pendingEntries = await listItems(
    deps,
    runIds.map((runId) => pendingKey(LIST, runId)),
  );
  const runs = await deps.tables.batchGet(runsTable, [...pendingEntries.keys()].map(runKey));
  const over = runs.flatMap((run) => {
    const pendingEntry = pendingEntries.get(run.run_id);
    return pendingEntry === undefined || !isTerminal(run.status) ? [] : [{ pendingEntry, run }];
  });
  return Promise.all(
    over.map(async ({ pendingEntry, run }) => {
      const steps = (await stepsOf(deps, run.run_id)).slice(Number(pendingEntry.token));
      return { pendingEntry, run, steps };
    }),
  );
}

/** Returns what fits into one transaction: entries, the progress of each run, and the runs with steps left. */
function batchOf(over: readonly Unlisted[]) {
  const entries: Entry[] = [];
  const writes = new Map<string, Write>();
  const more: string[] = [];
  for (const { pendingEntry, run, steps } of over) {
    const part = steps.slice(0, STEPS_AT_ONCE - entries.length);
    const isLast = part.length === steps.length;
    for (const step of part) entries.push({ key: keyOf(run.run_id, step), fields: fieldsOf(run, step) });
    if (!isLast) more.push(run.run_id);
    if (isLast || part.length > 0)
      writes.set(
        run.run_id,
        progress(pendingEntry, isLast ? undefined : Number(pendingEntry.token) + part.length),
      );
  }
  return { entries, writes, more };
}

/** Indexes finished runs whose message was lost. */
export async function sweepSteps(deps: ListDeps): Promise<void> {
  await indexSteps(
    deps,
    (await allOf(deps, LIST, "pending")).map(({ sk }) => sk),
  );
}

function progress({ pk, sk, token }: PendingEntry, done: number | undefined): Write {
  const [key, when] = [{ pk, sk }, [["token", "=", token]] as const];
  if (done === undefined) return { op: "delete", table: listEntriesTable, key, when };
  return { op: "put", table: listEntriesTable, item: { ...key, token: String(done) }, when };
}

/** Returns the step rows of a run, in an order that is stable once the run has finished. */
async function stepsOf(deps: Pick<Ports, "tables">, runId: string): Promise<StoredStep[]> {
  const steps = await readAll(deps, stepsTable, { pk: runId });
  return steps.sort((one, other) => one.dispatch - other.dispatch || (one.key < other.key ? -1 : 1));
}

const keyOf = (runId: string, { key }: StoredStep): string => `${runId}${SEPARATOR}${key}`;

/** Returns the key of a step's row from its key in the list. */
export function stepKeyOf(key: string): Key {
  const at = key.indexOf(SEPARATOR);
  return stepKey(key.slice(0, at), key.slice(at + 1));
}

const fieldsOf = ({ run_id, workspace }: StoredRun, { status, step_type }: StoredStep) => ({
  run: run_id,
  workspace,
  status,
  step_type,
});

/**
 * Returns the finished steps that match the filters, those of the newest runs first: the total, and the page from
 * `offset` on. Reference 1.6.
 */
export async function findSteps(
  deps: ListDeps,
  { status, ...fields }: StepFilters,
  { offset, limit }: PageRequest,
): Promise<Listing<FoundStep>> {
  const named = { ...fields, status: status === "success" ? "completed" : status };
  const filters: Filter[] = Object.entries(named).flatMap(([field, value]) =>
    value === undefined ? [] : [{ field, value }],
  );
  const { view, fresh } = await readTogether(deps, filters, fields.run);
  const shown = fresh.slice(offset, offset + limit);
  const from = Math.max(0, offset - fresh.length);
  const places = await view.page({ offset: from, limit: limit - shown.length });
  return {
    total: fresh.length + view.total,
    items: inPages(deps, [...shown, ...places.map(({ key }) => key)]),
  };
}

/** Reads the index and the steps outside of it as of one instant: reads again if a run was indexed meanwhile. */
async function readTogether(
  deps: ListDeps,
  filters: readonly Filter[],
  only: string | undefined,
): Promise<{ view: View; fresh: string[] }> {
  const read = async (): Promise<PendingEntry[]> => {
    const pendingEntries =
      only === undefined
        ? await allOf(deps, LIST, "pending")
        : [...(await listItems(deps, [pendingKey(LIST, only)])).values()];
    return pendingEntries.sort((one, other) => (one.sk < other.sk ? -1 : 1));
  };
  const readOnce = async () => {
    const pendingEntries = await read();
    const fresh = await freshSteps(deps, pendingEntries, filters);
    const view = await deps.lists[LIST].view(filters);
    const after = new Map((await read()).map(({ sk, token }) => [sk, token]));
    return pendingEntries.every(({ sk, token }) => after.get(sk) === token) ? { view, fresh } : CONFLICT;
  };
  return retryOnConflict(readOnce, {
    exceeded: () => new Error("the list of steps keeps changing while it is read"),
  });
}

/** Returns the keys of matching steps that are not in the index yet, newest runs first. */
async function freshSteps(
  deps: ListDeps,
  pendingEntries: readonly PendingEntry[],
  filters: readonly Filter[],
): Promise<string[]> {
  const tests = toTests(filters);
  const runs = await deps.tables.batchGet(
    runsTable,
    pendingEntries.map(({ sk }) => runKey(sk)),
  );
  const done = new Map(pendingEntries.map(({ sk, token }) => [sk, Number(token)]));
  const read = readerOf(deps.tables);
  const found = await Promise.all(
    runs.map(async (run) => {
      const { run_id, created_at, number } = run;
      const steps = (await read(run)).slice(done.get(run_id) ?? 0);
      const fitting = steps.filter(({ key, fields }) => matchesTests(toRow({ key, fields }, 0), tests));
      const order = `${created_at}#${String(number).padStart(12, "0")}`;
      return { order, keys: fitting.map(({ key }) => key).reverse() };
    }),
  );
  found.sort((one, other) => (one.order < other.order ? 1 : -1));
  return found.flatMap(({ keys }) => keys);
}

/** The indexed fields of a step. */
type ListedStep = Pick<Entry, "key" | "fields">;

interface KnownSteps {
  readonly version: number;
  /**
   * When this version of the run was first seen, and when its steps were read; milliseconds of this process's clock.
   */
  readonly seenAt: number;
  readonly readAt: number;
  readonly steps: readonly ListedStep[];
}

/** A transaction that is partly visible is completely visible after this time, milliseconds. */
const WHOLE_AFTER_MS = 1_000;
/** Number of runs whose steps are cached. */
const KNOWN_RUNS_MAX = 2_000;

const readers = new WeakMap<Ports["tables"], (run: StoredRun) => Promise<readonly ListedStep[]>>();

/** Reads the steps of unfinished runs; the steps of a run that has not changed for a while are read once. */
function readerOf(tables: Ports["tables"]): (run: StoredRun) => Promise<readonly ListedStep[]> {
  const reader = readers.get(tables) ?? stepReader(tables);
  readers.set(tables, reader);
  return reader;
}

function stepReader(tables: Ports["tables"]): (run: StoredRun) => Promise<readonly ListedStep[]> {
  const known = new Map<string, KnownSteps>();
  return async (run) => {
    const { run_id, version } = run;
    const readAt = performance.now();
    const before = known.get(run_id);
    const isSame = before?.version === version;
    if (isSame && before.readAt - before.seenAt >= WHOLE_AFTER_MS) return before.steps;
    const steps = (await stepsOf({ tables }, run_id)).map(
      (step): ListedStep => ({ key: keyOf(run_id, step), fields: fieldsOf(run, step) }),
    );
    if (known.size >= KNOWN_RUNS_MAX) known.clear();
    known.set(run_id, { version, seenAt: isSame ? before.seenAt : readAt, readAt, steps });
    return steps;
  };
}

async function* inPages(deps: Pick<Ports, "tables">, keys: readonly string[]): AsyncGenerator<FoundStep[]> {
  for (let start = 0; start < keys.length; start += READ_PAGE) {
    const part = keys.slice(start, start + READ_PAGE).map(stepKeyOf);
    const steps = await deps.tables.batchGet(stepsTable, part);
    yield steps.map((step) => ({ step, run_id: step.pk }));
  }
}
