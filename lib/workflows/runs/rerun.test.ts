import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { handler as duplicateHandler } from "../../../functions/workflows/runs/duplicate.ts";
import { handler as rerunHandler } from "../../../functions/workflows/runs/rerun.ts";
import { handler as resumeHandler } from "../../../functions/workflows/runs/resume.ts";
import { handler as startHandler } from "../../../functions/workflows/runs/start.ts";
import { emitEvent } from "../../events/emit.ts";
import type { Handler } from "../../http/handler.ts";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { requestOf } from "../../testing/test-requests.ts";
import { readLog, readRuns, storeWorkflow } from "../../testing/test-workflows.ts";
import { cancelRun } from "./cancel.ts";
import { getRun, listHistory, listSteps } from "./read.ts";
import { resendStalledRuns } from "./resend-stalled.ts";
import { startBody, startRun } from "./start.ts";

const STEPS = `
name: three
params: [{name: depth, default: "3"}, {name: word, default: plain text}]
steps:
  - {name: a, type: bash, command: "echo a {{depth}} {{word}}", exports: {kept: output}}
  - {name: b, type: bash, command: "fail-b {{a_output}}"}
  - {name: c, type: bash, command: "echo c {{kept}} {{RunID}}"}
`;

let test: TestDeps;
let failing = true;
beforeEach(async () => {
  failing = true;
  test = await testDeps({
    command: async ({ argv }) =>
      failing && argv.some((text) => text.includes("fail")) ? { exitCode: 1 } : { stdout: "made by a\n" },
  });
  await storeWorkflow(test.deps, STEPS);
});
afterEach(() => test.close());

const HANDLERS = {
  start: startHandler,
  duplicate: duplicateHandler,
  resume: resumeHandler,
  rerun: rerunHandler,
} satisfies Record<string, Handler>;
const post = async (op: keyof typeof HANDLERS, id: string, body?: unknown) => {
  const request = requestOf("POST", `/runs/${id}/${op}`, { params: { id }, body });
  const answer = await HANDLERS[op](request, { weft: test.deps });
  return { status: answer.statusCode, json: JSON.parse(answer.body) };
};
const start = async (more: Record<string, unknown> = {}): Promise<string> =>
  (await startRun(test.deps, startBody.parse({ module: "three", target: "t", ...more }))).run_id;
const ran = async (more: Record<string, unknown> = {}): Promise<string> => {
  const id = await start(more);
  await test.drain();
  return id;
};

describe("a run by its number", () => {
  it("equals the run by its id", async () => {
    const id = await ran();
    const run = await getRun(test.deps, id);
    expect((await getRun(test.deps, String(run.number))).run_id).toBe(id);
    expect(await listSteps(test.deps, String(run.number))).toEqual(await listSteps(test.deps, id));
    expect(await listHistory(test.deps, String(run.number))).toEqual(await listHistory(test.deps, id));
    await expect(getRun(test.deps, "999999")).rejects.toMatchObject({ code: "not_found" });
  });

  it("can be cancelled", async () => {
    const id = await start();
    const { number } = await getRun(test.deps, id);
    expect((await cancelRun(test.deps, String(number))).run_id).toBe(id);
  });
});

describe("POST /runs/{id}/duplicate", () => {
  it("creates a copy that stays pending until it is started", async () => {
    failing = false;
    const id = await ran({ params: { depth: 7 }, priority: "high", timeout: 5, workspace: "shared place" });
    const { status, json } = await post("duplicate", id);
    expect([status, json]).toMatchObject([
      201,
      { message: "Run duplicated", original_run_uuid: id, workflow: "three", target: "t", status: "pending" },
    ]);
    expect(json.run_uuid).not.toBe(id);
    test.clock.advance(60 * 60_000);
    await resendStalledRuns(test.deps);
    await test.drain();
    const [original, copy] = [await getRun(test.deps, id), await getRun(test.deps, json.run_uuid)];
    expect(copy).toMatchObject({
      status: "pending",
      params: original.params,
      priority: "high",
      timeout: 5,
      workspace: original.workspace,
    });
    expect(await post("start", json.run_uuid)).toMatchObject({
      status: 202,
      json: { message: "Run started", run_uuid: json.run_uuid, kind: "module", status: "queued" },
    });
    await test.drain();
    expect((await getRun(test.deps, json.run_uuid)).status).toBe("completed");
    const [first] = await listSteps(test.deps, json.run_uuid);
    // A default stays trusted workflow text: it is not a value from outside.
    expect(first?.command).toBe("echo a 7 plain text");
    expect(test.commands.at(0)?.argv).toEqual(test.commands.at(3)?.argv);
  });

  it("keeps the event of a triggered run", async () => {
    failing = false;
    await storeWorkflow(
      test.deps,
      "name: heard\ntriggers: [{type: event, topic: custom.x}]\nsteps: [{name: s, type: bash, command: 'echo {{event_data.word}}'}]\n",
    );
    await emitEvent(test.deps, { topic: "custom.x", data: { word: "spoken" } });
    await test.drain();
    const [run] = await readRuns(test.deps);
    const { json } = await post("duplicate", run?.run_id ?? "");
    await post("start", json.run_id);
    await test.drain();
    expect((await listSteps(test.deps, json.run_id))[0]?.command).toBe("echo spoken");
  });

  it("is not found if the run or its workflow does not exist", async () => {
    expect((await post("duplicate", "none")).status).toBe(404);
  });
});

describe("POST /runs/{id}/start", () => {
  it("accepts only pending runs", async () => {
    const id = await ran();
    const { status, json } = await post("start", id);
    expect([status, json.message]).toEqual([
      400,
      "Cannot start run with status 'failed'. Only runs with 'pending' status can be started.",
    ]);
  });

  it("starts a run once, however often it is requested", async () => {
    failing = false;
    const { json } = await post("duplicate", await ran());
    expect((await post("start", json.run_id)).status).toBe(202);
    expect((await post("start", json.run_id)).status).toBe(202);
    await test.drain();
    expect(await listSteps(test.deps, json.run_id)).toHaveLength(3);
    expect(test.commands).toHaveLength(6);
  });
});

describe("POST /runs/{id}/rerun", () => {
  it("starts a run with some parameters changed", async () => {
    failing = false;
    const id = await ran({ params: { depth: 7, extra: "e" } });
    const { status, json } = await post("rerun", id, { params: { depth: 9 } });
    expect([status, json.status]).toEqual([202, "queued"]);
    await test.drain();
    const run = await getRun(test.deps, json.run_id);
    expect(run).toMatchObject({
      status: "completed",
      params: { depth: "9", extra: "e", word: "plain text" },
    });
  });

  it.each([
    [{ params: 1 }, "params: must be an object of texts, numbers, true or false"],
    [{ params: { a: {} } }, "params.a: must be text, a number, true or false"],
  ])("rejects %j", async (body, message) => {
    const { status, json } = await post("rerun", await ran(), body);
    expect([status, json.message]).toEqual([400, message]);
  });
});

describe("POST /runs/{id}/resume", () => {
  it("continues from the failed step, with the values of earlier steps", async () => {
    const id = await ran();
    expect(await getRun(test.deps, id)).toMatchObject({ status: "failed", completed_steps: 1 });
    failing = false;
    const begun = test.commands.length;
    const { status, json } = await post("resume", id);
    expect([status, json]).toMatchObject([
      202,
      { message: "Run resumed", original_run_uuid: id, status: "running" },
    ]);
    await test.drain();
    const run = await getRun(test.deps, json.run_id);
    expect(run).toMatchObject({ status: "completed", completed_steps: 3, workspace: "t", total_steps: 3 });
    expect(test.commands.length - begun).toBe(2);
    const steps = await listSteps(test.deps, json.run_id);
    expect(steps.map(({ step_name, status: ended, attempt }) => [step_name, ended, attempt])).toEqual([
      ["a", "completed", 1],
      ["b", "completed", 2],
      ["c", "completed", 1],
    ]);
    expect(steps[2]?.command).toBe(`echo c made by a ${json.run_id}`);
    // Earlier results are unchanged.
    expect(await getRun(test.deps, id)).toMatchObject({ status: "failed", completed_steps: 1 });
    expect((await readLog(test.deps, { run_id: json.run_id })).records.map(({ topic }) => topic)).toEqual([
      "run.completed",
      "step.completed",
      "step.completed",
    ]);
  });

  it("can fail and be resumed repeatedly", async () => {
    const first = (await post("resume", await ran())).json.run_id;
    await test.drain();
    expect((await getRun(test.deps, first)).status).toBe("failed");
    failing = false;
    const second = (await post("resume", first)).json.run_id;
    await test.drain();
    expect((await getRun(test.deps, second)).status).toBe("completed");
    expect((await listSteps(test.deps, second)).map(({ attempt }) => attempt)).toEqual([1, 3, 1]);
  });

  it("continues a loop in which the run was stopped", async () => {
    await storeWorkflow(
      test.deps,
      'name: loop\nsteps: [{name: all, type: foreach, input: \'["x", "y"]\', variable: v, step: {name: one, type: bash, command: "echo [[v]]"}}]\n',
    );
    const id = (await startRun(test.deps, startBody.parse({ module: "loop", timeout: 1 }))).run_id;
    await test.drain(["bash"]);
    test.clock.advance(61_000);
    await test.deps.scheduler.sweepTimers(test.clock.now());
    await test.tick();
    expect((await getRun(test.deps, id)).error_message).toBe("run timed out after 1 minute");
    const { json } = await post("resume", id);
    await test.drain();
    expect((await getRun(test.deps, json.run_id)).status).toBe("completed");
    expect(
      test.commands.slice(-2).map(({ env }) => Object.values(env).filter((v) => /^[xy]$/.test(v))),
    ).toEqual([["x"], ["y"]]);
  });

  it("rejects runs that did not fail, or failed before their first step", async () => {
    failing = false;
    const done = await post("resume", await ran());
    expect([done.status, done.json.message]).toEqual([
      400,
      "Cannot resume run with status 'completed'. Only runs with 'failed' status can be resumed.",
    ]);
    const waiting = await start();
    expect((await post("resume", waiting)).status).toBe(400);
    await cancelRun(test.deps, waiting);
    expect((await post("resume", waiting)).json.message).toMatch(/'cancelled'/);
    await storeWorkflow(
      test.deps,
      "name: needs\nparams: [{name: must, required: true}]\ntriggers: [{type: event, topic: custom.n}]\nsteps: [{name: s, type: bash, command: echo}]\n",
    );
    await emitEvent(test.deps, { topic: "custom.n" });
    await test.drain();
    const failed = (await readRuns(test.deps)).find((run) => run.workflow_name === "needs");
    expect((await post("resume", failed?.run_id ?? "")).json.message).toMatch(/failed before its first step/);
  });
});
