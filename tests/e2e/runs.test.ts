import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { type Page, waitUntil } from "../../lib/testing/test-server.ts";
import type { RunRecord } from "../../lib/workflows/runs/read.ts";
import { sharedServer } from "./shared-server.ts";

const weft = sharedServer();
beforeAll(async () => {
  await weft.storeWorkflow("name: hello\nsteps: [{name: s, type: bash, command: 'echo hello {{Target}}'}]");
});

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe("POST /runs", () => {
  test("returns the run's id, and GET /runs/{id} finds the run at once", async () => {
    const answer = await weft.call("POST", "/runs", { body: { module: "hello", target: "a.example" } });
    expect(answer.status).toBe(202);
    expect(answer.json).toMatchObject({
      workflow: "hello",
      kind: "module",
      target: "a.example",
      status: "queued",
    });
    const { run_id, run_uuid } = answer.json as { run_id: string; run_uuid: string };
    expect(run_uuid).toBe(run_id);
    expect((await weft.call("GET", `/runs/${run_id}`)).status).toBe(200);
    expect(await weft.waitForRun(run_id)).toMatchObject({
      run_id,
      workflow_name: "hello",
      workflow_kind: "module",
      workflow_revision: 1,
      target: "a.example",
      workspace: "a.example",
      status: "completed",
      trigger_type: "api",
      total_steps: 1,
      completed_steps: 1,
      error_message: "",
      started_at: expect.stringMatching(/Z$/),
      completed_at: expect.stringMatching(/Z$/),
    });
  });

  test.each([
    ["neither module nor flow", {}, 400, /module or flow/],
    ["an unknown module", { module: "none" }, 404, /not found/i],
    ["a module as flow", { flow: "hello" }, 400, /is a module/],
    ["a target that is an object", { module: "hello", target: {} }, 400, /target/],
    ["params that are a list", { module: "hello", params: [] }, 400, /params/],
    ["a param that is an object", { module: "hello", params: { a: {} } }, 400, /params\.a/],
    ["an unknown priority", { module: "hello", priority: "soon" }, 400, /priority/],
  ])("rejects %s", async (_name, body, status, message) => {
    const answer = await weft.call("POST", "/runs", { body });
    expect([answer.status, answer.json]).toEqual([
      status,
      { error: true, message: expect.stringMatching(message) },
    ]);
  });

  test("params can be given, have a default or a template default, or be required", async () => {
    await weft.storeWorkflow(`name: params
params:
  - {name: word, default: plain}
  - {name: made, default: "{{word}}-{{Target}}"}
  - {name: count, type: int, default: 3}
  - {name: flag, type: bool, default: false}
  - {name: must, required: true}
steps:
  - {name: s, type: bash, command: 'printf "%s|" {{word}} {{made}} {{count}} {{flag}} {{must}} {{extra}}'}
`);
    const missing = await weft.call("POST", "/runs", { body: { module: "params" } });
    expect([missing.status, missing.message]).toEqual([
      400,
      expect.stringMatching(/required parameter missing: must/),
    ]);
    const run = await weft.run({
      module: "params",
      target: "t",
      params: { must: 1, flag: true, word: "w w", extra: "e" },
    });
    expect((await weft.steps(run.run_id))["s"]?.output).toBe("w w|w w-t|3|true|1|e|");
  });

  test("an event without a required param starts a run that fails with the reason", async () => {
    await weft.storeWorkflow(`name: needs
params: [{name: must, required: true}]
triggers: [{type: event, topic: custom.needs}]
steps: [{name: s, type: bash, command: "true"}]`);
    expect((await weft.emit({ topic: "custom.needs" })).triggered_workflows).toEqual(["needs"]);
    const run = await waitUntil(
      "the run",
      async () => (await weft.get<Page<RunRecord>>("/runs?workflow=needs")).data[0],
    );
    expect(run).toMatchObject({ status: "failed", error_message: "required parameter missing: must" });
    const [event] = await weft.events({ run_id: run.run_id });
    expect(event).toMatchObject({ topic: "run.failed", workflow_name: "needs" });
  });
});

describe("GET /runs", () => {
  test("combines filters, newest first", async () => {
    await weft.storeWorkflow("name: fails\nsteps: [{name: s, type: bash, command: 'exit 7'}]");
    const good = await weft.run({ module: "hello", target: "Listed One", workspace: "lists" });
    const bad = await weft.run({ module: "fails", target: "listed two", workspace: "lists" });
    const ids = async (query: string) =>
      (await weft.get<Page<RunRecord>>(`/runs?limit=100&${query}`)).data.map((run) => run.run_id);
    expect(await ids("workspace=lists")).toEqual([bad.run_id, good.run_id]);
    expect(await ids("workspace=lists&status=failed")).toEqual([bad.run_id]);
    expect(await ids("workflow=hello&target=LISTED")).toEqual([good.run_id]);
    expect(await ids("workflow_name=fails&target=listed")).toEqual([bad.run_id]);
    expect(await ids("workspace=lists&workflow=none")).toEqual([]);
  });
});

describe("records of a run", () => {
  const YAML = `name: mixed
steps:
  - {name: good, type: bash, command: "printf 'one\\ntwo'", exports: {line: output}}
  - {name: skipped, type: bash, pre_condition: "1 > 2", command: "exit 1"}
  - {name: bears, type: bash, command: "echo why >&2; exit 3", on_error: [{action: continue}]}
  - {name: bad, type: bash, command: "exit 4"}
  - {name: never, type: bash, command: "true"}
`;

  test("steps include failed and skipped ones but none that were not reached", async () => {
    await weft.storeWorkflow(YAML);
    const run = await weft.run({ module: "mixed" });
    expect(run).toMatchObject({ status: "failed", error_message: expect.stringContaining("exit code 4") });
    const steps = await weft.steps(run.run_id);
    expect(Object.keys(steps)).toEqual(["good", "skipped", "bears", "bad"]);
    expect(steps).toMatchObject({
      good: {
        status: "completed",
        output: "one\ntwo",
        exports: { line: "one\ntwo", good_output: "one\ntwo" },
        attempt: 1,
      },
      skipped: { status: "skipped", output: "", exports: {} },
      bears: { status: "failed", error_message: expect.stringMatching(/exit code 3: why$/) },
      bad: { status: "failed", error_message: expect.stringContaining("exit code 4") },
    });
    for (const step of Object.values(steps)) {
      expect(step).toMatchObject({
        run_id: run.run_id,
        step_type: "bash",
        completed_at: expect.stringMatching(/Z$/),
      });
    }
  });

  test("history has every request and result in order, with consecutive numbers", async () => {
    const run = await weft.run({ module: "mixed" });
    const history = await weft.history(run.run_id);
    expect(history.map(({ number }) => number)).toEqual(history.map((_, index) => index + 1));
    const finished = history.filter(({ type }) => type === "step.finished");
    expect(finished.map((entry) => [entry["key"], entry["status"]])).toEqual([
      ["good", "completed"],
      ["skipped", "skipped"],
      ["bears", "failed"],
      ["bad", "failed"],
    ]);
    expect(history[0]?.type).toBe("run.started");
    expect(history.at(-1)).toMatchObject({ type: "run.finished", status: "failed" });
  });

  test("events are one for each completed or failed step and two for the run", async () => {
    const run = await weft.run({ module: "mixed" });
    const events = [...(await weft.events({ run_id: run.run_id }))].reverse();
    expect(events.map(({ topic, name }) => [topic, name])).toEqual([
      ["run.started", "mixed-started"],
      ["step.completed", "good-completed"],
      ["step.failed", "bears-failed"],
      ["step.failed", "bad-failed"],
      ["run.failed", "mixed-failed"],
    ]);
    expect(JSON.parse(events[1]?.data ?? "")).toMatchObject({
      step_name: "good",
      step_type: "bash",
      output_lines: 2,
    });
  });
});

describe("DELETE /runs/{id}", () => {
  test("ends the step's processes, is final, and emits an event", async () => {
    await weft.storeWorkflow(`name: long
steps:
  - {name: s, type: bash, command: "echo $$ > pids; sleep 300 & echo $! >> pids; (trap '' TERM; sleep 300) & echo $! >> pids; wait"}
  - {name: after, type: bash, command: "touch after"}
`);
    const runId = await weft.startRun({ module: "long", workspace: "cancelled" });
    const pids = await waitUntil("three processes", async () => {
      const text = await readFile(join(weft.dataDir, "workspaces/cancelled/pids"), "utf8").catch(() => "");
      const found = text.trim().split("\n").map(Number);
      return found.length === 3 && found;
    });
    expect(pids.every(isAlive)).toBe(true);
    const answer = await weft.call("DELETE", `/runs/${runId}`);
    expect(answer.status).toBe(200);
    expect((await weft.get<{ data: RunRecord }>(`/runs/${runId}`)).data.status).toBe("cancelled");
    await waitUntil("the end of the processes", () => !pids.some(isAlive));
    const secondCancel = await weft.call("DELETE", `/runs/${runId}`);
    expect([secondCancel.status, secondCancel.message]).toEqual([400, expect.stringContaining("cancelled")]);
    await waitUntil(
      "all events to be processed",
      async () => (await weft.events({ processed: "false", run_id: runId })).length === 0,
    );
    expect((await weft.get<{ data: RunRecord }>(`/runs/${runId}`)).data).toMatchObject({
      status: "cancelled",
      completed_at: expect.stringMatching(/Z$/),
    });
    expect(Object.values(await weft.steps(runId)).map((step) => [step.step_name, step.status])).toEqual([
      ["s", "cancelled"],
    ]);
    expect((await weft.events({ run_id: runId })).map(({ topic }) => topic)).toEqual([
      "run.cancelled",
      "run.started",
    ]);
    expect((await weft.history(runId)).at(-1)).toMatchObject({ type: "run.cancelled" });
  });

  test("rejects the cancellation of an ended run", async () => {
    const run = await weft.run({ module: "hello" });
    const answer = await weft.call("DELETE", `/runs/${run.run_id}`);
    expect([answer.status, answer.message]).toEqual([400, "Cannot cancel run with status 'completed'"]);
  });
});

describe("flows and revisions", () => {
  test("a flow runs its modules in order of their dependencies, with their own steps and params", async () => {
    await weft.storeWorkflow("name: write\nsteps: [{name: s, type: bash, command: 'echo write >> order'}]");
    await weft.storeWorkflow(`name: tour
modules:
  - {name: z-first, path: write}
  - {name: m-second, depends_on: [z-first], steps: [{name: s, type: bash, command: "echo inline >> order"}]}
  - {name: a-third, depends_on: [m-second], path: common/write.yaml}
  - {name: last, depends_on: [a-third], steps: [{name: show, type: bash, command: "cat order"}]}
`);
    const run = await weft.run({ flow: "tour", workspace: "tour" });
    expect(run).toMatchObject({
      status: "completed",
      workflow_kind: "flow",
      total_steps: 4,
      completed_steps: 4,
    });
    expect((await weft.steps(run.run_id))["show"]?.output).toBe("write\ninline\nwrite");
    const started = (await weft.history(run.run_id)).filter(({ type }) => type === "module.started");
    expect(started.map((entry) => entry["name"])).toEqual(["z-first", "m-second", "a-third", "last"]);
  });

  test("a failing module fails the flow, and its dependents do not run", async () => {
    await weft.storeWorkflow(`name: broken
modules:
  - {name: one, path: hello}
  - {name: two, depends_on: [one], path: fails}
  - {name: three, depends_on: [two], path: hello}
`);
    const run = await weft.run({ flow: "broken" });
    expect(run).toMatchObject({ status: "failed", error_message: expect.stringContaining("exit code 7") });
    const modules = (await weft.get<{ data: { module: string }[] }>(`/runs/${run.run_id}/steps`)).data.map(
      ({ module }) => module,
    );
    expect(modules).toEqual(["one", "two"]);
  });

  test("rejects a flow with an unknown module", async () => {
    await weft.storeWorkflow("name: hole\nmodules: [{name: one, path: not-there}]");
    const answer = await weft.call("POST", "/runs", { body: { flow: "hole" } });
    expect([answer.status, answer.message]).toEqual([404, expect.stringContaining("not-there")]);
  });

  test("a run uses the revision that it started with", async () => {
    const yaml = (word: string) => `name: revised
steps:
  - {name: wait, type: bash, command: "until [ -f go ]; do sleep 0.02; done"}
  - {name: say, type: bash, command: "echo ${word}"}
`;
    await weft.storeWorkflow(yaml("old"));
    const runId = await weft.startRun({ module: "revised", workspace: "revised" });
    await waitUntil("its first step", async () => (await weft.steps(runId))["wait"]);
    expect((await weft.storeWorkflow(yaml("new"))).revision).toBe(2);
    await weft.storeWorkflow("name: opener\nsteps: [{name: s, type: bash, command: 'touch go'}]");
    await weft.run({ module: "opener", workspace: "revised" });
    expect(await weft.waitForRun(runId)).toMatchObject({ status: "completed", workflow_revision: 1 });
    expect((await weft.steps(runId))["say"]?.output).toBe("old");
    const next = await weft.run({ module: "revised", workspace: "revised" });
    expect((await weft.steps(next.run_id))["say"]?.output).toBe("new");
  });

  test("a run completes although its workflow is deleted meanwhile", async () => {
    await weft.storeWorkflow(
      "name: short-lived\nsteps: [{name: wait, type: bash, command: 'until [ -f go ]; do sleep 0.02; done'}, {name: s, type: bash, command: 'echo end'}]",
    );
    const runId = await weft.startRun({ module: "short-lived", workspace: "short" });
    await weft.call("DELETE", "/workflows/short-lived");
    await weft.run({ module: "opener", workspace: "short" });
    expect((await weft.waitForRun(runId)).status).toBe("completed");
  });
});
