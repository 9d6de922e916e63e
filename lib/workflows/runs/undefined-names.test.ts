import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { handler as readRunLog } from "../../../functions/workflows/runs/log.ts";
import { type TestDeps, type TestDepsOptions, testDeps } from "../../testing/test-deps.ts";
import { requestOf } from "../../testing/test-requests.ts";
import { storeWorkflow } from "../../testing/test-workflows.ts";
import { lintDefinition } from "../uploads/lint.ts";
import { uploadWorkflow } from "../uploads/upload.ts";
import { getRun } from "./read.ts";
import { startBody, startRun } from "./start.ts";

let test: TestDeps;
afterEach(() => test.close());

async function run(yaml: string, body: object, options: TestDepsOptions = {}, more: readonly string[] = []) {
  test = await testDeps(options);
  for (const text of [...more, yaml])
    await uploadWorkflow(test.deps, { text, contentType: "application/yaml" });
  const { run_id: id } = await startRun(test.deps, startBody.parse({ target: "a.example", ...body }));
  await test.drain();
  const log = await readRunLog(requestOf("GET", `/runs/${id}/log`, { params: { id }, query: {} }), {
    weft: test.deps,
  });
  const { status, error_message } = await getRun(test.deps, id);
  const lines = String(log.body)
    .split("\n")
    .map((line) => line.replace(/^\S+ /, ""));
  return {
    status,
    error: error_message,
    warnings: lines.filter((line) => line.includes("warning")),
    commands: test.commands.map(({ argv, env }) =>
      (argv[2] ?? "").replaceAll(/"\$\{(W\d+)\}"/g, (_all, name) => env[name] ?? ""),
    ),
  };
}

const step = (command: string, more = "") => `  - {name: s, type: bash, command: '${command}'${more}}\n`;
const SINGLE = `name: w\nsteps:\n${step("rm -rf {{Dta}}/tmp {{Target}} {{opt | default(1)}}")}`;

describe("a name without a value", () => {
  it("is empty, with a warning in the run's log", async () => {
    expect(await run(SINGLE, { module: "w" })).toEqual({
      status: "completed",
      error: "",
      warnings: ["[s] warning: {{Dta}} is undefined and evaluates to an empty text"],
      commands: ["rm -rf /tmp a.example 1"],
    });
  });

  it.each([
    ["the workflow", `${SINGLE}undefined: fail\n`, {}],
    ["the installation", SINGLE, { UNDEFINED_NAMES: "fail" }],
  ])("fails the step before its command if %s says so", async (_who, yaml, settings) => {
    expect(await run(yaml, { module: "w" }, { settings })).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/^undefined: \{\{Dta\}\}/),
      commands: [],
    });
  });

  it("fails the steps of a flow's modules if the flow says so, and inherits it", async () => {
    const flow = "name: f\nkind: flow\nundefined: fail\nmodules: [{name: m, path: w}]\n";
    expect(await run(flow, { flow: "f" }, {}, [SINGLE])).toMatchObject({ status: "failed", commands: [] });
    await test.close();
    const child = "name: c\nextends: w\n";
    expect(await run(child, { module: "c" }, {}, [`${SINGLE}undefined: fail\n`])).toMatchObject({
      status: "failed",
      commands: [],
    });
  });

  it("is ignored in skipped steps, for loop variables, and for values that the step itself sets", async () => {
    const steps = [
      step("echo {{nobody}}", ", pre_condition: 'false'"),
      `  - {name: each, type: foreach, input: '["x"]', variable: v, step: {name: in, type: bash, command: 'echo [[v]] {{_id_}} {{v}}'}}\n`,
      `  - {name: my-step, type: bash, command: 'true', exports: {a: "{{output}}-{{my-step_output}}"}, on_success: [{action: log, message: "{{a}} {{my_step_output}}"}]}\n`,
      `  - {name: use, type: bash, command: 'echo {{my-step_output}} {{a}} {{threads-1}}'}\n`,
    ];
    const yaml = `name: w\nundefined: fail\nsteps:\n${steps.join("")}`;
    const script = async ({ code }: { code: string }) => ({ value: code !== "false" });
    const done = await run(yaml, { module: "w" }, { script });
    expect([done.status, done.error]).toEqual(["completed", ""]);
    const { definition } = await test.deps.definitions.get("w", 1).then((definition) => ({ definition }));
    expect(lintDefinition(definition)).toEqual(["s.command: {{nobody}} is undefined"]);
  });

  it("keeps a run from starting if a param's default names it", async () => {
    const yaml = `name: w\nundefined: fail\nparams: [{name: p, default: "{{nobody}}/x"}]\nsteps:\n${step("true")}`;
    await expect(run(yaml, { module: "w" })).rejects.toThrow(
      "params: default of parameter p: {{nobody}} is undefined",
    );
    expect(lintDefinition(await test.deps.definitions.get("w", 1))).toEqual([
      "params.p.default: {{nobody}} is undefined",
    ]);
  });

  it("is logged once for all items of a batch", async () => {
    const yaml = `name: w\nsteps:\n  - {name: each, type: foreach, input: '["x","y","z"]', variable: v, step: {name: in, type: bash, command: 'echo {{nobody}}'}}\n`;
    expect((await run(yaml, { module: "w" })).warnings).toEqual([
      expect.stringMatching(
        /^\[in#?\S*\] warning: \{\{nobody\}\} is undefined and evaluates to an empty text$/,
      ),
    ]);
  });
});

describe("built-in variables", () => {
  /** Reference 2.9, without those of events, of chunks with several targets, and of particular target types. */
  const NAMES = [
    "Target",
    "TargetFile",
    "TargetSpace",
    "Workspace",
    "HeuristicsCheck",
    "TargetType",
    "TargetRootDomain",
    "TargetTLD",
    "TargetSLD",
    "Org",
    "BaseFolder",
    "Binaries",
    "Data",
    "ExternalData",
    "ExternalConfigs",
    "ExternalAgentConfigs",
    "ExternalAgents",
    "ExternalScripts",
    "Workflows",
    "MarkdownTemplates",
    "ExternalMarkdowns",
    "SnapshotsFolder",
    "Workspaces",
    "Output",
    "TempDir",
    "TempFile",
    "StateExecutionLog",
    "StateConsoleLog",
    "StateCompletedFile",
    "StateFile",
    "StateWorkflowFile",
    "StateWorkflowFolder",
    "RunUUID",
    "DBRunID",
    "ModuleName",
    "TaskDate",
    "Today",
    "TimeStamp",
    "CurrentTime",
    "RandomString",
    "Version",
    "HooksEnabled",
    "threads",
    "baseThreads",
    "PlatformOS",
    "PlatformArch",
    "PlatformInDocker",
    "PlatformInKubernetes",
    "ChunkIndex",
    "ChunkSize",
    "TotalChunks",
    "ChunkStart",
    "ChunkEnd",
  ];

  it("have values, whatever the workflow", async () => {
    const command = NAMES.map((name) => `${name}=<{{${name}}}>`).join(" ");
    const { status, warnings, commands } = await run(`name: w\nundefined: fail\nsteps:\n${step(command)}`, {
      module: "w",
      target: "www.a.example",
    });
    expect([status, warnings]).toEqual(["completed", []]);
    const found = /* as rendered */ commands[0] ?? "";
    expect(found).not.toMatch(/(?<!TargetFile)=<>/);
    const paths = test.deps.paths.workspacesDir.replace(/workspaces$/, "");
    expect(found).toContain(`BaseFolder=<${paths.replace(/\/$/, "")}>`);
    expect(found).toContain(`Data=<${paths}external-data>`);
    expect(found).toContain(`Workflows=<${paths}workflows>`);
    expect(found).toContain(`TempDir=<${paths}workspaces/www.a.example/.tmp>`);
    expect(found).toContain("HooksEnabled=<false>");
    expect(existsSync(join(paths, "workspaces/www.a.example/.tmp"))).toBe(true);
  });

  it("are known when a workflow is stored", async () => {
    test = await testDeps();
    const command = NAMES.map((name) => `{{${name}}}`).join(" ");
    await storeWorkflow(test.deps, `name: w\nsteps:\n${step(command)}`);
    expect(lintDefinition(await test.deps.definitions.get("w", 1))).toEqual([]);
  });
});
