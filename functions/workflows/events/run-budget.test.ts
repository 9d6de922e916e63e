import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { onTopic, readLog, readRuns, storeWorkflow } from "#lib/testing/test-workflows.ts";
import { triggerStateTable } from "#lib/workflows/store/trigger-tables.ts";
import * as cancelMany from "../runs/cancel-many.ts";
import * as create from "../runs/create.ts";
import * as emit from "./emit.ts";

const BUDGET = 20;
const NAMES = ["a", "b", "c", "d"];

let test: TestDeps;
/** The command of each step. */
let act: (hop: string) => Promise<unknown>;

beforeEach(async () => {
  act = async () => undefined;
  test = await testDeps({
    settings: { RUNS_PER_ROOT_CAUSE_MAX: String(BUDGET) },
    command: async ({ env }) => {
      await act(env["WEFT_HOP"] ?? "");
      return {};
    },
  });
});
afterEach(() => test.close());

const emitted = (headers: Record<string, string> = {}) =>
  call(test.deps, emit.route, { body: { topic: "custom.x" }, headers });
const refused = async () => (await readLog(test.deps, { topic: "run.refused" })).records;

describe("the run budget of a root cause", () => {
  it("limits workflows that start each other, with one record, and starts again with the next event", async () => {
    for (const name of NAMES) await storeWorkflow(test.deps, onTopic(name, "custom.x"));
    act = (hop) => emitted({ "Weft-Hop": hop });
    for (const round of [1, 2]) {
      const { body } = await emitted();
      expect(body.triggered_workflows.toSorted()).toEqual(NAMES);
      await test.drain();
      expect((await readRuns(test.deps)).length).toBe(round * (NAMES.length + BUDGET));
      const records = await refused();
      expect(records.length).toBe(round);
      expect(records[0]).toMatchObject({
        error: expect.stringMatching(/has started 20 runs through other runs, .*RUNS_PER_ROOT_CAUSE_MAX/),
      });
      expect(JSON.parse(String(records[0]?.data))).toMatchObject({
        root_cause: body.event_id.slice("evt_".length),
        limit: BUDGET,
      });
    }
    const runs = await readRuns(test.deps);
    expect(new Set(runs.map(({ root_cause }) => root_cause)).size).toBe(2);
  });

  it("is visible in the response to an emit: rejected workflows are not listed as triggered", async () => {
    for (const name of NAMES) await storeWorkflow(test.deps, onTopic(name, "custom.x"));
    await emitted();
    await test.drain();
    const headers = { "Weft-Hop": test.commands[0]?.env["WEFT_HOP"] ?? "" };
    const counts: number[] = [];
    for (let n = 0; n < 7; n += 1) counts.push((await emitted(headers)).body.triggered_workflows.length);
    expect(counts).toEqual([4, 4, 4, 4, 4, 0, 0]);
    expect((await refused()).length).toBe(1);
  });

  it("rejects runs that steps start by request", async () => {
    await storeWorkflow(test.deps, "name: w\nsteps: [{name: s, type: bash, command: echo}]\n");
    const start = (headers: Record<string, string> = {}) =>
      call(test.deps, create.route, { body: { module: "w", target: "t" }, headers });
    await start();
    await test.drain();
    const headers = { "Weft-Hop": test.commands[0]?.env["WEFT_HOP"] ?? "" };
    const statuses = [];
    for (let n = 0; n < BUDGET + 2; n += 1) statuses.push((await start(headers)).status);
    expect(statuses.slice(0, BUDGET)).toEqual(Array(BUDGET).fill(202));
    expect(statuses.slice(BUDGET)).toEqual([400, 400]);
    expect((await refused()).length).toBe(1);
    expect((await start()).status).toBe(202);
  });

  it("does not apply to events from outside", async () => {
    await storeWorkflow(test.deps, onTopic("a", "custom.x"));
    const { body } = await emitted();
    await test.drain();
    const [run] = await readRuns(test.deps);
    expect(run?.root_cause).toBe(body.event_id.slice("evt_".length));
    const key = { pk: `root:${run?.root_cause}`, sk: "runs" };
    expect(await test.deps.tables.get(triggerStateTable, key)).toBeUndefined();
  });
});

describe("cancelling many runs", () => {
  const cancel = (body: object) => call(test.deps, cancelMany.route, { body });
  const pending = async (module: string): Promise<string> =>
    (await call(test.deps, create.route, { body: { module, target: "t" } })).body.run_id;

  beforeEach(async () => {
    for (const name of NAMES) await storeWorkflow(test.deps, onTopic(name, "custom.x"));
  });

  it("cancels the runs of a workflow, and no others", async () => {
    const [first, second, other] = [await pending("a"), await pending("a"), await pending("b")];
    const { status, body } = await cancel({ workflow: "a" });
    expect([status, body]).toEqual([
      200,
      {
        message: "Runs cancelled",
        cancelled: 2,
        remaining: 0,
        run_ids: expect.arrayContaining([first, second]),
      },
    ]);
    const runs = await readRuns(test.deps);
    expect(runs.find(({ run_id }) => run_id === other)?.status).toBe("pending");
    expect((await cancel({ workflow: "a" })).body).toMatchObject({ cancelled: 0, remaining: 0 });
  });

  it("cancels the runs of a trigger, combining all filters", async () => {
    await emitted();
    await test.drain(["conduct", "bash"]);
    const [run] = await readRuns(test.deps);
    expect((await cancel({ trigger: run?.trigger_name, workflow: "none" })).body.cancelled).toBe(0);
    expect((await cancel({ trigger: "other" })).body.cancelled).toBe(0);
    expect((await cancel({ trigger: run?.trigger_name, workflow: "b" })).body.cancelled).toBe(1);
  });

  it("cancels the runs of a root cause, which starts no further ones", async () => {
    let hop = "";
    act = async (token) => {
      hop ||= token;
    };
    const { body } = await emitted();
    await test.drain();
    expect((await emitted({ "Weft-Hop": hop })).body.triggered_workflows.length).toBe(4);
    await test.drain(["conduct", "bash"]);
    const other = await pending("a");
    expect((await cancel({ root_cause: body.event_id.slice(4) })).body).toMatchObject({
      cancelled: 4,
      remaining: 0,
    });
    expect((await emitted({ "Weft-Hop": hop })).body.triggered_workflows).toEqual([]);
    const runs = await readRuns(test.deps);
    expect(runs.find(({ run_id }) => run_id === other)?.status).toBe("pending");
  });

  it.each([
    [{}, /at least one of root_cause, workflow and trigger/],
    [{ workflow: "" }, /workflow: must not be empty/],
    [{ root_cause: 5 }, /root_cause: /],
    [{ trigger: "x".repeat(600) }, /trigger: /],
  ])("rejects %j", async (body, message) => {
    expect(await cancel(body)).toMatchObject({
      status: 400,
      body: { error: true, message: expect.stringMatching(message) },
    });
  });
});
