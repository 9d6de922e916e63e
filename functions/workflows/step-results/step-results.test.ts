import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { emitEvent } from "#lib/events/emit.ts";
import { type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { call } from "#lib/testing/test-handler-call.ts";
import { storeWorkflow } from "#lib/testing/test-workflows.ts";
import { sweepLists } from "#lib/workflows/records/index-lists.ts";
import { startRun } from "#lib/workflows/runs/start.ts";
import { handler as names } from "../workspaces/names.ts";
import { handler } from "./list.ts";

const STEPS = `
name: three
steps:
  - {name: first, type: bash, command: echo}
  - {name: second, type: function, function: "1"}
  - {name: third, type: bash, command: "false", pre_condition: "1"}
`;

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps({
    command: async ({ argv }) => (argv.includes("false") ? { exitCode: 1 } : {}),
  });
  await storeWorkflow(test.deps, STEPS);
});
afterEach(() => test.close());

const start = async (workspace = "w") => {
  test.clock.advance(1_000);
  return (await startRun(test.deps, { module: "three", target: "t", workspace })).run_id;
};
const list = async (query: Record<string, string> = {}) => {
  const { status, json } = await call(test.deps, handler, { query: { limit: "1000", ...query } });
  expect(status).toBe(200);
  return json as { data: { run_id: string; step_name: string }[]; pagination: { total: number } };
};

it("requires a token", async () => {
  expect((await call(test.deps, handler, { token: null })).status).toBe(401);
});

it("lists each finished step once, by each filter and at any offset, regardless of its run's and the index's progress", async () => {
  const runs: string[] = [];
  const expectAll = async (): Promise<void> => {
    const { data, pagination } = await list();
    expect(pagination.total).toBe(data.length);
    const names = data.map(({ run_id, step_name }) => `${run_id} ${step_name}`);
    expect(new Set(names).size).toBe(names.length);
    const paged: string[] = [];
    for (let offset = 0; offset < data.length; offset += 4)
      for (const { run_id, step_name } of (await list({ offset: String(offset), limit: "4" })).data)
        paged.push(`${run_id} ${step_name}`);
    expect(paged).toEqual(names);
  };
  for (let n = 0; n < 6; n += 1) {
    runs.push(await start(n % 2 === 0 ? "w" : "other"));
    await test.drain(n % 3 === 0 ? ["index-events"] : n % 3 === 1 ? ["bash"] : []);
    await expectAll();
  }
  await test.drain();
  await sweepLists(test.deps);
  await sweepLists(test.deps);
  await expectAll();
  const all = await list();
  expect(all.pagination.total).toBe(18);
  expect(all.data.map(({ run_id }) => run_id).slice(0, 3)).toEqual(Array(3).fill(runs.at(-1)));
  expect((await list({ workspace: "w" })).pagination.total).toBe(9);
  expect((await list({ step_type: "function" })).pagination.total).toBe(6);
  const failed = await list({ status: "failed" });
  expect(failed.data.map(({ step_name }) => step_name)).toEqual(Array(6).fill("third"));
  expect((await list({ status: "success", run_uuid: runs[0] ?? "" })).pagination.total).toBe(2);
  expect((await list({ run_id: "none" })).pagination.total).toBe(0);
});

it("ignores events emitted by others", async () => {
  const run_id = await start();
  await test.drain();
  await emitEvent(test.deps, { topic: "run.started", run_id, workspace: "made-up", data: {} });
  await emitEvent(test.deps, { topic: "run.started", run_id: "none", workspace: "made-up", data: {} });
  await test.drain();
  await sweepLists(test.deps);
  expect((await list()).pagination.total).toBe(3);
  expect((await call(test.deps, names)).json).toEqual({ data: ["w"], count: 1 });
});

it("adds the steps of a run in several batches if there are many", async () => {
  const steps = Array.from({ length: 130 }, (_, n) => `  - {name: s${n}, type: function, function: "1"}`);
  await storeWorkflow(test.deps, `name: many\nsteps:\n${steps.join("\n")}\n`);
  await startRun(test.deps, { module: "many", target: "t" });
  await test.drain();
  expect((await list()).pagination.total).toBe(130);
  expect((await list({ offset: "125" })).data).toHaveLength(5);
});

it("shows the progress of a run that is idle for a while", async () => {
  const clock = vi.spyOn(performance, "now");
  try {
    const names = async () => (await list()).data.map(({ step_name }) => step_name);
    await start();
    await test.drain(["bash"]);
    for (const now of [0, 2_000, 4_000]) {
      clock.mockReturnValue(now);
      expect(await names()).toEqual([]);
    }
    await test.drain(["function"]);
    expect(await names()).toEqual(["first"]);
    for (const now of [6_000, 8_000]) {
      clock.mockReturnValue(now);
      expect(await names()).toEqual(["first"]);
    }
    await test.drain();
    expect(await names()).toEqual(["third", "second", "first"]);
  } finally {
    clock.mockRestore();
  }
});
