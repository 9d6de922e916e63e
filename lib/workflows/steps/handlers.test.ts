import { afterEach, beforeEach, expect, it } from "vitest";
import type { CommandRequest } from "../../platform/commands.ts";
import type { ScriptRequest } from "../../platform/scripts.ts";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { storeWorkflow } from "../../testing/test-workflows.ts";
import { getRun } from "../runs/read.ts";
import { startBody, startRun } from "../runs/start.ts";

let open: TestDeps;
const commands: string[] = [];
const scripts: string[] = [];

beforeEach(async () => {
  commands.length = 0;
  scripts.length = 0;
  open = await testDeps({
    command: async ({ argv, env }: CommandRequest) => {
      const text = argv.at(-1) ?? "";
      commands.push(text.replaceAll(/"?\$\{(W\d+)\}"?/g, (_all, name: string) => String(env[name])));
      return text.includes("false") ? { exitCode: 1 } : {};
    },
    script: async ({ code }: ScriptRequest) => {
      scripts.push(code);
      return { value: "" };
    },
  });
});
afterEach(() => open.close());

const run = async (body: object): Promise<object> => {
  const { run_id } = await startRun(open.deps, startBody.parse({ target: "t", ...body }));
  await open.drain();
  return getRun(open.deps, run_id);
};

it("runs actions in the reference's spellings of export and run", async () => {
  await storeWorkflow(
    open.deps,
    `
name: m
steps:
  - name: a
    type: bash
    command: "false"
    on_error:
      - {action: export, key: why, value: "broke"}
      - {action: run, step: b}
      - {type: function, script: "told()"}
      - {action: continue}
  - {name: b, type: bash, command: "echo b"}
  - {name: c, type: bash, command: "echo {{why}}"}
`,
  );
  expect(await run({ module: "m" })).toMatchObject({ status: "completed" });
  expect(commands.map((text) => text.replaceAll(/['"]/g, ""))).toEqual([
    "false",
    "echo b",
    "echo b",
    "echo broke",
  ]);
  expect(scripts).toEqual([expect.stringContaining("told()")]);
});

it("runs the handlers of a module of a flow", async () => {
  await storeWorkflow(
    open.deps,
    `
name: f
kind: flow
modules:
  - name: m
    steps: [{name: a, type: bash, command: "true"}]
    on_success: [{type: function, script: "told()"}, {action: export, key: k, value: from-m}]
  - name: n
    depends_on: [m]
    steps: [{name: b, type: bash, command: "echo {{k}}"}]
`,
  );
  expect(await run({ flow: "f" })).toMatchObject({ status: "completed" });
  expect(scripts).toEqual([expect.stringContaining("told()")]);
  expect(commands.at(-1)).toContain("from-m");
});
