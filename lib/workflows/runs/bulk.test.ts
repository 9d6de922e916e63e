import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { handler as cancelHandler } from "../../../functions/workflows/runs/cancel-many.ts";
import { handler as rerunHandler } from "../../../functions/workflows/runs/rerun-many.ts";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { requestOf } from "../../testing/test-requests.ts";
import { storeWorkflow } from "../../testing/test-workflows.ts";
import { forEachRun } from "./bulk.ts";
import { getRun } from "./read.ts";
import { startBody, startRun } from "./start.ts";

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps();
  await storeWorkflow(
    test.deps,
    'name: one\nparams: [{name: depth, default: "1"}]\nsteps: [{name: s, type: bash, command: "echo {{depth}}"}]',
  );
});
afterEach(() => test.close());

const start = async (target: string): Promise<string> =>
  (await startRun(test.deps, startBody.parse({ module: "one", target, params: { depth: "2" } }))).run_id;

const post = async (op: "cancel" | "rerun", body: unknown) => {
  const handler = op === "cancel" ? cancelHandler : rerunHandler;
  const answer = await handler(requestOf("POST", `/runs/${op}`, { body }), { weft: test.deps });
  return { status: answer.statusCode, json: JSON.parse(answer.body) };
};

describe("POST /runs/cancel with ids", () => {
  it("cancels the runs and returns a result for each, in order", async () => {
    const [done, ended] = [await start("a"), await start("b")];
    await test.drain();
    const open = await start("c");
    const { number } = await getRun(test.deps, open);
    const { status, json } = await post("cancel", { ids: [String(number), ended, "none", ended] });
    expect(status).toBe(200);
    expect(json).toEqual({
      message: "Runs cancelled",
      cancelled: 1,
      remaining: 0,
      run_ids: [open],
      results: [
        { id: String(number), ok: true, run_id: open, error: "" },
        { id: ended, ok: false, run_id: "", error: "Cannot cancel run with status 'completed'" },
        { id: "none", ok: false, run_id: "", error: "Run not found" },
      ],
    });
    expect((await getRun(test.deps, open)).status).toBe("cancelled");
    expect((await getRun(test.deps, done)).status).toBe("completed");
  });

  it("refuses no ids, too many, and ids together with filters", async () => {
    const messages = async (body: unknown) => (await post("cancel", body)).json.message;
    expect(await messages({ ids: [] })).toMatch(/^ids: must name at least one run/);
    expect(await messages({ ids: Array.from({ length: 101 }, (_, at) => `r${at}`) })).toMatch(
      /^ids: must name at most 100/,
    );
    expect(await messages({ ids: ["1"], workflow: "one" })).toMatch(/^ids: cannot be combined/);
    expect(await messages({})).toMatch(/ids, or at least one of/);
  });
});

describe("POST /runs/rerun", () => {
  it("starts a run like each of the runs, with some params changed", async () => {
    const ids = [await start("a"), await start("b")];
    await test.drain();
    const { status, json } = await post("rerun", { ids: [...ids, "none"], params: { depth: 3 } });
    expect([status, json.started, json.results.length]).toEqual([202, 2, 3]);
    expect(json.results[2]).toEqual({ id: "none", ok: false, run_id: "", error: "Run not found" });
    for (const [at, target] of ["a", "b"].entries()) {
      const run = await getRun(test.deps, json.results[at].run_id);
      expect(run).toMatchObject({
        target,
        params: { depth: "3" },
        source: { run_id: ids[at], action: "rerun" },
      });
    }
  });
});

it("leaves runs alone for which there is no time, and says so", async () => {
  const touched: string[] = [];
  const results = await forEachRun(test.deps, ["a", "b"], async (id) => {
    touched.push(id);
    return id;
  });
  expect(results.map(({ ok }) => ok)).toEqual([true, true]);
  let acts = 0;
  const ids = Array.from({ length: 9 }, (_, at) => `r${at}`);
  const late = await forEachRun(test.deps, ids, async (id) => {
    acts += 1;
    test.clock.advance(30_000);
    return id;
  });
  expect(acts).toBeLessThan(9);
  expect(late.at(-1)).toMatchObject({ ok: false, error: expect.stringContaining("no time") });
});
