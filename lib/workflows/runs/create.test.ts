import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { readLog, runValues, storeWorkflow } from "../../testing/test-workflows.ts";
import { replay } from "../engine/history.ts";
import { composeRun, type RunRequest } from "./create.ts";
import { listHistory } from "./read.ts";
import { startBody, startRun } from "./start.ts";

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps();
});
afterEach(() => test.close());

const withParams = (params: string): string =>
  `name: a\nparams: ${params}\nsteps: [{name: s, type: bash, command: echo}]\n`;
const compose = async (request: Partial<RunRequest> = {}) => {
  const runId = test.deps.ids.ordered();
  const made = await composeRun(test.deps, {
    runId,
    workflow: "a",
    target: "",
    params: {},
    triggerType: "api",
    ...request,
  });
  expect((await test.deps.outbox.commit(made.commit)).ok).toBe(true);
  return { ...made, ...(await runValues(test.deps, runId)) };
};
const start = (body: unknown) => startRun(test.deps, startBody.parse(body));

describe("parameters", () => {
  it("have the given value, else the default, which may name earlier params, target and built-ins", async () => {
    await storeWorkflow(
      test.deps,
      withParams(
        '[{name: given, default: d}, {name: fixed, default: text}, {name: made, default: "{{given}}-{{Target}}-{{fixed}}"}, {name: empty, default: ""}, {name: absent}]',
      ),
    );
    const { run, values, trusted } = await compose({
      target: "t",
      params: { given: "g", more: "m", fixed: "" },
    });
    expect(run.params).toEqual({ given: "g", more: "m", fixed: "text", made: "g-t-text", empty: "" });
    expect(values).toMatchObject({ given: "g", made: "g-t-text", more: "m", Target: "t" });
    expect(values).not.toHaveProperty("absent");
    // Only text from the file itself is trusted.
    expect([...trusted].toSorted()).toEqual(["empty", "fixed"]);
  });

  it("have their defaults if a generator of the reference is unavailable", async () => {
    await storeWorkflow(
      test.deps,
      withParams(
        `[{name: host, generator: 'execCmd("hostname")', default: "{{Target}}-host"}, {name: home, generator: 'getEnvVar("HOME", "/root")'}, {name: key, generator: 'getEnvVar("HOME")'}]`,
      ),
    );
    const { run } = await compose({ target: "t" });
    expect(run.params).toEqual({ host: "t-host", home: "/root", key: "" });
    await storeWorkflow(
      test.deps,
      withParams(`[{name: key, generator: 'getEnvVar("HOME")', required: true}]`),
    );
    expect((await compose()).run.error_message).toBe("required parameter missing: key");
    await storeWorkflow(test.deps, withParams(`[{name: host, generator: 'execCmd("hostname")'}]`));
    expect((await compose()).run.error_message).toBe(
      "generator of parameter host: execCmd: not available, give the param a value or a default, or use a secret",
    );
  });

  it("compute their defaults from built-in variables and from params, as text", async () => {
    await storeWorkflow(
      test.deps,
      withParams(
        '[{name: wide, type: int, default: "{{ threads * 5 }}"}, {name: half, default: "{{ wide / 4 }}"}, {name: rate, default: "{{ given + 1 }}/s"}, {name: many, type: bool, default: "{{ wide > 40 and half < 20 }}"}]',
      ),
    );
    const { run, values } = await compose({ params: { given: "9" } });
    expect(run.params).toEqual({ given: "9", wide: "50", half: "12", rate: "10/s", many: "true" });
    expect(values.many).toBe(true);
  });

  it.each([
    ["true", true],
    ["TRUE", true],
    ["1", true],
    ["yes", false],
    ["false", false],
  ])("of type bool are true or false: %s", async (text, value) => {
    await storeWorkflow(test.deps, withParams("[{name: flag, type: bool}]"));
    expect((await compose({ params: { flag: text } })).values.flag).toBe(value);
  });

  it("that are required need a value, a default, or the name target", async () => {
    await storeWorkflow(
      test.deps,
      withParams("[{name: Target, required: true}, {name: other, required: true, default: d}]"),
    );
    expect((await compose({ target: "t" })).run).toMatchObject({
      status: "pending",
      params: { Target: "t", other: "d" },
    });
    expect((await compose({ target: "t", params: { Target: "" } })).run.status).toBe("pending");
    expect((await compose()).run).toMatchObject({
      status: "failed",
      error_message: "required parameter missing: Target",
    });
  });

  it("may be named like properties of Object.prototype", async () => {
    await storeWorkflow(
      test.deps,
      withParams("[{name: toString, required: true}, {name: valueOf, default: v}]"),
    );
    expect((await compose()).run).toMatchObject({
      status: "failed",
      error_message: "required parameter missing: toString",
    });
    expect(
      (await compose({ params: { toString: "x" } as unknown as Record<string, string> })).run.params.valueOf,
    ).toBe("v");
  });

  it("fail the run with the reason if a default cannot be rendered", async () => {
    await storeWorkflow(test.deps, withParams('[{name: bad, default: "{{ given * 2 }}"}]'));
    const { run } = await compose({ params: { given: "x" } });
    expect(run.status).toBe("failed");
    expect(run.error_message).toBe('default of parameter bad: "x" is not a number, which "*" needs');
  });
});

describe("a run that cannot start", () => {
  it("exists as failed, with its history and its event", async () => {
    await storeWorkflow(test.deps, withParams("[{name: needed, required: true}]"));
    const { run } = await compose({ eventId: "e", triggerType: "event" });
    await test.drain();
    expect(run).not.toHaveProperty("unfinished");
    const history = await listHistory(test.deps, run.run_id);
    expect(history).toMatchObject([{ number: 1, type: "run.finished", status: "failed" }]);
    const entries = history.map(({ number: _number, at: _at, ...entry }) => entry) as unknown as Parameters<
      typeof replay
    >[0];
    expect(replay(entries)).toEqual(run.state);
    expect((await readLog(test.deps)).records).toMatchObject([
      { topic: "run.failed", run_id: run.run_id, source: "executor", data_type: "scan" },
    ]);
  });
});

describe("starting by hand", () => {
  const FLOW = "name: f\nmodules: [{name: one, path: a.yaml}]\n";

  it("returns the started run", async () => {
    await storeWorkflow(test.deps, withParams("[]"));
    const answer = await start({ module: "a", target: "t", priority: "medium" });
    expect(answer).toMatchObject({
      message: "Run started",
      workflow: "a",
      kind: "module",
      target: "t",
      target_count: 1,
      priority: "normal",
      run_mode: "local",
      status: "queued",
      job_id: answer.run_id,
      run_ids: [answer.run_id],
      poll_url: `/automation/jobs/${answer.run_id}`,
      run_uuid: answer.run_id,
    });
  });

  it.each([
    [{}, "bad_request", "module: either module or flow is required"],
    [{ module: "nowhere" }, "not_found", "Workflow not found: nowhere"],
    [{ flow: "a" }, "bad_request", "flow: a is a module"],
    [{ module: "f" }, "bad_request", "module: f is a flow"],
    [{ module: "needs" }, "bad_request", "params: required parameter missing: target"],
    [{ flow: "broken" }, "not_found", "Workflow not found: gone"],
    [{ flow: "outer" }, "bad_request", "modules: inner is a flow, but a flow can contain only modules"],
  ])("rejects %j", async (body, code, message) => {
    await storeWorkflow(test.deps, withParams("[]"));
    await storeWorkflow(test.deps, FLOW);
    await storeWorkflow(test.deps, "name: broken\nmodules: [{name: m, path: gone}]\n");
    await storeWorkflow(test.deps, "name: outer\nmodules: [{name: inner, path: f}]\n");
    await storeWorkflow(
      test.deps,
      "name: needs\nparams: [{name: target, required: true}]\nsteps: [{name: s, type: bash, command: echo}]\n",
    );
    await expect(start(body)).rejects.toMatchObject({ code, message });
    await test.drain();
    expect((await readLog(test.deps)).total).toBe(0);
  });

  it("pins the revisions of the run", async () => {
    await storeWorkflow(test.deps, withParams("[]"));
    await storeWorkflow(test.deps, FLOW);
    const { run } = await compose({ workflow: "f" });
    expect(run.modules).toEqual([{ name: "one", workflow: "a", revision: 1 }]);
  });

  it("sets the built-in variables of every run", async () => {
    await storeWorkflow(test.deps, withParams("[]"));
    const { run, values } = await compose({ target: "https://example.com/a?b" });
    expect(values).toMatchObject({
      Target: "https://example.com/a?b",
      Workspace: run.workspace,
      Output: `${test.folder}/workspaces/${run.workspace}`,
      RunID: run.run_id,
      ModuleName: "a",
      WorkflowName: "a",
      Today: "2026-03-02",
      TimeStamp: "1772445600",
    });
  });
});
