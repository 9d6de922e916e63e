import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { handler } from "../../../functions/workflows/runs/replay.ts";
import { handler as resumeHandler } from "../../../functions/workflows/runs/resume.ts";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { requestOf } from "../../testing/test-requests.ts";
import { storeWorkflow } from "../../testing/test-workflows.ts";
import { cancelRun } from "./cancel.ts";
import { getRun, listHistory, listSteps, toRunRecord } from "./read.ts";
import { startBody, startRun } from "./start.ts";

const WORKFLOW = `
name: four
params: [{name: word, default: plain}, {name: needed, required: true, default: n}, {name: isOn, type: bool, default: "false"}]
steps:
  - {name: a, type: bash, command: "echo one", exports: {state: output}}
  - {name: b, type: bash, command: "echo b {{a_output}} {{state}} {{word}} {{isOn}}"}
  - {name: c, type: bash, command: "echo c {{b_output}}", exports: {state: output}}
  - name: d
    type: parallel-steps
    parallel_steps:
      - {name: inner, type: bash, command: "echo d {{state}}"}
`;

let test: TestDeps;
let commands: string[];
let failing: string | undefined;
beforeEach(async () => {
  commands = [];
  failing = undefined;
  test = await testDeps({
    command: async ({ argv, env }) => {
      // Values are passed in the environment.
      const text = (argv.at(-1) ?? "").replaceAll(/"\$\{(\w+)\}"/g, (_, name: string) => `<${env[name]}>`);
      commands.push(text);
      return failing !== undefined && text.includes(failing)
        ? { exitCode: 1 }
        : { stdout: `made by ${/echo (\w+)/.exec(text)?.[1]}\n` };
    },
  });
  await storeWorkflow(test.deps, WORKFLOW);
});
afterEach(() => test.close());

async function ran(body: object = { module: "four" }): Promise<string> {
  const { run_id } = await startRun(test.deps, startBody.parse({ target: "t", ...body }));
  await test.drain();
  return run_id;
}

const post = async (id: string, body: unknown) => {
  const request = requestOf("POST", `/runs/${id}/replay`, { params: { id }, body });
  const { statusCode, body: text } = await handler(request, { weft: test.deps });
  return { status: statusCode, json: JSON.parse(text) };
};

async function replayed(id: string, body: unknown) {
  commands = [];
  const { status, json } = await post(id, body);
  expect([status, json.message]).toEqual([202, "Run replayed"]);
  await test.drain();
  return toRunRecord(await getRun(test.deps, json.run_id));
}

describe("POST /runs/{id}/replay", () => {
  it("executes a step and those after it with edited parameters and results, and takes over the rest", async () => {
    const id = await ran();
    const before = [await listSteps(test.deps, id), await listHistory(test.deps, id)];
    const run = await replayed(id, {
      step: "b",
      params: { word: "it's new", isOn: true },
      values: { a_output: "edited; rm -rf /", state: { deep: [1] } },
    });
    expect(run).toMatchObject({
      status: "completed",
      params: { word: "it's new" },
      completed_steps: 4,
      source: { run_id: id, action: "replay", step: "b" },
      root_cause: id,
      workspace: "t",
    });
    expect(commands).toHaveLength(3);
    expect(commands[0]).toBe(`echo b <edited; rm -rf /> <{"deep":[1]}> <it's new> <true>`);
    const steps = await listSteps(test.deps, run.run_id);
    expect(steps.map(({ step_name, attempt }) => [step_name, attempt])).toEqual([
      ["a", 1],
      ["b", 2],
      ["c", 1],
      ["inner", 1],
      ["d", 1],
    ]);
    expect([await listSteps(test.deps, id), await listHistory(test.deps, id)]).toEqual(before);
    expect(toRunRecord(await getRun(test.deps, id)).source).toBeNull();
  });

  it("gives a step the results that it had, not those of later steps", async () => {
    const id = await ran();
    const original = commands[1];
    const run = await replayed(id, { step: "b" });
    expect(commands[0]).toBe(original);
    expect(original).toContain("<made by one>");
    // Also from a replayed run, from its first step, and from a container.
    await replayed(run.run_id, { step: "b" });
    expect(commands[0]).toBe(original);
    await replayed(run.run_id, { step: "a" });
    expect(commands).toHaveLength(4);
    await replayed(id, { step: "d", values: { state: "s" } });
    expect(commands).toEqual(["echo d <s>"]);
  });

  it("begins before the failed step of a failed run, and with the step of a cancelled one", async () => {
    failing = "echo c";
    const id = await ran();
    expect((await getRun(test.deps, id)).status).toBe("failed");
    expect((await post(id, { step: "d" })).json.message).toBe("step: 'd' was not executed in this run");
    failing = undefined;
    expect(await replayed(id, { step: "a" })).toMatchObject({ status: "completed" });
    const resumed = await resumeHandler(requestOf("POST", "/", { params: { id } }), { weft: test.deps });
    await test.drain();
    const { run_id } = JSON.parse(resumed.body);
    expect(toRunRecord(await getRun(test.deps, run_id)).source).toEqual({
      run_id: id,
      action: "resume",
      step: "",
    });
    const { run_id: held } = await startRun(test.deps, startBody.parse({ module: "four", target: "t" }));
    await cancelRun(test.deps, held);
    expect((await post(held, { step: "a" })).json.message).toBe("step: 'a' was not executed in this run");
  });

  it("names a step of a flow with its module", async () => {
    await storeWorkflow(
      test.deps,
      "kind: flow\nname: both\nmodules: [{name: first, path: four}, {name: second, path: four, depends_on: [first]}]",
    );
    const id = await ran({ flow: "both" });
    const run = await replayed(id, { step: "second/c", values: { b_output: "edited" } });
    expect(run.status).toBe("completed");
    expect(commands).toEqual(["echo c <edited>", expect.stringMatching(/^echo d /)]);
    expect((await post(id, { step: "c" })).json.message).toMatch(
      /^step: the run has no step 'c'; it has first\/a, first\/b/,
    );
  });

  it("reports each invalid field", async () => {
    const id = await ran();
    const { status, json } = await post(id, {
      step: "c",
      params: { unknown: "x", needed: "", target: "other" },
      values: { c_output: "x", __proto__x: 1 },
    });
    expect(status).toBe(400);
    expect(json.message.split("; ")).toEqual([
      "params.unknown: the run has no such parameter",
      "it has word, needed, isOn",
      "params.needed: must not be empty",
      "params.target: the run has no such parameter",
      "it has word, needed, isOn",
      "values.c_output: no earlier step has this output or export",
      "they have a_output, state, b_output",
      "values.__proto__x: no earlier step has this output or export",
      "they have a_output, state, b_output",
    ]);
  });

  it.each([
    [{}, "step"],
    [{ step: "" }, "step: must not be empty"],
    [{ step: "x".repeat(600) }, "step"],
    [{ step: "nope" }, "step: the run has no step 'nope'; it has a, b, c, d"],
    [{ step: "inner" }, "step: 'inner' is inside another step: replay from that one"],
    [{ step: "b", params: { word: [] } }, "params.word: must be text, a number, true or false"],
    [{ step: "b", values: [] }, "values"],
    [
      { step: "b", values: Object.fromEntries(Array.from({ length: 257 }, (_, at) => [`v${at}`, at])) },
      "values: must have at most 256 entries",
    ],
  ])("%j returns 400", async (body, message) => {
    const { status, json } = await post(await ran(), body);
    expect([status, json.message]).toEqual([400, expect.stringContaining(message)]);
  });

  it("refuses a run that has not ended, and an unknown one", async () => {
    const { run_id } = await startRun(test.deps, startBody.parse({ module: "four", target: "t" }));
    expect((await post(run_id, { step: "a" })).json.message).toBe(
      "Cannot replay run with status 'pending'. Only runs that have ended can be replayed.",
    );
    expect((await post("none", { step: "a" })).status).toBe(404);
  });
});
