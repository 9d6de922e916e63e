import { ApiError } from "../../errors.ts";
import { readAll } from "../../events/read-all.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { ITEMS_PER_BATCH } from "../engine/containers.ts";
import { decide, underWay } from "../engine/decide.ts";
import { evolve, type HistoryEntry, NEW_RUN, replay } from "../engine/history.ts";
import type { Program } from "../engine/program.ts";
import { ATTEMPTS_MAX } from "../engine/retry-policy.ts";
import type { NumberSequence } from "../lists/number-sequence.ts";
import { itemChunkBlob } from "../steps/foreach-items.ts";
import { BASE_VALUES, storeValue, valueWrite } from "../values/stored-values.ts";
import { valueKey, valuesTable } from "../values/table.ts";
import { type ConductDeps, setTimers } from "./conduct.ts";
import { shownParams } from "./create.ts";
import { getRun } from "./read.ts";
import { baseOf, type RerunRequest } from "./rerun.ts";
import { linkWrites } from "./run-links.ts";
import { runPendingWrite } from "./run-list.ts";
import { programOf } from "./running-steps.ts";
import { takeSlot } from "./slots.ts";
import { isActionAllowed } from "./status-transitions.ts";
import { commandEntries } from "./step-commands.ts";
import {
  historyKey,
  historyTable,
  numberKey,
  type RunSource,
  runKey,
  runNamesTable,
  runsTable,
  type StoredRun,
  type StoredStep,
  stepKey,
  stepsTable,
  unfinishedPartition,
} from "./table.ts";

export type ResumeDeps = ConductDeps & Pick<Ports, "queues"> & { readonly runNumbers: NumberSequence };

/** Number of writes per transaction; small enough for the byte limit as well. */
const WRITES_TOGETHER = 25;

/** Number of entries in one history item. */
const ENTRIES_TOGETHER = 500;

/**
 * Resumes a failed run: creates a new run with the same revisions and workspace that takes over the results up to the
 * failed step and starts with that step. Throws `not_found`, and `bad_request` if the run did not fail, or failed
 * before its first step.
 */
export async function resumeRun(deps: ResumeDeps, idOrNumber: string): Promise<RerunRequest> {
  const original = await getRun(deps, idOrNumber);
  if (!isActionAllowed("resume", original.status))
    throw new ApiError(
      "bad_request",
      `Cannot resume run with status '${original.status}'. Only runs with 'failed' status can be resumed.`,
    );
  const items = await readAll(deps, historyTable, { pk: original.run_id });
  const whole = items.flatMap((item) => item.entries);
  const kept = upToFailure(whole);
  if (kept.length === 0)
    throw new ApiError("bad_request", "Cannot resume a run that failed before its first step; run it again");
  return continueRun(deps, original, {
    kept,
    whole,
    source: { run_id: original.run_id, action: "resume" },
  });
}

/** How a new run continues another one. */
export interface Continuation {
  /** The history that the new run takes over. */
  readonly kept: readonly HistoryEntry[];
  /** The history in which earlier attempts are counted. */
  readonly whole: readonly HistoryEntry[];
  readonly source: RunSource;
  /** Parameters that replace those of the original run: their text, and their values in templates. */
  readonly params?: Readonly<Record<string, { readonly text: string; readonly value: unknown }>>;
  /** Values of steps by name: undefined ones are not taken over, others replace those of the original run. */
  readonly values?: ReadonlyMap<string, unknown>;
}

/**
 * Creates and starts a run with the revisions and the workspace of a finished one, which continues after a part of its
 * history: the steps that were running there are requested again. Throws `conflict`.
 */
export async function continueRun(
  deps: ResumeDeps,
  original: StoredRun,
  continuation: Continuation,
): Promise<RerunRequest> {
  const { kept, whole } = continuation;
  const texts = Object.entries(continuation.params ?? {}).map(([name, { text }]) => [name, text]);
  const params = { ...original.params, ...shownParams(Object.fromEntries(texts)) };
  const program = await programOf(deps, { ...original, params });
  const { state, entries } = restarted(program, kept, whole);
  const runId = deps.ids.ordered();
  const now = new Date(deps.clock.now()).toISOString();
  const run = {
    ...(await resumedRow(deps, original, { runId, now, state })),
    params,
    source: continuation.source,
  };
  await copyBehind(deps, original, run, { entries, now, continuation });
  const slot = await deps.runSlots.pick();
  const begun: StoredRun = slot === undefined ? run : { ...run, slot };
  const commands = await commandEntries(deps, begun, state, program, underWay(program, state));
  const outcome = await deps.outbox.commit({
    writes: [
      { op: "put", table: runsTable, item: begun, when: [["pk", "missing"]] },
      runPendingWrite(begun),
      { op: "put", table: runNamesTable, item: { ...numberKey(run.number), run_id: runId } },
      ...linkWrites(run),
      ...(slot === undefined ? [] : [takeSlot(slot, runId)]),
    ],
    publish: commands,
  });
  if (!outcome.ok) {
    deps.runSlots.forget(slot);
    throw new ApiError("conflict", "The run could not be resumed, try again");
  }
  await setTimers(deps, begun);
  return { original, run: begun };
}

/**
 * Returns the history up to the request of the step that failed the run; if no step failed it, up to
 * the end of the run. Empty if no step was running there.
 */
export function upToFailure(entries: readonly HistoryEntry[]): readonly HistoryEntry[] {
  let state = NEW_RUN;
  const askedAt = new Map<string, number>();
  let cut: number | undefined;
  let end = entries.length;
  for (const [index, entry] of entries.entries()) {
    if (entry.type === "step.requested" && state.frames[entry.key] === undefined)
      askedAt.set(entry.key, index);
    if (entry.type === "step.finished") {
      const isTop = state.frames[entry.key]?.parent === null;
      const fails = entry.status === "failed" && entry.tolerated !== true;
      if (isTop && fails) cut = askedAt.get(entry.key);
    }
    if (entry.type === "run.finished" || entry.type === "run.cancelled") end = index;
    state = evolve(state, entry);
  }
  const kept = entries.slice(0, cut === undefined ? end : cut + 1);
  return Object.keys(replay(kept).frames).length > 0 ? kept : [];
}

/** Requests the running steps again, as further attempts: their executors report to the original run. */
function restarted(program: Program, kept: readonly HistoryEntry[], whole: readonly HistoryEntry[]) {
  let state = replay(kept);
  const entries = [...kept];
  for (const { key, dispatch } of underWay(program, state)) {
    const last = whole.findLast((entry) => entry.type === "step.requested" && entry.key === key);
    const attempt = last?.type === "step.requested" ? (last.attempt ?? 1) : 1;
    const nextAttempt = Math.min(ATTEMPTS_MAX, attempt + 1);
    const decision = decide(program, state, { type: "lost", key, dispatch, attempt: nextAttempt });
    state = decision.state;
    entries.push(...decision.entries);
  }
  return { state, entries };
}

async function resumedRow(
  deps: Pick<ResumeDeps, "runNumbers">,
  original: StoredRun,
  { runId, now, state }: { runId: string; now: string; state: StoredRun["state"] },
): Promise<StoredRun> {
  const { slot: _slot, queued: _queued, job_width: _width, parent: _parent, document: _, ...rest } = original;
  return {
    ...rest,
    ...runKey(runId),
    run_id: runId,
    number: await deps.runNumbers.next(),
    status: "running",
    state,
    started_at: now,
    completed_at: null,
    error_message: "",
    created_at: now,
    updated_at: now,
    trigger_type: "api",
    trigger_name: "",
    event_id: "",
    run_group_id: runId,
    completed_steps: state.done,
    begun: {},
    version: 0,
    unfinished: unfinishedPartition(runId),
    moved_at: now,
  };
}

const NO_VALUES: ReadonlyMap<string, unknown> = new Map();

/** Copies what belongs to the run before its row is written, so that a reader of the row finds all of it. */
async function copyBehind(
  deps: ResumeDeps,
  original: StoredRun,
  run: StoredRun,
  {
    entries,
    now,
    continuation: { kept: history, params = {}, values = NO_VALUES },
  }: { entries: readonly HistoryEntry[]; now: string; continuation: Continuation },
): Promise<void> {
  const writes: Write[] = [];
  const add = async (write: Write): Promise<void> => {
    writes.push(write);
    if (writes.length === WRITES_TOGETHER) await deps.tables.write(writes.splice(0));
  };
  for (let start = 0; start < entries.length; start += ENTRIES_TOGETHER) {
    const item = { at: now, entries: entries.slice(start, start + ENTRIES_TOGETHER) };
    await add({ op: "put", table: historyTable, item: { ...historyKey(run.run_id, start), ...item } });
  }
  const { dispatches } = replay(history);
  const finished = new Set(entries.flatMap((entry) => (entry.type === "step.finished" ? [entry.key] : [])));
  for (const step of await readAll(deps, stepsTable, { pk: original.run_id })) {
    if (!finished.has(step.key) || run.state.frames[step.key] !== undefined) continue;
    // Of an execution of the step that the new run does not take over.
    if (step.dispatch > dispatches) continue;
    const item: StoredStep = {
      ...step,
      ...stepKey(run.run_id, step.key),
      id: `${run.run_id}:${step.key}`,
    };
    await add({ op: "put", table: stepsTable, item });
  }
  for (const value of await readAll(deps, valuesTable, { pk: original.run_id })) {
    if (value.sk === BASE_VALUES || value.sk.startsWith("#events:") || values.has(value.sk)) continue;
    const blob = value.blob === undefined ? undefined : await copyBlob(deps, value.blob, original, run);
    const kept = blob === undefined ? { json: value.json ?? "null" } : { blob };
    await add({ op: "put", table: valuesTable, item: { ...valueKey(run.run_id, value.sk), ...kept } });
  }
  const base = await baseOf(deps, original.run_id);
  const own = { RunUUID: run.run_id, RunID: run.run_id, DBRunID: String(run.number) };
  for (const [name, value] of values)
    if (value !== undefined)
      await add(valueWrite(run.run_id, name, await storeValue(deps, run.run_id, value)));
  const changed = Object.fromEntries(Object.entries(params).map(([name, { value }]) => [name, value]));
  const kept = await storeValue(deps, run.run_id, {
    ...base,
    values: { ...base.values, ...changed, ...own },
    trusted: base.trusted.filter((name) => !Object.hasOwn(changed, name)),
    ...(base.given === undefined ? {} : { given: [...new Set([...base.given, ...Object.keys(changed)])] }),
  });
  await add(valueWrite(run.run_id, BASE_VALUES, kept));
  if (writes.length > 0) await deps.tables.write(writes);
  await copyItems(deps, original, run);
}

/** Copies the blob, since the original run may be deleted before the new one ends. */
async function copyBlob(
  deps: Pick<Ports, "blobs">,
  blob: string,
  original: StoredRun,
  run: StoredRun,
): Promise<string> {
  const own = blob.replace(original.run_id, run.run_id);
  const bytes = await deps.blobs.get(blob);
  if (bytes !== undefined) await deps.blobs.put(own, bytes);
  return own;
}

/** Copies the items of the running loops. */
async function copyItems(deps: Pick<Ports, "blobs">, original: StoredRun, run: StoredRun): Promise<void> {
  for (const [key, { children }] of Object.entries(run.state.frames)) {
    for (let from = 0; from < (children?.total ?? 0); from += ITEMS_PER_BATCH)
      await copyBlob(deps, itemChunkBlob(original.run_id, key, from), original, run);
  }
}
