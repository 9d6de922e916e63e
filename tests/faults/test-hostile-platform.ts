import { ApiError } from "../../lib/errors.ts";
import { resendPending } from "../../lib/events/log/process.ts";
import { PlatformFault } from "../../lib/platform/faults.ts";
import type { TestDeps } from "../../lib/testing/test-deps.ts";
import { collectPages, readLog, readRuns } from "../../lib/testing/test-workflows.ts";
import { listDeadLetters } from "../../lib/workflows/dead-letters/dead-letters.ts";
import { replay } from "../../lib/workflows/engine/history.ts";
import { getRun, listHistory, listSteps, type RunRecord } from "../../lib/workflows/runs/read.ts";
import { resendStalledRuns } from "../../lib/workflows/runs/resend-stalled.ts";

/** Steps of every kind; what starts it is told apart by its triggers. */
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
/** Two triggers of one workflow that the same event sets off. */
export const TWIN = `
name: twin
triggers:
  - {name: one, type: event, topic: custom.job}
  - {name: other, type: event, topic: "custom.*"}
steps: [{name: only, type: bash, command: "echo only"}]
`;

const FAULTS_MAX = 500;
/** Longer than any message is hidden, and than the sweeps wait. */
const STEP_MS = 7 * 60_000;
const ROUNDS_HOSTILE = 4;
const ROUNDS_MAX = 30;

/** Does it again while the platform refuses, as whoever calls has to. */
export async function through<Result>(work: () => Promise<Result>): Promise<Result> {
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

/** One minute of a house, long as it is: messages, timers, and what the scheduled rules do. Answers whether all rests. */
async function pass(test: TestDeps): Promise<boolean> {
  await through(() => test.drain());
  test.clock.advance(STEP_MS);
  await through(() => test.tick());
  const events = await through(() => resendPending(test.deps, 100));
  const runs = await through(() => resendStalledRuns(test.deps));
  return events + runs === 0 && (await left(test)).length === 0;
}

/**
 * Lets time pass, as much as a hostile house can make of it: a message whose delete or return was refused stays
 * hidden there, and all that waits for it waits.
 */
export async function pester(test: TestDeps): Promise<void> {
  for (let round = 0; round < ROUNDS_HOSTILE; round += 1) if (await pass(test)) return;
}

/** Lets time pass until there is nothing left to do, which comes in a friendly house. */
export async function settle(test: TestDeps): Promise<void> {
  for (let quiet = 0, round = 0; quiet < 2; round += 1) {
    if (round > ROUNDS_MAX)
      throw new Error(`the house does not come to rest: ${(await left(test)).join("; ")}`);
    quiet = (await pass(test)) ? quiet + 1 : 0;
  }
}

/** Queues that are not empty, with what is in them. */
async function left({ deps }: TestDeps): Promise<string[]> {
  const depths = deps.queueNames.map(async (queue) => {
    const depth = await through(() => deps.queues.depth(queue));
    return depth.visible + depth.inFlight + depth.delayed === 0 ? [] : `${queue}: ${JSON.stringify(depth)}`;
  });
  return (await Promise.all(depths)).flat();
}

/** `event workflow trigger` of every run: what must be there once. */
export const causeOf = (run: Pick<RunRecord, "event_id" | "workflow_name" | "trigger_name">): string =>
  `${run.event_id} ${run.workflow_name} ${run.trigger_name}`;

const countBy = <Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return counts;
};

/**
 * What is wrong with the house's records, which nothing may be: a run that is there twice, a step without exactly
 * one result, a history that does not tell of its state, an event that is lost, doubled, unprocessed or counted
 * wrong, a message that was given up or is left behind.
 */
export async function recordFaults(
  test: TestDeps,
  stepsOf: Readonly<Record<string, readonly string[]>>,
): Promise<string[]> {
  const { deps } = test;
  const runs = await readRuns(deps);
  const log = await readLog(deps);
  const faults: string[] = [];
  // Who starts a run by hand and gets no answer may do so again.
  const triggered = runs.filter(({ event_id }) => event_id !== "");
  for (const [cause, count] of countBy(triggered, causeOf))
    if (count > 1) faults.push(`${count} runs of ${cause}`);
  for (const run of runs) faults.push(...(await runFaults(test, run, stepsOf[run.workflow_name] ?? [])));
  const told = Map.groupBy(log.records, ({ run_id }) => run_id);
  for (const { run_id, status, workflow_name } of runs) {
    const steps = (stepsOf[workflow_name] ?? []).map(() => "step.completed");
    const topics = (told.get(run_id) ?? []).map(({ topic }) => topic).toSorted();
    const wanted = ["run.started", `run.${status}`, ...(status === "completed" ? steps : [])].toSorted();
    // One that was cancelled before it began tells of its end alone.
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
  faults.push(...(await left(test)));
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

/** The same value with its fields in the order of their names. */
function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const fields = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(fields.map(([name, field]) => [name, sorted(field)]));
}

/** True for the answer to a request whose first try was carried out although its answer was lost. */
export const isDoneBefore = (error: unknown): boolean =>
  error instanceof ApiError && (error.code === "bad_request" || error.code === "conflict");
