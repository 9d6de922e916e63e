import type { Ports } from "../../platform/ports.ts";
import type { Key, Write } from "../../platform/tables.ts";
import { CONFLICT, PROGRESS, retryOnConflict } from "../../retry-on-conflict.ts";
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

/**
 * The result of an admission: admitted, with the writes to commit with the start; waiting; or changed since it was
 * read.
 */
export type Admission = Admitted | { readonly is: "waits" } | { readonly is: "changed" };

/** An admitted run: its slot, if it has just got one, and the writes to commit with its start. */
export interface Admitted {
  readonly is: "in";
  readonly slot?: number;
  readonly writes: readonly Write[];
}

const IN: Admission = { is: "in", writes: [] };

/** Partition of the queue positions of runs that wait for a slot. */
export const WAITING = "waiting";
/** Runs admitted per query. */
const LET_IN_MAX = 10;
const MINUTE_MS = 60_000;

const RANKS: Readonly<Record<string, number>> = { critical: 0, high: 1, normal: 2, low: 3 };

/** Sort key of the queue: priority, then age. */
function turnOf({ priority, created_at, number }: StoredRun): string {
  return `${RANKS[priority] ?? 2}#${created_at}#${String(number).padStart(12, "0")}`;
}

/** Queue position of a run within its job. */
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
 * Admits a run if a slot is free and no run waits before it. Otherwise the run is queued durably and stays `pending`.
 * Inputs other than `start` are always admitted.
 */
export async function admitRun(deps: AdmissionDeps, run: StoredRun, input: Input): Promise<Admission> {
  if (input.type !== "start" || run.status !== "pending") return IN;
  const turn = { pk: WAITING, sk: turnOf(run) };
  const slot = deps.runSlots.kept(run.run_id) ?? (await slotFor(deps, turn));
  if (slot !== undefined) {
    const admitted = await admitTo(deps, run, slot);
    noteStart(deps, run);
    return admitted;
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
  // A slot may have been released before the queue position was written.
  await admitWaiting(deps);
  return { is: "waits" };
}

/** Admits a run that is about to be created, if a slot is free and no run waits before it. Does not log the start. */
export async function admitNewRun(deps: AdmissionDeps, run: StoredRun): Promise<Admitted | undefined> {
  const slot = await slotFor(deps, { pk: WAITING, sk: turnOf(run) });
  return slot === undefined ? undefined : admitTo(deps, run, slot);
}

async function admitTo(deps: AdmissionDeps, run: StoredRun, slot: number): Promise<Admitted> {
  await limitTime(deps, run).catch((error: unknown) => {
    deps.runSlots.forget(slot);
    throw error;
  });
  return { is: "in", slot, writes: [takeSlot(slot, run.run_id)] };
}

/** Logs the start of a run. */
export function noteStart(deps: AdmissionDeps, run: StoredRun): void {
  noteHere(deps, run, `run ${run.run_id} of ${run.workflow_name} started, target: ${run.target || "none"}`);
}

/** Takes a slot for a run if no run waits before it. */
async function slotFor(deps: AdmissionDeps, turn: Key): Promise<number | undefined> {
  const [first] = (await deps.tables.query(runQueueTable, { pk: WAITING, limit: 1 })).items;
  return first === undefined || first.sk >= turn.sk ? deps.runSlots.pick() : undefined;
}

/**
 * Set before the start is committed, so that every started run has a timer. If the start fails, the timer is a no-op.
 */
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

/** Returns the writes that release a run's slot at its end, and its queue position at its start; `next` is the new state. */
export function releaseWrites(run: StoredRun, next: StoredRun): Write[] {
  const writes: Write[] = [];
  if (run.slot !== undefined && isTerminal(next.status)) writes.push(leaveSlot(run.slot));
  if (run.queued !== undefined) writes.push({ op: "delete", table: runQueueTable, key: run.queued });
  return writes;
}

/** Admits waiting runs after a run's start or end was committed, while slots are free. */
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

/** Logs locally if this process executes the steps of all runs. */
function noteHere(deps: AdmissionDeps, run: StoredRun, text: string): void {
  if (deps.outbox.atomic === true && run.unlogged !== true) logRun(deps, run.run_id, text);
}

/** Starts as many waiting runs as there are free slots, and reserves a slot for each. */
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

/** A start message with its own deduplication id, so that an earlier start of the run does not suppress it. */
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

/** Deletes orphaned queue positions and admits waiting runs: repairs the state after a crash between two commits. */
export async function sweepRunQueue(deps: AdmissionDeps): Promise<void> {
  const { items } = await deps.tables.query(runQueueTable, { pk: WAITING, limit: LET_IN_MAX });
  for (const turn of items) {
    const run = await deps.tables.get(runsTable, runKey(turn.run_id));
    if (run?.status !== "pending") await deps.tables.write([takeTurn(turn)]);
  }
  await admitWaiting(deps);
}

/**
 * Hands the job slot of a finished run to the next run of its job, once. Until then the run counts as active, so the
 * sweep finds it.
 */
export async function releaseJobSlot(
  deps: Pick<Ports, "tables" | "outbox" | "clock" | "ids">,
  run: StoredRun,
): Promise<StoredRun> {
  const { active: _, unfinished: _unfinished, moved_at: _moved, ...rest } = run;
  const done: StoredRun = { ...rest, version: run.version + 1 };
  const doneWrite: Write = {
    op: "put",
    table: runsTable,
    item: done,
    when: [["version", "=", run.version]],
  };
  const release = async (): Promise<StoredRun | typeof CONFLICT | typeof PROGRESS> => {
    const turns = { pk: jobPartition(run.run_group_id), limit: 1 };
    const [first] = (await deps.tables.query(runQueueTable, turns)).items;
    if (first === undefined) return (await deps.tables.write([doneWrite])).ok ? done : run;
    const takeOut = takeTurn(first);
    const next = await deps.tables.get(runsTable, runKey(first.run_id));
    if (next?.status !== "pending") {
      return (await deps.tables.write([takeOut])).ok ? PROGRESS : CONFLICT;
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
    return outcome.failed.includes(0) ? run : CONFLICT;
  };
  return retryOnConflict(release, {
    exceeded: () => new Error("too many conflicts at the queue of the job"),
  });
}

/** Whether a run was admitted by its job, so that its end admits the next one. */
export const wasAdmitted = ({ job_width, queued, run_group_id }: StoredRun): boolean =>
  job_width !== undefined && queued?.pk !== jobPartition(run_group_id);
