import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { onTopic, readLog, readRuns, storeWorkflow } from "#lib/testing/test-workflows.ts";
import { hopToken, readCause } from "#lib/workflows/installation/hop-tokens.ts";
import { switchSchedule } from "#lib/workflows/schedules/manage.ts";
import * as create from "../runs/create.ts";
import * as emit from "./emit.ts";

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps();
});
afterEach(() => test.close());

const emitted = (headers: Record<string, string> = {}) =>
  call(test.deps, emit.route, { body: { topic: "custom.x" }, headers });

describe("the hop count of a call", () => {
  it("is passed in the environment of steps, and stops a loop through their calls after eight", async () => {
    await storeWorkflow(test.deps, onTopic("w", "custom.x"));
    let headers: Record<string, string> = {};
    const answers: string[][] = [];
    for (let n = 0; n < 10; n += 1) {
      answers.push((await emitted(headers)).body.triggered_workflows);
      await test.drain();
      // The header that a step of the started run would send.
      headers = { "Weft-Hop": test.commands.at(-1)?.env["WEFT_HOP"] ?? "" };
    }
    expect(answers.map(({ length }) => length)).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 1, 0]);
    expect((await readRuns(test.deps)).length).toBe(9);
    const { records } = await readLog(test.deps, { topic: "custom.x" });
    expect(records[0]?.error).toBe("event loop: more than 8 events triggered one another");
    const run = await call(test.deps, create.route, { body: { module: "w" }, headers });
    expect(run).toMatchObject({
      status: 400,
      body: { message: "weft-hop: more than 8 runs triggered one another" },
    });
  });

  it("continues with runs that a step starts by request", async () => {
    await storeWorkflow(test.deps, onTopic("w", "custom.x"));
    const token = await hopToken(test.deps, { run_id: "r", hop: 3, root_cause: "e" });
    const { status } = await call(test.deps, create.route, {
      body: { module: "w" },
      headers: { "Weft-Hop": token },
    });
    expect(status).toBe(202);
    await test.drain();
    expect(await readCause(test.deps, { "weft-hop": test.commands[0]?.env["WEFT_HOP"] ?? "" })).toEqual({
      hop: 5,
      root_cause: "e",
    });
  });

  it("is rejected if it was not signed here", async () => {
    const token = await hopToken(test.deps, { run_id: "run-1", hop: 7, root_cause: "run-1" });
    const other = await testDeps();
    const foreign = await hopToken(other.deps, { run_id: "run-1", hop: 0, root_cause: "run-1" });
    await other.close();
    const [runId, , rootCause, signature] = token.split(".");
    for (const forged of [
      `${runId}.0.${rootCause}.${signature}`,
      `${runId}.7.other.${signature}`,
      `${runId}.7.${signature}`,
      `run-2.7.${rootCause}.${signature}`,
      foreign,
      "0",
      "..",
      "x".repeat(9_999),
    ])
      expect(await emitted({ "Weft-Hop": forged })).toMatchObject({
        status: 400,
        body: { error: true, message: expect.stringMatching(/^weft-hop: must be/) },
      });
    expect(await readCause(test.deps, { "weft-hop": token })).toEqual({ hop: 8, root_cause: "run-1" });
    expect(await readCause(test.deps, {})).toEqual({ hop: 0 });
  });
});

describe("starting manually", () => {
  const manual = (enabled: boolean) =>
    `name: w\ntriggers: [{name: hand, type: manual, enabled: ${enabled}}]\nsteps: [{name: a, type: bash, command: echo}]\n`;
  const start = () => call(test.deps, create.route, { body: { module: "w" } });

  it("is rejected while the workflow's manual trigger is disabled", async () => {
    await storeWorkflow(test.deps, manual(false));
    expect(await start()).toMatchObject({
      status: 400,
      body: { message: "w cannot be started manually: its manual trigger is disabled" },
    });
    await switchSchedule(test.deps, "sch_w:hand", true);
    expect((await start()).status).toBe(202);
  });

  it("is allowed without a manual trigger, or with an enabled one", async () => {
    await storeWorkflow(test.deps, onTopic("w", "custom.x"));
    expect((await start()).status).toBe(202);
    await storeWorkflow(test.deps, manual(true));
    expect((await start()).status).toBe(202);
  });
});
