import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Deps } from "../../app/compose.ts";
import { emitEvent } from "../../events/emit.ts";
import { resendPending } from "../../events/log/process.ts";
import { isCrash, type TestClock, type TestDeps, testClock, testDeps } from "../../testing/test-deps.ts";
import { readLog, readRuns, storeWorkflow } from "../../testing/test-workflows.ts";
import { replay } from "../engine/history.ts";
import { getRun, listHistory, listSteps } from "./read.ts";
import { resendStalledRuns } from "./resend-stalled.ts";

const WORKFLOW = `
name: job
triggers: [{name: asked, type: event, topic: custom.job}]
steps:
  - {name: first, type: bash, command: "echo first"}
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
const OWN_STEPS = ["both", "each", "first", "left", "right"];
const EMITS = 2;

/** A data folder and a clock that outlive the platforms opened on them. */
async function withFolder(work: (folder: string, clock: TestClock) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "weft-hostile-"));
  try {
    await work(folder, testClock());
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Emits events and processes them until everything is done or the platform crashes; returns the number of acknowledged
 * emits.
 */
async function emitAndWork(test: TestDeps, emits: number): Promise<number> {
  let acknowledged = 0;
  try {
    for (; acknowledged < emits; acknowledged += 1) {
      await emitEvent(test.deps, { topic: "custom.job", data: { n: acknowledged } });
      if (acknowledged === 0) await test.drain();
    }
    await test.drain();
  } catch (error) {
    if (!isCrash(error)) throw error;
  }
  return acknowledged;
}

/** Runs sweeps, as timers would, until nothing is left to resend. */
async function recover(test: TestDeps): Promise<void> {
  for (let round = 0; round < 12; round += 1) {
    await test.drain();
    test.clock.advance(5 * 60_000);
    const sent = (await resendPending(test.deps, 100)) + (await resendStalledRuns(test.deps));
    if (sent === 0) return;
  }
  throw new Error("the sweeps find no end");
}

async function expectAllDoneOnce(deps: Deps, acknowledged: number): Promise<void> {
  const jobs = await readLog(deps, { topic: "custom.job" });
  expect(jobs.total).toBeGreaterThanOrEqual(acknowledged);
  expect(jobs.total).toBeLessThanOrEqual(acknowledged + 1);
  const runs = await readRuns(deps);
  expect(runs.map(({ status }) => status)).toEqual(Array.from({ length: jobs.total }, () => "completed"));
  expect(new Set(runs.map(({ event_id }) => event_id))).toEqual(
    new Set(jobs.records.map(({ event_id }) => event_id)),
  );
  for (const { run_id } of runs) {
    const steps = await listSteps(deps, run_id);
    expect(steps.map(({ step_name, status }) => `${step_name} ${status}`).sort()).toEqual(
      OWN_STEPS.map((step) => `${step} completed`),
    );
    const history = await listHistory(deps, run_id);
    const entries = history.map(({ number: _number, at: _at, ...entry }) => entry) as unknown as Parameters<
      typeof replay
    >[0];
    expect(replay(entries)).toEqual((await getRun(deps, run_id)).state);
    const finished = entries.flatMap((entry) =>
      entry.type === "step.finished" && entry.total === undefined ? [entry.key] : [],
    );
    expect(finished.sort()).toEqual([...OWN_STEPS, "one#0"].sort());
  }
  const log = await readLog(deps);
  expect(log.records.filter(({ processed, error }) => !processed || error !== "")).toEqual([]);
  const count = (topic: string): number => log.records.filter((record) => record.topic === topic).length;
  expect(count("run.started")).toBe(jobs.total);
  expect(count("run.completed")).toBe(jobs.total);
  expect(count("step.completed")).toBe(jobs.total * OWN_STEPS.length);
  expect(new Set(log.records.map(({ id }) => id)).size).toBe(log.total);
}

it.each([1, 2, 3, 4])("runs everything once with duplicate and reordered messages (seed %i)", (seed) =>
  withFolder(async (folder, clock) => {
    const test = await testDeps({ folder, clock, hostile: { seed, duplicates: 0.3, reorders: 0.3 } });
    await storeWorkflow(test.deps, WORKFLOW);
    expect(await emitAndWork(test, EMITS)).toBe(EMITS);
    await recover(test);
    await expectAllDoneOnce(test.deps, EMITS);
    await test.close();
  }),
);

/**
 * Every second or third commit up to the ninetieth, some with two seeds, which decide whether it dies before or after
 * it.
 */
const CRASHES = [1, 4, 7, 9].flatMap((seed) =>
  Array.from({ length: 9 }, (_, n) => [seed, seed + n * 10] as const),
);

it.each(CRASHES)(
  "loses nothing and repeats nothing when it crashes at a commit (seed %i, commit %i)",
  (seed, crashAtCommit) =>
    withFolder(async (folder, clock) => {
      const before = await testDeps({ folder, clock });
      await storeWorkflow(before.deps, WORKFLOW);
      await before.close();
      let crashes = 0;
      const onCrash = (): void => {
        crashes += 1;
      };
      const dying = await testDeps({
        folder,
        clock,
        hostile: { seed, duplicates: 0.1, reorders: 0.1, crashAtCommit, onCrash },
      });
      const acknowledged = await emitAndWork(dying, EMITS);
      await dying.close();
      expect(crashes).toBe(1);
      const after = await testDeps({ folder, clock });
      await recover(after);
      await expectAllDoneOnce(after.deps, acknowledged);
      await after.close();
    }),
);
