import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { handler } from "../../../functions/workflows/runs/create.ts";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { invokeHandler } from "../../testing/test-handler-call.ts";
import { requestOf } from "../../testing/test-requests.ts";
import { readLog, readRuns, storeWorkflow } from "../../testing/test-workflows.ts";

const MODULE = `
name: planned
params:
  - {name: depth, default: "3"}
  - {name: fast, type: bool, default: "false"}
steps:
  - {name: list, type: bash, command: "find {{Target}} -d {{depth}}", exports: {count: output.length}}
  - {name: quick, type: bash, pre_condition: "fast", command: "echo quick"}
  - {name: later, type: bash, pre_condition: "count > 3", command: "use {{list_output}} {{secrets.API_KEY}}"}
  - {name: files, type: bash, pre_condition: 'exec_cmd("touch /tmp/never")', command: "true"}
  - name: each
    type: foreach
    input: '["a", "b", "c"]'
    variable: x
    step: {name: one, type: bash, command: "echo [[x]] {{depth}}"}
  - name: both
    type: parallel-steps
    parallel_steps:
      - {name: ask, type: http, url: "https://{{Target}}/x", method: post}
      - {name: fn, type: function, function: "trim('{{Target}}')"}
`;

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps({ script: async ({ code }) => ({ value: !/fast/.test(code) }) });
  await storeWorkflow(test.deps, MODULE);
});
afterEach(() => test.close());

interface Planned {
  readonly name: string;
  readonly will: string;
  readonly reason: string;
  readonly items: number | null;
  readonly commands: string[];
  readonly parent: string;
}
const plan = async (body: Record<string, unknown>) => {
  const request = requestOf("POST", "/runs", { body: { dry_run: true, ...body } });
  const answer = await invokeHandler(handler, request, { weft: test.deps });
  return { status: answer.statusCode, json: JSON.parse(answer.body) };
};
const stepsOf = (json: { steps: Planned[] }): Map<string, Planned> =>
  new Map(json.steps.map((step) => [step.name, step]));

describe("a dry run", () => {
  it("returns the steps in order with their commands, and executes and stores nothing", async () => {
    const { status, json } = await plan({ module: "planned", target: "a.example", params: { depth: 5 } });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      dry_run: true,
      workflow: "planned",
      kind: "module",
      target: "a.example",
      target_count: 1,
      workspace: "a.example",
      params: { depth: "5", fast: "false" },
      builtins: { Target: "a.example", TargetType: "domain", ModuleName: "planned" },
    });
    expect(
      json.steps.map(({ order, name, parent }: { order: number } & Planned) => [order, name, parent]),
    ).toEqual([
      [1, "list", ""],
      [2, "quick", ""],
      [3, "later", ""],
      [4, "files", ""],
      [5, "each", ""],
      [6, "one", "each"],
      [7, "both", ""],
      [8, "ask", "both"],
      [9, "fn", "both"],
    ]);
    const steps = stepsOf(json);
    expect(steps.get("list")?.commands).toEqual(["find a.example -d 5"]);
    expect(steps.get("one")?.commands).toEqual(["echo [[x]] 5"]);
    expect(steps.get("ask")?.commands).toEqual(["POST https://a.example/x"]);
    expect(steps.get("fn")?.commands).toEqual(["trim('a.example')"]);
    await test.drain();
    expect(test.commands).toEqual([]);
    expect(await readRuns(test.deps)).toEqual([]);
    expect((await readLog(test.deps)).total).toBe(0);
  });

  it("returns which steps are skipped and why, and which depend on the run", async () => {
    const steps = stepsOf((await plan({ module: "planned", target: "t" })).json);
    expect(steps.get("list")).toMatchObject({ will: "run", reason: "" });
    expect(steps.get("quick")).toMatchObject({ will: "skip", reason: "pre_condition is false: fast" });
    expect(steps.get("later")).toMatchObject({
      will: "depends",
      reason: "pre_condition is known only during the run: it requires count",
    });
    expect(steps.get("files")).toMatchObject({
      will: "depends",
      reason: expect.stringContaining("exec_cmd"),
    });
  });

  it("shows values of earlier steps as placeholders, and no secrets", async () => {
    const steps = stepsOf((await plan({ module: "planned", target: "t" })).json);
    expect(steps.get("later")?.commands).toEqual(["use {{list_output}} ***"]);
  });

  it.each([
    ["a list", '["a", "b"]', 2],
    ["lines of a file in the workspace", "in.txt", 2],
    ["the output of a step", "{{list_output}}", null],
    ["a file outside of the workspaces", "/etc/passwd", null],
    ["a link that leads outside", "out.txt", null],
  ])("counts the items of a foreach over %s", async (_what, input, items) => {
    await mkdir(join(test.folder, "workspaces", "t"), { recursive: true });
    await writeFile(join(test.folder, "workspaces", "t", "in.txt"), "a\n\n b \n");
    await symlink("/etc/passwd", join(test.folder, "workspaces", "t", "out.txt"));
    const yaml = MODULE.replace("name: planned", "name: over").replace(
      `'["a", "b", "c"]'`,
      JSON.stringify(input),
    );
    await storeWorkflow(test.deps, yaml);
    const { json } = await plan({ module: "over", target: "t" });
    expect(stepsOf(json).get("each")?.items).toBe(items);
  });

  it("plans the modules of a flow under their names", async () => {
    await storeWorkflow(
      test.deps,
      "name: whole\nmodules: [{name: first, path: planned, params: {depth: '{{Target}}9'}}]\n",
    );
    const { json } = await plan({ flow: "whole", target: "t" });
    expect(json.kind).toBe("flow");
    expect(json.steps[0]).toMatchObject({ module: "first", name: "list", commands: ["find t -d t9"] });
  });

  it.each([
    [{ module: "none" }, 404, "Workflow not found: none"],
    [{}, 400, "module: either module or flow is required"],
    [{ module: "planned", dry_run: "yes" }, 400, "dry_run: must be true or false"],
  ])("rejects what starting the run would reject: %j", async (body, status, message) => {
    const answer = await plan(body);
    expect([answer.status, answer.json]).toEqual([status, { error: true, message }]);
  });
});
