import { afterEach, expect, it } from "vitest";
import { emitEvent } from "../../events/emit.ts";
import { PlatformFault } from "../../platform/faults.ts";
import type { Outbox } from "../../platform/outbox.ts";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { onTopic, readLog, readRuns, storeWorkflow } from "../../testing/test-workflows.ts";
import { triggerSchedule } from "../schedules/trigger-schedule.ts";
import { dispatchEvent } from "../triggers/dispatch-event.ts";
import { listHistory } from "./read.ts";
import { startBody, startRun } from "./start.ts";

let test: TestDeps;
afterEach(() => test.close());

const emit = async (data = {}): Promise<string> =>
  (await emitEvent(test.deps, { topic: "custom.x", data })).event_id.slice("evt_".length);
const visible = async (queue: string): Promise<number> => (await test.deps.queues.depth(queue)).visible;

/** The outbox, with a hook before each commit, by its number from 1. */
function withHook(
  before: (number: number) => void | Promise<void>,
): Outbox & { readonly commits: () => number } {
  let commits = 0;
  return {
    ...test.deps.outbox,
    commits: () => commits,
    commit: async (commit) => {
      commits += 1;
      await before(commits);
      return test.deps.outbox.commit(commit);
    },
  };
}

it("a triggered run is created and started, and its event processed, in one commit without a start message", async () => {
  test = await testDeps();
  await storeWorkflow(test.deps, onTopic("a", "custom.x"));
  const id = await emit();
  const outbox = withHook(() => {});
  await dispatchEvent({ ...test.deps, outbox }, id);
  expect(outbox.commits()).toBe(1);
  const [run] = await readRuns(test.deps);
  expect(run).toMatchObject({ status: "running", event_id: id });
  expect(await visible("conduct")).toBe(0);
  expect(await visible("bash")).toBe(1);
  expect((await readLog(test.deps, { topic: "custom.x", processed: true })).total).toBe(1);
  expect((await readLog(test.deps, { topic: "run.started" })).total).toBe(1);
  await test.drain();
  expect(await readRuns(test.deps)).toMatchObject([{ status: "completed" }]);
  expect((await listHistory(test.deps, run?.run_id ?? "")).map(({ type }) => type)).toEqual([
    "run.started",
    "module.started",
    "step.requested",
    "step.finished",
    "module.finished",
    "run.finished",
  ]);
});

it("several runs of an event are started, and the event is processed with the last one", async () => {
  test = await testDeps();
  for (const name of ["a", "b", "c"]) await storeWorkflow(test.deps, onTopic(name, "custom.x"));
  const id = await emit();
  const outbox = withHook(() => {});
  await dispatchEvent({ ...test.deps, outbox }, id);
  expect(outbox.commits()).toBe(3);
  expect((await readRuns(test.deps)).map(({ status }) => status)).toEqual(["running", "running", "running"]);
  expect((await readLog(test.deps, { topic: "custom.x", processed: true })).total).toBe(1);
});

it("a run without a free slot is created pending, and starts when one is free", async () => {
  test = await testDeps({ settings: { RUNS_CONCURRENCY_MAX: "1" } });
  await storeWorkflow(test.deps, onTopic("a", "custom.x"));
  await emit();
  await emit();
  await test.drain(["bash"]);
  expect((await readRuns(test.deps)).map(({ status }) => status).toSorted()).toEqual(["pending", "running"]);
  await test.drain();
  expect((await readRuns(test.deps)).map(({ status }) => status)).toEqual(["completed", "completed"]);
});

it("a run that cannot be started with its creation is created, and started by its message", async () => {
  test = await testDeps();
  await storeWorkflow(test.deps, onTopic("a", "custom.x"));
  const id = await emit();
  const outbox = withHook((number) => {
    if (number === 1) throw new PlatformFault("throttled", "for a test");
  });
  await dispatchEvent({ ...test.deps, outbox }, id);
  expect(await readRuns(test.deps)).toMatchObject([{ status: "pending" }]);
  expect(await visible("conduct")).toBe(1);
  expect(test.logs).toContainEqual(
    expect.objectContaining({
      level: "warn",
      message: expect.stringMatching(/^a run is started by a message/),
    }),
  );
  await test.drain();
  expect(await readRuns(test.deps)).toMatchObject([{ status: "completed" }]);
});

it("an event that is delivered again after its run was created starts nothing and keeps no slot", async () => {
  test = await testDeps({ settings: { RUNS_CONCURRENCY_MAX: "2" } });
  for (const name of ["a", "b"]) await storeWorkflow(test.deps, onTopic(name, "custom.x"));
  const id = await emit();
  const outbox = withHook((number) => {
    // The first run is committed; the event then fails before the second one, in both attempts.
    if (number > 1) throw new PlatformFault("unavailable", "for a test");
  });
  await expect(dispatchEvent({ ...test.deps, outbox }, id)).rejects.toThrow(PlatformFault);
  expect(await readRuns(test.deps)).toHaveLength(1);
  await Promise.all([dispatchEvent(test.deps, id), dispatchEvent(test.deps, id)]);
  await test.drain();
  await emit();
  await test.drain();
  const runs = await readRuns(test.deps);
  expect(runs.map(({ status, workflow_name }) => `${workflow_name} ${status}`).toSorted()).toEqual([
    "a completed",
    "a completed",
    "b completed",
    "b completed",
  ]);
  expect((await readLog(test.deps, { topic: "run.started" })).total).toBe(4);
});

it("the event of a trigger that a request fired is processed without another attempt to create its run", async () => {
  test = await testDeps();
  await storeWorkflow(test.deps, onTopic("a", "custom.x"));
  const { event_id, run_id } = await triggerSchedule(test.deps, "sch_a:heard");
  const outbox = withHook(() => {});
  await dispatchEvent({ ...test.deps, outbox }, event_id.slice("evt_".length));
  expect(outbox.commits()).toBe(1);
  await test.drain();
  expect(await readRuns(test.deps)).toMatchObject([{ run_id, status: "completed" }]);
});

it("a run that found no slot while an event was delivered twice does not wait for another run to end", async () => {
  test = await testDeps({ settings: { RUNS_CONCURRENCY_MAX: "2" } });
  await storeWorkflow(test.deps, onTopic("a", "custom.x"));
  await storeWorkflow(test.deps, onTopic("b", "custom.y"));
  const id = await emit();
  await startRun(test.deps, startBody.parse({ module: "b" }));
  // The second delivery tries to create the same run: its commit, which fails, has the last slot.
  const outbox = withHook(async (number) => {
    if (number === 1) await test.drain(["dispatch", "bash"]);
  });
  await Promise.all([dispatchEvent(test.deps, id), dispatchEvent({ ...test.deps, outbox }, id)]);
  await test.drain(["bash"]);
  const runs = await readRuns(test.deps);
  expect(runs.map(({ status, workflow_name }) => `${workflow_name} ${status}`).toSorted()).toEqual([
    "a running",
    "b running",
  ]);
});
