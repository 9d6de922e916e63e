import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type StepRecord,
  startTestServer,
  type TestServer,
  waitUntil,
} from "../../lib/testing/test-server.ts";
import { isRefused, readFixtures, toFiles } from "./fixture-files.ts";
import { PLANS, RESULTS } from "./fixture-results.ts";

const fixtures = await readFixtures();
const accepted = fixtures.filter((fixture) => !isRefused(fixture));
const byName = new Map(fixtures.map((fixture) => [fixture.name, fixture]));

let weft: TestServer;
beforeAll(async () => {
  weft = await startTestServer({ files: toFiles(fixtures) });
});
afterAll(() => weft[Symbol.asyncDispose]());

interface Validated {
  readonly valid: boolean;
  readonly errors: readonly { readonly path?: string; readonly message: string }[];
  readonly warnings: readonly string[];
}
const validate = async (yaml: string): Promise<Validated> => {
  const { json } = await weft.call("POST", "/workflows/validate", {
    body: yaml,
    headers: { "content-type": "application/yaml" },
  });
  return json as Validated;
};

const NOT_READ = new Map([
  [
    "one-of-each",
    [
      ...["desc", "script", "condition"].map((key) => `steps[0].${key}: unknown key, ignored`),
      "strange.command: {{never_set}} is undefined",
    ],
  ],
  ["gates", ["unknown-count.pre_condition: {{no_such_count}} is undefined"]],
  ["templates-everywhere", ["left.command: {{missing}} is undefined"]],
  ["around-a-flow", ["page.command: {{code}} is undefined"]],
  ["a-flow-that-calculates", ["tell.command: {{next}} is undefined"]],
  ["find-names", ["reports[1].path: is missing: the report is ignored"]],
  ["misspelled", ["fine.command: {{nowhere}} is undefined", "clean.command: {{Dta}} is undefined"]],
  [
    "shared-names",
    [
      'steps[1].name: the step name "tell" is used more than once: this step is called "tell-2"',
      'steps[2].step.name: the step name "each" is used more than once: this step is called "each-2"',
      "params.key.generator: getEnvVar is not available: give the param a default or a value; otherwise it is empty",
    ],
  ],
  ["passed-on", ["modules[0].exports: unknown key, ignored"]],
  [
    "wishes",
    [
      "preferences.disable_notifications: has no effect: runs send no notifications; trigger a workflow by their events instead",
      "preferences.repeat_wait_time: has no effect without repeat",
    ],
  ],
]);

describe("fixture workflows", () => {
  test.each(accepted)("$path is valid and stored under its name", async ({ name, yaml, kind }) => {
    const { valid, errors, warnings } = await validate(yaml);
    expect([valid, errors]).toEqual([true, []]);
    const odd = warnings.map((text) => text.replace(/ \(line \d+\)$/, ""));
    expect(odd).toEqual(NOT_READ.get(name) ?? []);
    expect(await weft.get(`/workflows/${name}?json=true`)).toMatchObject({
      data: { name, kind, source: "file" },
    });
  });

  test.each([
    ["leads-nowhere", "steps[0].decision.cases.x.goto", 'unknown step "b"'],
    ["waits-for-itself", "steps[0].depends_on", "depends on itself: a -> b -> a"],
    ["waits-for-nobody", "steps[0].depends_on[0]", 'unknown step "z"'],
    ["nothing-to-do", "steps[0]", "a bash step requires command, commands or parallel_commands"],
    ["field-missing", "steps[0].input", "is required"],
    ["child-of-itself", "extends", 'unknown workflow "child-of-itself"'],
    ["flow-of-a-module", "kind", "soup, which it extends, is a module"],
    ["divides-by-zero", "steps[0].command", "division by zero"],
    ["default-not-readable", "params[0].default", "unexpected"],
    ["asks-an-agent", "steps[0].type", "steps of type agent are not available"],
    ["asks-another-program", "steps[0].type", "steps of type agent-acp are not available"],
  ])("%s is rejected at %s: %s", async (name, path, message) => {
    const { valid, errors } = await validate(byName.get(name)?.yaml ?? "");
    expect([valid, errors]).toMatchObject([false, [{ path, message: expect.stringContaining(message) }]]);
  });

  test("rejects two workflows that extend each other", async () => {
    await weft.storeWorkflow("name: elder\nsteps: [{name: a, type: bash, command: echo a}]\n");
    await weft.storeWorkflow("name: younger\nextends: elder\n");
    await expect(weft.storeWorkflow("name: elder\nextends: younger\n")).rejects.toThrow(
      "circular inheritance detected",
    );
  });
});

/** Formats the executed steps in the order of the plan; several steps may have the same name. */
function formatSteps(steps: readonly StepRecord[], planned: readonly string[]): string[] {
  const remaining = [...steps];
  return planned.flatMap((name) => {
    const at = remaining.findIndex((step) => step.step_name === name);
    const [step] = at < 0 ? [] : remaining.splice(at, 1);
    if (step === undefined) return [];
    return [`${step.status === "completed" ? "" : `${step.status} `}${name}=${step.output}`];
  });
}

interface Planned {
  readonly steps: readonly { readonly name: string; readonly will: string; readonly depth: number }[];
}

async function plan(name: string, body: Readonly<Record<string, unknown>> = {}): Promise<Planned["steps"]> {
  const { kind = "module" } = byName.get(name) ?? {};
  const { json, status, text } = await weft.call("POST", "/runs", {
    body: { [kind]: name, target: "a.example", dry_run: true, ...body },
  });
  expect([status, status === 200 ? "" : text]).toEqual([200, ""]);
  return (json as Planned).steps;
}

describe("a run of each fixture has the expected result", () => {
  test.each(RESULTS.map(([name, expected]) => ({ name, ...expected })))(
    "$name $body",
    async ({ name, body = {}, status = "completed", error = "", steps }) => {
      const planned = await plan(name, body);
      const { kind = "module" } = byName.get(name) ?? {};
      const workspace = crypto.randomUUID();
      const run = await weft.run({ [kind]: name, target: "a.example", workspace, ...body });
      expect(run.status, run.error_message).toBe(status);
      if (error === "") expect(run.error_message).toBe("");
      else expect(run.error_message).toContain(error);
      const { data } = await weft.get<{ data: StepRecord[] }>(`/runs/${run.run_id}/steps`);
      const order = planned.map((step) => step.name);
      expect(formatSteps(data, order)).toEqual(steps.map((text) => cut(text)));
      expect(data).toHaveLength(steps.length);
      // Steps that were planned to be skipped did not run, and the planned ones did.
      if (status === "completed") {
        const ran = new Set(data.filter((step) => step.status !== "skipped").map((step) => step.step_name));
        const skipped = planned.filter((step) => step.will === "skip").map((step) => step.name);
        const others = new Set(planned.filter((step) => step.will !== "skip").map((step) => step.name));
        expect(skipped.filter((one) => ran.has(one) && !others.has(one))).toEqual([]);
      }
    },
  );
});

describe("a dry run plans the steps of a run", () => {
  test.each(accepted)("$path", async ({ name }) => {
    const planned = await plan(name, { params: { file: "x" } });
    expect(planned.length).toBeGreaterThan(0);
    const expected = PLANS[name];
    if (expected !== undefined)
      expect(planned.map((step) => `${step.will} ${step.name}`).join(", ")).toBe(expected);
  });
});

/** Cuts an expected output to the 16,000 characters that the list of steps contains. */
const cut = (text: string): string => text.slice(0, 16_000 + text.indexOf("=") + 1);

test("a cancelled step has a duration", async () => {
  await weft.storeWorkflow("name: waits\nsteps: [{name: wait, type: bash, command: sleep 300}]\n");
  const id = await weft.startRun({ module: "waits" });
  await waitUntil("a step that has run for a while", async () => {
    const { wait } = await weft.steps(id);
    return wait !== undefined && Date.now() - Date.parse(wait.started_at) > 50;
  });
  expect((await weft.call("DELETE", `/runs/${id}`)).status).toBe(200);
  const { wait } = await weft.steps(id);
  expect(wait?.status).toBe("cancelled");
  expect(wait?.duration_ms).toBeGreaterThan(50);
  expect(wait?.duration_ms).toBe(Date.parse(wait?.completed_at ?? "") - Date.parse(wait?.started_at ?? ""));
});

test("parallel steps take less time than sequential ones", async () => {
  const run = await weft.run({ module: "naps" });
  const duration = Date.parse(run.completed_at ?? "") - Date.parse(run.started_at ?? "");
  expect(duration).toBeLessThan(2_900);
  const { all } = await weft.steps(run.run_id);
  expect(all?.duration_ms).toBeGreaterThanOrEqual(1_000);
  const ended = await weft.events({ topic: "step.completed", run_id: run.run_id });
  const finished = ended.map(({ data }) => JSON.parse(data) as { step_name: string; duration_ms: number });
  expect(finished.find(({ step_name }) => step_name === "all")?.duration_ms).toBe(all?.duration_ms);
});
