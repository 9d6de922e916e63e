import type { Ports } from "../../platform/ports.ts";
import type { Key, Write } from "../../platform/tables.ts";
import type { Input } from "../engine/decide.ts";
import { isTerminal } from "../engine/history.ts";
import type { StepPaths } from "../steps/context.ts";
import { CONDUCT_QUEUE } from "../steps/messages.ts";
import { logRun } from "../steps/run-log.ts";
import { leaveSlot, type RunSlots, takeSlot } from "./slots.ts";
import { jobPartition, runKey, runQueueTable, runsTable, type StoredRun } from "./table.ts";

export type AdmissionDeps = Pick<
  Ports,
  "tables" | "queues" | "timers" | "outbox" | "clock" | "ids" | "secrets" | "log"
> & {
  readonly runSlots: RunSlots;
  readonly paths: Pick<StepPaths, "logsDir">;
};

/** What a run that starts has to commit with its start; or it waits, or has changed meanwhile. */
export type Admission =
  | { readonly is: "in"; readonly slot?: number; readonly writes: readonly Write[] }
  | { readonly is: "waits" }
  | { readonly is: "changed" };

const IN: Admission = { is: "in", writes: [] };

/** Partition of the runs that wait for a place. */
/** Partition of the turns of runs that wait for a place. */
export const WAITING = "waiting";
/** Runs that are let in with one look. */
const LET_IN_MAX = 10;
const MINUTE_MS = 60_000;

const RANKS: Readonly<Record<string, number>> = { critical: 0, high: 1, normal: 2, low: 3 };

/** Sorts as the runs' turns come: by priority, then by age. */
function turnOf({ priority, created_at, number }: StoredRun): string {
  return `${RANKS[priority] ?? 2}#${created_at}#${String(number).padStart(12, "0")}`;
}

/** Where a run of a job waits until one of those before it has ended. */
export const jobQueuePosition = (run: StoredRun): Key => ({
  pk: jobPartition(run.run_group_id),
  sk: turnOf(run),
});

export const enqueueWrite = (queued: Key, runId: string): Write => ({
  op: "put",
  table: runQueueTable,
  item: { ...queued, run_id: runId },
});

/**
 * Lets a run start when there is a place for it and nobody waits whose turn comes before. Else it waits, durably,
 * and is `pending` for so long. What is no start of a run passes.
 */
export async function admitRun(deps: AdmissionDeps, run: StoredRun, input: Input): Promise<Admission> {
  if (input.type !== "start" || run.status !== "pending") return IN;
  const turn = { pk: WAITING, sk: turnOf(run) };
  const slot = deps.runSlots.kept(run.run_id) ?? (await slotFor(deps, turn));
  if (slot !== undefined) {
    await limitTime(deps, run).catch((error: unknown) => {
      deps.runSlots.forget(slot);
      throw error;
    });
    noteHere(deps, run, `run ${run.run_id} of ${run.workflow_name} started, target: ${run.target || "none"}`);
    return { is: "in", slot, writes: [takeSlot(slot, run.run_id)] };
  }
  if (run.queued?.pk !== WAITING) {
    const { moved_at: _moved, ...rest } = run;
    const item: StoredRun = { ...rest, queued: turn, version: run.version + 1 };
    const waits = await deps.tables.write([
      { op: "put", table: runsTable, item, when: [["version", "=", run.version]] },
      enqueueWrite(turn, run.run_id),
    ]);
    if (!waits.ok) return { is: "changed" };
  }
  // A place may have become free before this run was seen to wait.
  await admitWaiting(deps);
  return { is: "waits" };
}

/** A place for a run that nobody waits before. */
async function slotFor(deps: AdmissionDeps, turn: Key): Promise<number | undefined> {
  const [first] = (await deps.tables.query(runQueueTable, { pk: WAITING, limit: 1 })).items;
  return first === undefined || first.sk >= turn.sk ? deps.runSlots.pick() : undefined;
}

/** Set before the start is committed, so that none is missed; what comes of a start that was not, is idle. */
async function limitTime(deps: AdmissionDeps, { run_id, timeout }: StoredRun): Promise<void> {
  if (timeout === undefined) return;
  const error = `run timed out after ${timeout} ${timeout === 1 ? "minute" : "minutes"}`;
  const body = JSON.stringify({ run_id, input: { type: "fail", error } satisfies Input });
  await deps.timers.set(`run-timeout:${run_id}`, deps.clock.now() + timeout * MINUTE_MS, CONDUCT_QUEUE, {
    body,
    groupId: run_id,
    deduplicationId: `timeout:${run_id}`,
  });
}

/** Gives a run's place back with its end, and its turn with its start; `next` is what it is then. */
export function releaseWrites(run: StoredRun, next: StoredRun): Write[] {
  const writes: Write[] = [];
  if (run.slot !== undefined && isTerminal(next.status)) writes.push(leaveSlot(run.slot));
  if (run.queued !== undefined) writes.push({ op: "delete", table: runQueueTable, key: run.queued });
  return writes;
}

/** After a commit of a run's start or end: lets in who waits, as far as there is room. */
export async function admitAfterTransition(
  deps: AdmissionDeps,
  run: StoredRun,
  next: StoredRun,
  slot = run.slot,
): Promise<void> {
  const over = isTerminal(next.status);
  if (over)
    noteHere(deps, run, `run ${next.status}${next.error_message === "" ? "" : `: ${next.error_message}`}`);
  if (over && slot !== undefined) deps.runSlots.left(slot);
  if (over || run.queued !== undefined) await admitWaiting(deps);
}

/** Where this process executes the steps of all runs, their logs are here. */
function noteHere(deps: AdmissionDeps, run: StoredRun, text: string): void {
  if (deps.outbox.atomic === true && run.unlogged !== true) logRun(deps, run.run_id, text);
}

/** Sends off the first of those that wait, as many as there are places, and keeps a place for each. */
export async function admitWaiting(deps: AdmissionDeps): Promise<void> {
  const { runSlots } = deps;
  const free = await runSlots.free();
  if (free === 0 && deps.outbox.atomic === true) return;
  const limit = LET_IN_MAX + runSlots.awaited().size;
  const { items } = await deps.tables.query(runQueueTable, { pk: WAITING, limit });
  const chosen: string[] = [];
  for (const { run_id } of items) {
    if (runSlots.awaited().has(run_id)) continue;
    if (!(await runSlots.keep(run_id))) break;
    chosen.push(run_id);
  }
  if (chosen.length === 0) return;
  await deps.queues.send(
    CONDUCT_QUEUE,
    chosen.map((runId) => repeatedStart(deps, runId)),
  );
}

/** A start that no earlier one of the same run keeps from being delivered. */
export function repeatedStart(deps: Pick<Ports, "ids">, runId: string) {
  const body = JSON.stringify({ run_id: runId, input: { type: "start" } });
  return { body, groupId: runId, deduplicationId: deps.ids.random() };
}

const takeTurn = ({ pk, sk }: Key): Write => ({
  op: "delete",
  table: runQueueTable,
  key: { pk, sk },
  when: [["pk", "exists"]],
});

/** Takes out turns that are nobody's, and lets in who waits: what a crash between two commits has left undone. */
export async function sweepRunQueue(deps: AdmissionDeps): Promise<void> {
  const { items } = await deps.tables.query(runQueueTable, { pk: WAITING, limit: LET_IN_MAX });
  for (const turn of items) {
    const run = await deps.tables.get(runsTable, runKey(turn.run_id));
    if (run?.status !== "pending") await deps.tables.write([takeTurn(turn)]);
  }
  await admitWaiting(deps);
}

const PASS_TRIES_MAX = 100;

/**
 * A run of a job that has ended hands its turn to the next of it. Until that is done the run counts as active, and
 * the sweep finds it; a turn is handed over once.
 */
export async function releaseJobSlot(
  deps: Pick<Ports, "tables" | "outbox" | "clock" | "ids">,
  run: StoredRun,
): Promise<StoredRun> {
  const { active: _active, moved_at: _moved, ...rest } = run;
  const done: StoredRun = { ...rest, version: run.version + 1 };
  const doneWrite: Write = {
    op: "put",
    table: runsTable,
    item: done,
    when: [["version", "=", run.version]],
  };
  for (let attempt = 0; attempt < PASS_TRIES_MAX; attempt += 1) {
    const turns = { pk: jobPartition(run.run_group_id), limit: 1 };
    const [first] = (await deps.tables.query(runQueueTable, turns)).items;
    if (first === undefined) return (await deps.tables.write([doneWrite])).ok ? done : run;
    const takeOut = takeTurn(first);
    const next = await deps.tables.get(runsTable, runKey(first.run_id));
    if (next?.status !== "pending") {
      await deps.tables.write([takeOut]);
      continue;
    }
    const { queued: _queued, ...waiting } = next;
    const moved_at = new Date(deps.clock.now()).toISOString();
    const item: StoredRun = { ...waiting, moved_at, version: next.version + 1 };
    const outcome = await deps.outbox.commit({
      writes: [
        doneWrite,
        takeOut,
        { op: "put", table: runsTable, item, when: [["version", "=", next.version]] },
      ],
      send: [{ queue: CONDUCT_QUEUE, messages: [repeatedStart(deps, next.run_id)] }],
    });
    if (outcome.ok) return done;
    if (outcome.failed.includes(0)) return run;
  }
  throw new Error("the queue of the job is contended");
}

/** Whether a run had its turn in its job, so that its end gives it to another. */
export const wasAdmitted = ({ job_width, queued, run_group_id }: StoredRun): boolean =>
  job_width !== undefined && queued?.pk !== jobPartition(run_group_id);
