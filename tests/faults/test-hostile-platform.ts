import { ApiError } from "../../lib/errors.ts";
import { resendPending } from "../../lib/events/log/process.ts";
import { PlatformFault } from "../../lib/platform/faults.ts";
import type { TestDeps } from "../../lib/testing/test-deps.ts";
import { collectPages, readLog, readRuns } from "../../lib/testing/test-workflows.ts";
import { listDeadLetters } from "../../lib/workflows/dead-letters/dead-letters.ts";
import { replay } from "../../lib/workflows/engine/history.ts";
import { getRun, listHistory, listSteps, type RunRecord } from "../../lib/workflows/runs/read.ts";
import { resendStalledRuns } from "../../lib/workflows/runs/resend-stalled.ts";

/** A workflow with steps of every kind; `trigger_name` shows what started a run. */
export const JOB = `
name: job
triggers: [{name: asked, type: event, topic: custom.job}]
steps:
  - {name: first, type: bash, command: "echo first"}
  - {name: second, type: function, function: "'second'"}
  - name: both
    type: parallel-steps
    parallel_steps:
      - {name: left, type: bash, command: "echo left"}
      - {name: right, type: bash, command: "echo right"}
  - name: each
    type: foreach
    input: ["1", "2", "3"]
    variable: n
    step: {name: one, type: bash, command: "echo [[n]]"}
`;
export const JOB_STEPS = ["both", "each", "first", "left", "right", "second"];
/** A workflow with two triggers that match the same event. */
export const TWIN = `
name: twin
triggers:
  - {name: one, type: event, topic: custom.job}
  - {name: other, type: event, topic: "custom.*"}
steps: [{name: only, type: bash, command: "echo only"}]
`;

const FAULTS_MAX = 500;
/** Longer than every visibility timeout and than the minimum age of a record that a sweep resends. */
const STEP_MS = 7 * 60_000;
const ROUNDS_HOSTILE = 4;
const ROUNDS_MAX = 30;

/** Retries while the platform returns `throttled` or `unavailable`, as every caller must. */
export async function retryFaults<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let faults = 0; ; faults += 1) {
    try {
      return await work();
    } catch (error) {
      const code = error instanceof PlatformFault ? error.code : undefined;
      if (code !== "throttled" && code !== "unavailable") throw error;
      if (faults >= FAULTS_MAX) throw error;
    }
  }
}

/** Delivers messages, advances the clock, and runs timers and sweeps. Returns true if no work is left. */
async function advance(test: TestDeps): Promise<boolean> {
  await retryFaults(() => test.drain());
  test.clock.advance(STEP_MS);
  await retryFaults(() => test.tick());
  const events = await retryFaults(() => resendPending(test.deps, 100));
  const runs = await retryFaults(() => resendStalledRuns(test.deps));
  return events + runs === 0 && (await nonEmptyQueues(test)).length === 0;
}

/**
 * Advances a hostile platform by a few rounds. It need not become idle: a message whose deletion or release was
 * rejected stays hidden, and dependent work waits.
 */
export async function advanceWithFailures(test: TestDeps): Promise<void> {
  for (let round = 0; round < ROUNDS_HOSTILE; round += 1) if (await advance(test)) return;
}

/** Advances a platform without failures until it is idle in two consecutive rounds. Throws if it does not. */
export async function advanceUntilIdle(test: TestDeps): Promise<void> {
  for (let quiet = 0, round = 0; quiet < 2; round += 1) {
    if (round > ROUNDS_MAX)
      throw new Error(`the platform does not become idle: ${(await nonEmptyQueues(test)).join("; ")}`);
    quiet = (await advance(test)) ? quiet + 1 : 0;
  }
}

/** Names and depths of the queues that are not empty. */
async function nonEmptyQueues({ deps }: TestDeps): Promise<string[]> {
  const depths = deps.queueNames.map(async (queue) => {
    const depth = await retryFaults(() => deps.queues.depth(queue));
    return depth.visible + depth.inFlight + depth.delayed === 0 ? [] : `${queue}: ${JSON.stringify(depth)}`;
  });
  return (await Promise.all(depths)).flat();
}

/** `event workflow trigger` of a run, which is unique. */
export const causeOf = (run: Pick<RunRecord, "event_id" | "workflow_name" | "trigger_name">): string =>
  `${run.event_id} ${run.workflow_name} ${run.trigger_name}`;

const countBy = <Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return counts;
};

/**
 * Checks all records and returns the faults: duplicate runs, steps without exactly one result, histories that do not
 * match the state, events that are lost, duplicated, unprocessed or miscounted, dead letters, and remaining messages.
 */
export async function findRecordIssues(
  test: TestDeps,
  stepsOf: Readonly<Record<string, readonly string[]>>,
): Promise<string[]> {
  const { deps } = test;
  const runs = await readRuns(deps);
  const log = await readLog(deps);
  const faults: string[] = [];
  // A caller may start a manual run again after a lost response.
  const triggered = runs.filter(({ event_id }) => event_id !== "");
  for (const [cause, count] of countBy(triggered, causeOf))
    if (count > 1) faults.push(`${count} runs of ${cause}`);
  for (const run of runs) faults.push(...(await runFaults(test, run, stepsOf[run.workflow_name] ?? [])));
  const eventsByRun = Map.groupBy(log.records, ({ run_id }) => run_id);
  for (const { run_id, status, workflow_name } of runs) {
    const steps = (stepsOf[workflow_name] ?? []).map(() => "step.completed");
    const topics = (eventsByRun.get(run_id) ?? []).map(({ topic }) => topic).toSorted();
    const wanted = ["run.started", `run.${status}`, ...(status === "completed" ? steps : [])].toSorted();
    // A run that was cancelled before it began emits `run.cancelled` only.
    const early = status === "cancelled" && topics.join() === "run.cancelled";
    if (!early && topics.join() !== wanted.join()) faults.push(`${run_id} told of itself: ${topics.join()}`);
  }
  if (log.total !== log.records.length) faults.push(`${log.total} records, ${log.records.length} are there`);
  const numbers = log.records.map(({ id }) => id);
  if (numbers.some((id, at) => id !== log.total - at)) faults.push(`numbers of records: ${numbers.join()}`);
  if (new Set(log.records.map(({ event_id }) => event_id)).size !== log.total) faults.push("doubled records");
  for (const { topic, processed, error } of log.records)
    if (!processed || error !== "") faults.push(`${topic} processed ${processed}: ${error}`);
  for (const [topic, count] of countBy(log.records, (record) => record.topic)) {
    const { total } = await readLog(deps, { topic });
    if (total !== count) faults.push(`${count} of ${topic}, counted as ${total}`);
  }
  const letters = await collectPages((await listDeadLetters(deps, { offset: 0, limit: 100 })).items);
  for (const { queue, error } of letters) faults.push(`dead letter of ${queue}: ${error}`);
  faults.push(...(await nonEmptyQueues(test)));
  return faults;
}

async function runFaults(test: TestDeps, run: RunRecord, wanted: readonly string[]): Promise<string[]> {
  const { deps } = test;
  const { run_id } = run;
  const faults: string[] = [];
  const entries = (await listHistory(deps, run_id)).map(({ number: _number, at: _at, ...entry }) => entry);
  const history = entries as unknown as Parameters<typeof replay>[0];
  const { state } = await getRun(deps, run_id);
  if (JSON.stringify(sorted(replay(history))) !== JSON.stringify(sorted(state)))
    faults.push(`${run_id}: its history tells of another state`);
  const finished = history.flatMap((entry) =>
    entry.type === "step.finished" && entry.total === undefined ? [entry.key] : [],
  );
  for (const [key, count] of countBy(finished, (key) => key))
    if (count > 1) faults.push(`${run_id}: ${count} results of ${key}`);
  if (run.status !== "completed") return faults;
  const steps = (await listSteps(deps, run_id)).map(({ step_name, status }) => `${step_name} ${status}`);
  const all = wanted.map((step) => `${step} completed`);
  if (steps.toSorted().join() !== all.join()) faults.push(`${run_id}: steps ${steps.join()}`);
  return faults;
}

/** Returns the value with object fields sorted by name. */
function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const fields = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(fields.map(([name, field]) => [name, sorted(field)]));
}

/** True for the error of a retried request whose first attempt was carried out although its response was lost. */
export const isDoneBefore = (error: unknown): boolean =>
  error instanceof ApiError && (error.code === "bad_request" || error.code === "conflict");
