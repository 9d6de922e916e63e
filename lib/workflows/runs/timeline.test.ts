import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { handler } from "../../../functions/workflows/runs/timeline.ts";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { call } from "../../testing/test-handler-call.ts";
import { storeWorkflow } from "../../testing/test-workflows.ts";
import { resumeRun } from "./resume.ts";
import { startBody, startRun } from "./start.ts";
import { foldTimeline, type TimelineStep } from "./timeline.ts";

const WORKFLOW = `
name: many
steps:
  - {name: first, type: bash, command: "first"}
  - {name: loop, type: foreach, input: [a, b, c, d], variable: v, parallel: 2, step: {name: one, type: bash, command: "item [[v]]"}, on_error: [{action: continue}]}
  - name: both
    type: parallel-steps
    parallel_steps: [{name: left, type: bash, command: left}, {name: right, type: bash, command: right, pre_condition: "false"}]
  - {name: last, type: bash, command: last, retry: {max_attempts: 2, delay: 1s}}
`;

let test: TestDeps;
let isFailing: boolean;
beforeEach(async () => {
  isFailing = true;
  test = await testDeps({
    command: async ({ argv, env }) => {
      const text = `${argv.at(-1)} ${Object.values(env ?? {}).join(" ")}`;
      if (isFailing && text.includes("last")) return { exitCode: 1 };
      return text.startsWith("item") && /\bb\b/.test(text) ? { exitCode: 2 } : { stdout: "x" };
    },
    script: async () => ({ value: false }),
  });
  await storeWorkflow(test.deps, WORKFLOW);
});
afterEach(() => test.close());

const start = async (): Promise<string> =>
  (await startRun(test.deps, startBody.parse({ module: "many", target: "t" }))).run_id;

async function timeline(id: string, query: Record<string, string> = {}) {
  const { status, json } = await call(test.deps, handler, {
    params: { id },
    query: { limit: "100", ...query },
  });
  expect(status).toBe(200);
  return json as { data: TimelineStep[]; pagination: { total: number } };
}

describe("GET /runs/{id}/timeline", () => {
  it("lists steps with attempts, containers, items and errors, also while they wait", async () => {
    const id = await start();
    await test.drain();
    const { data, pagination } = await timeline(id);
    expect(pagination.total).toBe(6);
    expect(data.map(({ key, parent, status }) => [key, parent, status])).toEqual([
      ["first", null, "completed"],
      ["loop", null, "failed"],
      ["both", null, "completed"],
      ["left", "both", "completed"],
      ["right", "both", "skipped"],
      ["last", null, "waiting"],
    ]);
    expect(data[1]?.items).toEqual({
      step: "one",
      total: 4,
      completed: 3,
      failed: 1,
      items_per_state: 1,
      states: "1c1f2c",
    });
    expect(data[5]).toMatchObject({
      completed_at: null,
      attempts: [{ status: "failed" }],
      error_message: "command failed with exit code 1",
    });
    expect(data[5]?.retry_at).toMatch(/^\d{4}-/);
    expect((await timeline(id, { offset: "1", limit: "1" })).data.map(({ key }) => key)).toEqual(["loop"]);
  });

  it("tells what a resumed run has taken over", async () => {
    const id = await start();
    await test.drain();
    test.clock.advance(2_000);
    await test.tick();
    expect((await timeline(id)).data.at(-1)).toMatchObject({
      status: "failed",
      attempts: [{ status: "failed" }, { status: "failed" }],
    });
    isFailing = false;
    const { run } = await resumeRun(test.deps, id);
    test.clock.advance(1_000);
    await test.drain();
    const { data } = await timeline(run.run_id);
    expect(data.map(({ key, taken_over, status }) => [key, taken_over, status])).toEqual([
      ["first", true, "completed"],
      ["loop", true, "failed"],
      ["both", true, "completed"],
      ["left", true, "completed"],
      ["right", true, "skipped"],
      ["last", false, "completed"],
    ]);
  });

  it("returns 404 for an unknown run", async () => {
    expect((await call(test.deps, handler, { params: { id: "nope" } })).status).toBe(404);
  });
});

it("shows open steps of a cancelled run as cancelled, and lists of many items in groups", () => {
  const at = "2026-03-02T10:00:00.000Z";
  const step = { module: 0, parent: null, dispatch: 1 };
  const run = { created_at: at, modules: [{ name: "m", workflow: "m", revision: 1 }] };
  const [row] = foldTimeline(run, [
    {
      at,
      entries: [
        { type: "step.requested", key: "l", step: "l", step_type: "foreach", phase: "enter", ...step },
        { type: "step.finished", key: "l", status: "completed", total: 25_000 },
        {
          type: "step.requested",
          key: "o#0",
          step: "o",
          step_type: "bash",
          phase: "run",
          ...step,
          parent: "l",
          items: [0, 1_000],
        },
        { type: "step.finished", key: "o#0", status: "failed", failed_items: 1, failed_at: "4" },
      ],
    },
    { at: "2026-03-02T10:00:01.000Z", entries: [{ type: "run.cancelled", reason: "" }] },
  ]);
  expect(row).toMatchObject({
    status: "cancelled",
    completed_at: "2026-03-02T10:00:01.000Z",
    items: { total: 25_000, completed: 999, failed: 1, items_per_state: 3, states: "1c1f331c8001p" },
  });
});
