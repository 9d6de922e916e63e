import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { storeWorkflow } from "../../testing/test-workflows.ts";
import { getRun, listHistory, listSteps } from "./read.ts";
import { startBody, startRun } from "./start.ts";

let test: TestDeps;
/** Started commands, with their values. */
let commands: string[];
beforeEach(async () => {
  commands = [];
  test = await testDeps({
    command: async ({ argv, env }) => {
      const values = Object.entries(env).flatMap(([name, value]) => (/^W\d+$/.test(name) ? [value] : []));
      const line = [argv.slice(2).join(" "), ...values].join(" | ");
      commands.push(line);
      return line.includes("fail") ? { exitCode: 3 } : { stdout: "out\n" };
    },
    // Expressions over variables, evaluated in this process; the sandbox has its own tests.
    script: async ({ code, variables }) => ({
      value: Function(...Object.keys(variables), `return (${code})`)(...Object.values(variables)),
    }),
  });
});
afterEach(() => test.close());

async function run(body: object): Promise<string> {
  const { run_id } = await startRun(test.deps, startBody.parse({ target: "t", ...body }));
  await test.drain();
  return run_id;
}
const outcome = async (runId: string) => {
  const { status, error_message, completed_steps, total_steps } = await getRun(test.deps, runId);
  return { status, error_message, steps: `${completed_steps}/${total_steps}` };
};
const stepsOf = async (runId: string): Promise<string[]> =>
  (await listSteps(test.deps, runId)).map(({ step_name, status }) => `${step_name} ${status}`).toSorted();
const modulesOf = async (runId: string): Promise<string[]> =>
  (await listHistory(test.deps, runId)).flatMap((entry) =>
    entry.type === "module.finished" ? [`${entry["module"]} ${entry["status"]}`] : [],
  );

describe("modules of a flow", () => {
  it("wait for their dependencies, and run concurrently with the others", async () => {
    await storeWorkflow(
      test.deps,
      `
name: f
modules:
  - {name: last, depends_on: [left, right], steps: [{name: s, type: bash, command: echo last}]}
  - {name: left, steps: [{name: s, type: bash, command: echo left}]}
  - {name: right, steps: [{name: s, type: bash, command: echo right}]}
`,
    );
    const runId = await run({ flow: "f" });
    expect(await outcome(runId)).toEqual({ status: "completed", error_message: "", steps: "3/3" });
    expect(commands.slice(0, 2).toSorted()).toEqual(["echo left", "echo right"]);
    expect(commands[2]).toBe("echo last");
    const started = (await listHistory(test.deps, runId)).flatMap((entry) =>
      entry.type === "module.started" ? [entry["name"]] : [],
    );
    expect(started).toEqual(["left", "right", "last"]);
  });

  it("are skipped if their condition is not true, and later ones still run", async () => {
    await storeWorkflow(
      test.deps,
      `
name: f
params: [{name: depth, default: "1"}]
modules:
  - {name: deep, condition: "Number(depth) > 2", steps: [{name: s, type: bash, command: echo deep}]}
  - {name: after, depends_on: [deep], steps: [{name: s, type: bash, command: echo after}]}
`,
    );
    const runId = await run({ flow: "f" });
    expect(await outcome(runId)).toMatchObject({ status: "completed" });
    expect(commands).toEqual(["echo after"]);
    expect(await modulesOf(runId)).toEqual(["0 skipped", "1 completed"]);
    commands.length = 0;
    await run({ flow: "f", params: { depth: 3 } });
    expect(commands).toEqual(["echo deep", "echo after"]);
  });

  it("have their own parameters: from the run, from the flow, or their defaults", async () => {
    await storeWorkflow(
      test.deps,
      `
name: scan
params:
  - {name: flags, default: "-a -b"}
  - {name: ports}
  - {name: mode, default: "{{ports}} of {{ModuleName}}"}
  - {name: threads, default: "77"}
steps: [{name: s, type: bash, command: "scan {{flags}} {{ports}} {{mode}} -t {{threads}}"}]
`,
    );
    await storeWorkflow(
      test.deps,
      `
name: f
modules:
  - {name: one, path: modules/scan.yaml, params: {ports: "{{Target}}"}}
  - {name: two, path: scan, depends_on: [one], params: {ports: "80"}}
`,
    );
    expect(await outcome(await run({ flow: "f", target: "x y" }))).toMatchObject({ status: "completed" });
    // Text of workflow files is inserted as text; values of the run are passed as variables.
    expect(commands[0]).toMatch(/^scan -a -b "\$\{?W\d+\}?" "\$\{?W\d+\}?" -t 77 \| x y \| x y of one$/);
    expect(commands[1]).toMatch(/^scan -a -b 80 "\$\{?W\d+\}?" -t 77 \| 80 of two$/);
    commands.length = 0;
    await run({ flow: "f", params: { flags: "$(id)", threads: 5 } });
    expect(commands[0]).toContain("| $(id) |");
    expect(commands[0]).toMatch(/\| 5$/);
  });

  it("are excluded by name or by substring", async () => {
    const names = ["probe-web", "probe-dns", "report"];
    const modules = names.map(
      (name) => `  - {name: ${name}, steps: [{name: s, type: bash, command: echo ${name}}]}\n`,
    );
    await storeWorkflow(test.deps, `name: f\nmodules:\n${modules.join("")}`);
    const runId = await run({ flow: "f", params: { exclude_modules: "report, probe" } });
    expect(commands.toSorted()).toEqual(["echo probe-dns", "echo probe-web"]);
    expect(await outcome(runId)).toMatchObject({ status: "completed" });
    commands.length = 0;
    await run({ flow: "f", params: { fuzzy_exclude_modules: "probe" } });
    expect(commands).toEqual(["echo report"]);
  });

  it("fail with the name of a missing parameter", async () => {
    await storeWorkflow(
      test.deps,
      "name: scan\nparams: [{name: key, required: true}]\nsteps: [{name: s, type: bash, command: x}]\n",
    );
    await storeWorkflow(test.deps, "name: f\nmodules: [{name: one, path: scan}]\n");
    expect(await outcome(await run({ flow: "f" }))).toMatchObject({
      status: "failed",
      error_message: "required parameter missing: key",
    });
    expect(commands).toEqual([]);
  });

  it("that fail prevent only their dependents from running, and fail the flow at the end", async () => {
    await storeWorkflow(
      test.deps,
      `
name: f
modules:
  - {name: bad, steps: [{name: s, type: bash, command: fail}]}
  - {name: dependent, depends_on: [bad], steps: [{name: s, type: bash, command: echo dependent}]}
  - {name: other, steps: [{name: s, type: bash, command: echo other}]}
  - {name: later, depends_on: [other], steps: [{name: s, type: bash, command: echo later}]}
`,
    );
    const runId = await run({ flow: "f" });
    expect(await outcome(runId)).toMatchObject({
      status: "failed",
      error_message: "command failed with exit code 3",
    });
    expect(commands.toSorted()).toEqual(["echo later", "echo other", "fail"]);
    expect((await modulesOf(runId)).toSorted()).toEqual([
      "0 failed",
      "1 skipped",
      "2 completed",
      "3 completed",
    ]);
  });

  it("run the flow's handlers at their end, and tolerate failures if the flow says so", async () => {
    await storeWorkflow(
      test.deps,
      `
name: f
modules:
  - name: bad
    steps: [{name: s, type: bash, command: fail}]
    on_error:
      - {action: run, type: bash, command: "echo {{error}}"}
      - {action: continue}
  - name: good
    depends_on: [bad]
    steps: [{name: s, type: bash, command: echo good}]
    on_success: [{action: export, name: verdict, value: "fine"}]
  - {name: last, depends_on: [good], steps: [{name: s, type: bash, command: "echo {{verdict}}"}]}
`,
    );
    const runId = await run({ flow: "f" });
    expect(await outcome(runId)).toMatchObject({ status: "completed", error_message: "" });
    expect(commands[1]).toMatch(/\| command failed with exit code 3$/);
    expect(commands.at(-1)).toMatch(/\| fine$/);
    expect(await modulesOf(runId)).toEqual(["0 failed", "1 completed", "2 completed"]);
  });
});

describe("steps", () => {
  it("with dependencies start as soon as those are done; dependents of a failed step do not start", async () => {
    await storeWorkflow(
      test.deps,
      `
name: g
steps:
  - {name: sum, type: bash, command: echo sum, depends_on: [a, b]}
  - {name: a, type: bash, command: echo a}
  - {name: b, type: bash, command: echo b}
  - {name: bad, type: bash, command: fail}
  - {name: never, type: bash, command: echo never, depends_on: [bad]}
`,
    );
    const runId = await run({ module: "g" });
    expect(await outcome(runId)).toMatchObject({ status: "failed", steps: "3/5" });
    expect(await stepsOf(runId)).toEqual(["a completed", "b completed", "bad failed", "sum completed"]);
    expect(commands.indexOf("echo sum")).toBeGreaterThan(commands.indexOf("echo a"));
    expect(commands.indexOf("echo sum")).toBeGreaterThan(commands.indexOf("echo b"));
  });

  it("follow a decision: by value, else by default, and by all conditions", async () => {
    await storeWorkflow(
      test.deps,
      `
name: d
params: [{name: kind, default: none}, {name: big, type: bool, default: "false"}]
steps:
  - name: start
    type: bash
    command: echo start
    decision:
      switch: "{{kind}}"
      cases:
        web: {goto: web, command: "echo picked"}
        stop: {goto: _end}
      default: {goto: other}
      conditions:
        - {if: "{{big}}", goto: last, function: "log_info('big')"}
  - {name: web, type: bash, command: echo web}
  - {name: other, type: bash, command: echo other}
  - {name: last, type: bash, command: echo last}
`,
    );
    const wayOf = async (params: object): Promise<string> => {
      commands.length = 0;
      expect(await outcome(await run({ module: "d", params }))).toEqual({
        status: "completed",
        error_message: "",
        steps: "4/4",
      });
      return commands.map((command) => command.replace("echo ", "")).join(" ");
    };
    expect(await wayOf({})).toBe("start other last");
    expect(await wayOf({ kind: "web" })).toBe("start picked web other last");
    expect(await wayOf({ kind: "stop" })).toBe("start");
    expect(await wayOf({ kind: "web", big: true })).toBe("start picked last");
  });

  it("are retried as configured, and handlers run only for the last failure", async () => {
    await storeWorkflow(
      test.deps,
      `
name: r
steps:
  - name: s
    type: bash
    command: "fail {{attempt}}"
    retry: {max_attempts: 3, delay: 1m, backoff: 2}
    on_error: [{action: run, type: bash, command: echo gave up}]
`,
    );
    const { run_id } = await startRun(test.deps, startBody.parse({ module: "r", target: "t" }));
    await test.drain();
    expect(commands).toHaveLength(1);
    expect(await getRun(test.deps, run_id)).toMatchObject({ status: "running" });
    test.clock.advance(59_000);
    await test.tick();
    expect(commands).toHaveLength(1);
    test.clock.advance(1_000);
    await test.tick();
    expect(commands).toHaveLength(2);
    test.clock.advance(120_000);
    await test.tick();
    expect(commands.map((command) => command.replace(/^.*\| /, ""))).toEqual(["1", "2", "3", "echo gave up"]);
    expect(await outcome(run_id)).toMatchObject({ status: "failed" });
    const [step] = await listSteps(test.deps, run_id);
    expect(step).toMatchObject({ status: "failed", attempt: 3 });
  });

  it("have hooks around them: failing hooks are ignored, and post hooks require success", async () => {
    const hooked = (command: string): string => `
name: h
hooks:
  pre_scan_steps: [{name: before, command: fail before}]
  post_scan_steps: [{name: after, command: echo after}]
steps: [{name: s, type: bash, command: ${command}}]
`;
    await storeWorkflow(test.deps, hooked("echo s"));
    expect(await outcome(await run({ module: "h" }))).toMatchObject({ status: "completed", steps: "3/3" });
    expect(commands).toEqual(["fail before", "echo s", "echo after"]);
    commands.length = 0;
    await storeWorkflow(test.deps, hooked("fail s"));
    expect(await outcome(await run({ module: "h" }))).toMatchObject({ status: "failed" });
    expect(commands).toEqual(["fail before", "fail s"]);
  });

  it("of a flow's hooks run around all of its modules, which may run concurrently", async () => {
    const hooked = (command: string, more = ""): string => `
name: fh
hooks:
  pre_scan_steps: [{name: before, command: fail before}, {name: again, type: function, function: "1"}]
  post_scan_steps: [{name: after, command: "echo after {{one_output}}"}]
modules:
  - {name: a, steps: [{name: one, type: bash, command: ${command}}]}
  - {name: b, steps: [{name: two, type: bash, command: echo two}]${more}}
`;
    await storeWorkflow(test.deps, hooked("echo one", ", depends_on: [a]"));
    const runId = await run({ flow: "fh" });
    expect(await outcome(runId)).toEqual({ status: "completed", error_message: "", steps: "5/5" });
    expect(commands).toEqual(["fail before", "echo one", "echo two", 'echo after "${W1}" | out']);
    expect(await modulesOf(runId)).toEqual(["0 completed", "1 completed", "2 completed", "3 completed"]);
    commands.length = 0;
    await storeWorkflow(test.deps, hooked("fail one"));
    const failed = await run({ flow: "fh", params: { exclude_modules: "pre_scan_steps" } });
    expect(await outcome(failed)).toMatchObject({ status: "failed" });
    expect(commands[0]).toBe("fail before");
    expect(commands.slice(1).toSorted()).toEqual(["echo two", "fail one"]);
    expect(await modulesOf(failed)).toContain("3 skipped");
  });

  it("start only if the dependencies of the workflow exist", async () => {
    const needs = (dependencies: string): string =>
      `name: n\ndependencies: ${dependencies}\nsteps: [{name: s, type: bash, command: echo s}]\n`;
    const error = async (dependencies: string, target: string): Promise<string> => {
      await storeWorkflow(test.deps, needs(dependencies));
      return (await getRun(test.deps, await run({ module: "n", target }))).error_message;
    };
    expect(await error("{target_types: [domain, ip]}", "example.com")).toBe("");
    expect(await error("{target_types: [domain, ip]}", "fe80::1")).toBe("");
    expect(await error("{target_types: [domain, ip]}", "a b")).toBe(
      "dependency check failed: target is not of type domain or ip",
    );
    expect(await error("{variables: [{name: Target, type: cidr}]}", "10.0.0.0/33")).toMatch(
      /Target is not of type cidr/,
    );
    expect(await error("{functions_conditions: [\"Target == 'yes'\"]}", "yes")).toBe("");
    expect(await error("{functions_conditions: [\"Target == 'yes'\"]}", "no")).toMatch(
      /condition does not hold/,
    );
    expect(await error("{files: [nowhere.txt]}", "t")).toBe(
      "dependency check failed: required file not found: nowhere.txt",
    );
    expect(await error('{commands: ["a;b"]}', "t")).toBe(
      "dependency check failed: not the name of a command: a;b",
    );
  });
});
