import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { emitEvent } from "../../events/emit.ts";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { readLog, readRuns, storeWorkflow } from "../../testing/test-workflows.ts";
import { attemptKey, runFinishedKey } from "../steps/messages.ts";
import { cancelRun } from "./cancel.ts";
import { conduct } from "./conduct.ts";
import { getRun, listHistory, listSteps } from "./read.ts";
import { resendStalledRuns } from "./resend-stalled.ts";
import { startBody, startRun } from "./start.ts";
import { runKey, runsTable, unfinishedPartition } from "./table.ts";

const THREE = `
name: three
steps:
  - {name: a, type: bash, command: "echo a"}
  - {name: b, type: bash, command: "fail b", on_error: [{action: continue}]}
  - name: p
    type: parallel-steps
    parallel_steps:
      - {name: x, type: bash, command: "echo x"}
      - {name: y, type: bash, command: "echo y"}
`;
const EMPTY_REPORT = {
  attempt: 1,
  command: "",
  output: "",
  output_truncated: false,
  output_lines: 0,
  duration_ms: 0,
  log_file: "",
  exports: {},
  values: {},
};
const EXECUTORS = ["bash", "function", "foreach", "parallel-steps", "http"];

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps({
    command: async ({ argv, env }) => {
      const fails = [...argv, ...Object.values(env)].some((text) => text.includes("fail"));
      return fails ? { exitCode: 3 } : { stdout: "one\ntwo\n" };
    },
  });
});
afterEach(() => test.close());

const start = async (module: string, more = {}): Promise<string> =>
  (await startRun(test.deps, startBody.parse({ module, ...more }))).run_id;
const stepsOf = async (runId: string): Promise<string[]> =>
  (await listSteps(test.deps, runId)).map(({ step_name, status }) => `${step_name} ${status}`);
const topics = async (): Promise<string[]> =>
  (await readLog(test.deps)).records.map(({ topic, name }) => `${topic} ${name}`).reverse();

describe("a run", () => {
  it("returns its row, its steps and its history", async () => {
    await storeWorkflow(test.deps, THREE);
    const runId = await start("three", { target: "example.com", params: { depth: 3 } });
    expect(await getRun(test.deps, runId)).toMatchObject({
      status: "pending",
      total_steps: 3,
      started_at: null,
    });
    await test.drain();
    const run = await getRun(test.deps, runId);
    expect(run).toMatchObject({
      status: "completed",
      target: "example.com",
      params: { depth: "3" },
      completed_steps: 3,
      trigger_type: "api",
      workspace: "example.com",
      error_message: "",
    });
    expect(run).not.toHaveProperty("unfinished");
    expect((await stepsOf(runId)).toSorted()).toEqual([
      "a completed",
      "b failed",
      "p completed",
      "x completed",
      "y completed",
    ]);
    const [a] = await listSteps(test.deps, runId);
    expect(a).toMatchObject({
      step_name: "a",
      output: "one\ntwo",
      attempt: 1,
      exports: { a_output: "one\ntwo" },
    });
    const history = await listHistory(test.deps, runId);
    expect(history.map(({ number }) => number)).toEqual(history.map((_, index) => index + 1));
    expect(history.at(0)).toMatchObject({ type: "run.started" });
    expect(history.at(-1)).toMatchObject({ type: "run.finished", status: "completed" });
  });

  it("records events of itself and of each of its steps", async () => {
    await storeWorkflow(test.deps, THREE);
    const runId = await start("three", { target: "t" });
    await test.drain();
    expect(await topics()).toEqual([
      "run.started three-started",
      "step.completed a-completed",
      "step.failed b-failed",
      "step.completed x-completed",
      "step.completed y-completed",
      "step.completed p-completed",
      "run.completed three-completed",
    ]);
    const { records } = await readLog(test.deps);
    for (const record of records) {
      expect(record).toMatchObject({
        run_id: runId,
        workflow_name: "three",
        workspace: "t",
        processed: true,
      });
      expect(record.data_type).toBe(record.topic.startsWith("run.") ? "scan" : "step");
    }
    const data = Object.fromEntries(
      records.map(({ name, data: text }) => [name, JSON.parse(text) as unknown]),
    );
    expect(data["three-started"]).toMatchObject({ scan_id: runId, target: "t", params: {}, trigger: "api" });
    expect(data["a-completed"]).toEqual({
      step_name: "a",
      step_type: "bash",
      duration_ms: 0,
      output_lines: 2,
    });
    expect(data["b-failed"]).toMatchObject({ step_name: "b", error: "command failed with exit code 3" });
    expect(data["three-completed"]).toEqual({
      scan_id: runId,
      target: "t",
      duration_ms: 0,
      steps_completed: 3,
    });
    expect((await readLog(test.deps, { source: "api" })).records).toMatchObject([{ topic: "run.started" }]);
    expect((await readLog(test.deps, { source: "executor" })).total).toBe(6);
  });

  it("fails with its first failing step, and has its error", async () => {
    await storeWorkflow(
      test.deps,
      'name: bad\nsteps:\n  - {name: a, type: bash, command: "fail"}\n  - {name: b, type: bash, command: "echo"}\n',
    );
    const runId = await start("bad");
    await test.drain();
    const run = await getRun(test.deps, runId);
    expect(run).toMatchObject({
      status: "failed",
      completed_steps: 0,
      error_message: "command failed with exit code 3",
    });
    expect(await stepsOf(runId)).toEqual(["a failed"]);
    const [failed] = (await readLog(test.deps, { topic: "run.failed" })).records;
    expect(JSON.parse(failed?.data ?? "")).toMatchObject({ scan_id: runId, error: run.error_message });
  });

  it("shows a container as running until its children are done", async () => {
    await storeWorkflow(
      test.deps,
      'name: f\nsteps:\n  - {name: each, type: foreach, input: ["1", "2"], variable: n, step: {name: one, type: bash, command: "echo [[n]]"}}\n',
    );
    const runId = await start("f");
    await test.drain(["bash"]);
    expect(await stepsOf(runId)).toEqual(["each running"]);
    expect((await listSteps(test.deps, runId))[0]?.completed_at).toBeNull();
    await test.drain();
    expect(await stepsOf(runId)).toEqual(["each completed"]);
    expect((await listSteps(test.deps, runId))[0]?.attempt).toBe(1);
    expect(test.commands).toHaveLength(2);
  });

  it("records one event for a foreach, with the combined failures of its items", async () => {
    await storeWorkflow(
      test.deps,
      'name: f\nsteps:\n  - {name: each, type: foreach, input: ["ok", "fail1", "fail2"], variable: n, step: {name: one, type: bash, command: "echo [[n]]"}}\n',
    );
    const runId = await start("f");
    await test.drain();
    const error = "2 of 3 failed, the first: command failed with exit code 3";
    expect(await getRun(test.deps, runId)).toMatchObject({ status: "failed", error_message: error });
    expect((await listSteps(test.deps, runId)).map(({ error_message }) => error_message)).toEqual([error]);
    expect((await readLog(test.deps, { topic: "step.failed" })).total).toBe(1);
  });

  it("runs the modules of a flow in file order", async () => {
    await storeWorkflow(test.deps, THREE);
    await storeWorkflow(
      test.deps,
      'name: whole\nmodules:\n  - {name: one, path: common/three.yaml}\n  - {name: two, steps: [{name: a, type: bash, command: "echo last"}]}\n',
    );
    const { run_id } = await startRun(test.deps, { flow: "whole" });
    await test.drain();
    expect(await getRun(test.deps, run_id)).toMatchObject({
      status: "completed",
      total_steps: 4,
      completed_steps: 4,
    });
    const steps = await listSteps(test.deps, run_id);
    expect(steps.map(({ module, step_name }) => `${module}/${step_name}`).toSorted()).toEqual([
      "one/a",
      "one/b",
      "one/p",
      "one/x",
      "one/y",
      "two/a",
    ]);
  });
});

describe("a duplicate input", () => {
  it.each([
    ["sends nothing if commands are committed with the state", true, 1],
    ["resends running steps if their commands may have been lost", undefined, 2],
  ] as const)("changes nothing, and %s", async (_case, atomic, commands) => {
    await storeWorkflow(test.deps, THREE);
    const runId = await start("three");
    await test.drain(EXECUTORS);
    const before = await getRun(test.deps, runId);
    const { commit } = test.deps.outbox;
    const outbox = { commit, ...(atomic === undefined ? {} : { atomic }) };
    await conduct({ ...test.deps, outbox }, { run_id: runId, input: { type: "start" } });
    expect(await getRun(test.deps, runId)).toEqual(before);
    expect((await test.deps.queues.depth("bash")).visible).toBe(commands);
    await test.drain();
    expect(await getRun(test.deps, runId)).toMatchObject({ status: "completed" });
    expect(test.commands).toHaveLength(4);
    expect((await readLog(test.deps, { topic: "step.completed" })).total).toBe(4);
  });

  it("is dropped if it answers a request that has been replaced", async () => {
    await storeWorkflow(test.deps, THREE);
    const runId = await start("three");
    await test.drain(["bash"]);
    await conduct(test.deps, { run_id: runId, input: { type: "lost", key: "a", dispatch: 1, attempt: 2 } });
    const before = await getRun(test.deps, runId);
    expect(before.state.frames).toMatchObject({ a: { dispatch: 2, attempt: 2 } });
    const report = { ...EMPTY_REPORT, output: "stale" };
    const input = { type: "result", key: "a", dispatch: 1, status: "completed" } as const;
    await conduct(test.deps, { run_id: runId, input, report });
    expect(await getRun(test.deps, runId)).toEqual(before);
    await test.drain();
    expect((await listSteps(test.deps, runId)).find(({ step_name }) => step_name === "a")).toMatchObject({
      output: "one\ntwo",
      attempt: 2,
    });
  });

  it("is ignored with a warning if the run does not exist", async () => {
    expect(await conduct(test.deps, { run_id: "nowhere", input: { type: "start" } })).toBeUndefined();
    expect(test.logs).toMatchObject([{ level: "warn", message: "conduct: the run does not exist" }]);
  });
});

describe("cancelling", () => {
  it("ends the run permanently, closes its steps, records an event and requests nothing more", async () => {
    await storeWorkflow(test.deps, THREE);
    const runId = await start("three");
    await test.drain(["bash"]);
    const run = await cancelRun(test.deps, runId);
    expect(run).toMatchObject({ status: "cancelled", error_message: "" });
    await test.drain();
    expect(test.commands).toEqual([]);
    expect(await getRun(test.deps, runId)).toEqual(run);
    expect(await stepsOf(runId)).toEqual(["a cancelled"]);
    expect(await topics()).toEqual(["run.started three-started", "run.cancelled three-cancelled"]);
    await expect(cancelRun(test.deps, runId)).rejects.toMatchObject({
      message: "Cannot cancel run with status 'cancelled'",
    });
    expect(run).not.toHaveProperty("unfinished");
  });

  it("reaches the running steps through the sweep after a crash", async () => {
    await storeWorkflow(test.deps, THREE);
    const runId = await start("three");
    await test.drain(["bash"]);
    const { claims } = test.deps;
    const dying = { ...test.deps, claims: { ...claims, take: () => Promise.reject(new Error("died")) } };
    await expect(cancelRun(dying, runId)).rejects.toThrow("died");
    expect((await getRun(test.deps, runId)).status).toBe("cancelled");
    expect(await claims.isTaken(runFinishedKey(runId))).toBe(false);
    test.clock.advance(3 * 60_000);
    expect(await resendStalledRuns(test.deps)).toBe(0);
    expect(await claims.isTaken(runFinishedKey(runId))).toBe(true);
    expect(await getRun(test.deps, runId)).not.toHaveProperty("unfinished");
  });

  it("closes a run that has not started", async () => {
    await storeWorkflow(test.deps, THREE);
    const runId = await start("three");
    await cancelRun(test.deps, runId);
    await test.drain();
    expect(await getRun(test.deps, runId)).toMatchObject({
      status: "cancelled",
      started_at: expect.any(String),
    });
    expect(test.commands).toEqual([]);
  });

  it("rejects finished and unknown runs", async () => {
    await storeWorkflow(test.deps, THREE);
    const runId = await start("three");
    await test.drain();
    await expect(cancelRun(test.deps, runId)).rejects.toMatchObject({
      code: "bad_request",
      message: "Cannot cancel run with status 'completed'",
    });
    await expect(cancelRun(test.deps, "nowhere")).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("the sweep", () => {
  const lose = async (queue: string): Promise<number> => {
    const messages = await test.deps.queues.receive(queue, {
      max: 10,
      visibilitySeconds: 30,
      waitSeconds: 0,
    });
    await test.deps.queues.delete(
      queue,
      messages.map(({ receipt }) => receipt),
    );
    return messages.length;
  };

  it("starts a run whose first message was lost", async () => {
    await storeWorkflow(test.deps, THREE);
    const runId = await start("three");
    expect(await lose("conduct")).toBe(1);
    expect(await resendStalledRuns(test.deps)).toBe(0);
    test.clock.advance(3 * 60_000);
    expect(await resendStalledRuns(test.deps)).toBe(1);
    expect(await resendStalledRuns(test.deps)).toBe(0);
    await test.drain();
    expect(await getRun(test.deps, runId)).toMatchObject({ status: "completed" });
  });

  it("resends a lost step request, and does not start a running step twice", async () => {
    await storeWorkflow(test.deps, THREE);
    const runId = await start("three");
    await test.drain(["bash"]);
    expect(await lose("bash")).toBe(1);
    test.clock.advance(3 * 60_000);
    expect(await resendStalledRuns(test.deps)).toBe(1);
    expect(await resendStalledRuns(test.deps)).toBe(0);
    await test.deps.claims.take(attemptKey(runId, 1, 1));
    await test.drain();
    expect(test.commands).toEqual([]);
    test.clock.advance(3 * 60_000);
    expect(await resendStalledRuns(test.deps)).toBe(1);
    await test.drain();
    expect(test.commands).toEqual([]);
    expect(await getRun(test.deps, runId)).toMatchObject({ status: "running" });
  });

  it("resends the runs first that wait for the longest time, in whatever partition they are", async () => {
    const put = async (runId: string, minutes: number): Promise<void> => {
      const moved_at = new Date(test.clock.now() - minutes * 60_000).toISOString();
      const stored = { run_id: runId, status: "pending", version: 1, unfinished: unfinishedPartition(runId) };
      const item = { ...runKey(runId), ...stored, moved_at };
      await test.deps.tables.write([{ op: "put", table: runsTable, item }]);
    };
    for (let number = 0; number < 100; number += 1) await put(`run-${number}-0`, 3);
    await put("run-f", 4);
    expect(await resendStalledRuns(test.deps)).toBe(100);
    expect(await test.deps.tables.get(runsTable, runKey("run-f"))).toMatchObject({
      moved_at: new Date(test.clock.now()).toISOString(),
    });
    expect(await resendStalledRuns(test.deps)).toBe(1);
    expect(await resendStalledRuns(test.deps)).toBe(0);
  });

  it("ignores finished runs", async () => {
    await storeWorkflow(test.deps, THREE);
    await start("three");
    await test.drain();
    test.clock.advance(24 * 3_600_000);
    expect(await resendStalledRuns(test.deps)).toBe(0);
  });
});

it("a workflow that its own end triggers is stopped at the hop limit, and the log has the reason", async () => {
  await storeWorkflow(
    test.deps,
    'name: ping\ntriggers: [{name: t, type: event, topic: custom.go}, {name: u, type: event, topic: run.completed}]\nsteps: [{name: a, type: bash, command: "echo"}]\n',
  );
  await storeWorkflow(
    test.deps,
    'name: pong\ntriggers: [{name: t, type: event, topic: run.completed}]\nsteps: [{name: a, type: bash, command: "echo"}]\n',
  );
  await emitEvent(test.deps, { topic: "custom.go" });
  await test.drain();
  const runs = await readRuns(test.deps);
  const of = (name: string): number => runs.filter(({ workflow_name }) => workflow_name === name).length;
  expect([of("ping"), of("pong")]).toEqual([5, 4]);
  const cut = (await readLog(test.deps)).records.filter(({ error }) => error !== "");
  expect(cut).toMatchObject([
    { topic: "run.completed", error: expect.stringContaining("event loop: more than") },
  ]);
  expect(test.logs.filter(({ message }) => message === "stopped an event loop")).toHaveLength(1);
});
