import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { runValues, storeWorkflow } from "../../testing/test-workflows.ts";
import { parseDefinition } from "../schema/parse.ts";
import { readRunLog } from "./log.ts";
import { getRun } from "./read.ts";
import { startBody, startRun } from "./start.ts";

const STEPS = "steps: [{name: s, type: bash, command: echo, log: said}]\n";
const withPreferences = (text: string): string => `name: m\npreferences: {${text}}\n${STEPS}`;

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps({ command: async () => ({ stdout: "out\n" }) });
});
afterEach(() => test.close());

async function run(preferences: string, body: object = {}): Promise<string> {
  await storeWorkflow(test.deps, withPreferences(preferences));
  const { run_id } = await startRun(test.deps, startBody.parse({ module: "m", ...body }));
  await test.drain();
  return run_id;
}
const logOf = async (runId: string): Promise<string> => (await readRunLog(test.deps, runId, {})).log;

describe("preferences of a workflow", () => {
  it("generate a missing target", async () => {
    expect((await getRun(test.deps, await run("empty_target: true"))).target).toMatch(
      /^empty-[0-9a-f]{6}-\d+$/,
    );
    expect((await getRun(test.deps, await run("empty_target: true", { target: "t" }))).target).toBe("t");
    expect((await getRun(test.deps, await run("empty_target: true", { empty_target: false }))).target).toBe(
      "",
    );
    expect((await getRun(test.deps, await run("empty_target: false"))).target).toBe("");
  });

  it.each(["disable_logging: true", "silent: true"])("disable the log with %s", async (preference) => {
    const runId = await run(preference);
    expect(await getRun(test.deps, runId)).toMatchObject({ status: "completed" });
    expect(await logOf(runId)).toBe("");
    expect(await logOf(await run("silent: false"))).toContain("said");
  });

  it("set the heuristics of the target, unless the run does", async () => {
    const target = "https://a.example.org/x";
    const facts = async (preferences: string, body: object = {}) => {
      const { values } = await runValues(test.deps, await run(preferences, { target, ...body }));
      const { HeuristicsCheck, TargetType, TargetRootDomain, TargetHost } = values;
      return [HeuristicsCheck, TargetType, TargetRootDomain, TargetHost];
    };
    const found = ["url", "example.org", "a.example.org"];
    expect(await facts("")).toEqual(["basic", ...found]);
    expect(await facts("heuristics_check: none")).toEqual(["none", "", "", ""]);
    expect(await facts("heuristics_check: none", { heuristics_check: "basic" })).toEqual(["basic", ...found]);
    expect(await facts("heuristics_check: advanced")).toEqual(["advanced", ...found]);
  });

  it("produce a warning for each one without effect", () => {
    const warningsOf = (text: string) => {
      const parsed = parseDefinition(withPreferences(text));
      return parsed.ok ? parsed.warnings : parsed.errors;
    };
    expect(
      warningsOf("disable_notifications: true, heuristics_check: advanced, repeat_wait_time: 5m"),
    ).toEqual([
      "preferences.disable_notifications: has no effect: runs send no notifications; trigger a workflow by their events instead (line 2)",
      "preferences.heuristics_check: advanced has the same effect as basic (line 2)",
      "preferences.repeat_wait_time: has no effect without repeat (line 2)",
    ]);
    expect(warningsOf("repeat: true, repeat_wait_time: 5m, silent: true, ci_output_format: false")).toEqual(
      [],
    );
    expect(warningsOf("colour: red")).toEqual(["preferences.colour: unknown key, ignored (line 2)"]);
  });

  it.each([
    ["heuristics_check: deep", "must be one of none, basic, advanced"],
    ["repeat_wait_time: soon", "is not a duration: use 500ms, 30s, 5m, 2h or 1d"],
    ["silent: perhaps", "must be true or false"],
  ])("are rejected with %s", (text, message) => {
    expect(parseDefinition(withPreferences(text))).toMatchObject({ ok: false, errors: [{ message }] });
  });

  it("are inherited, and can be overridden", async () => {
    await storeWorkflow(test.deps, withPreferences("silent: true, empty_target: true"));
    const parent = parseDefinition(withPreferences("silent: true, empty_target: true"));
    const child = parseDefinition(
      "name: c\nextends: m\npreferences: {repeat: true}\noverride: {preferences: {silent: false}}\n",
      parent.ok ? { parent: parent.definition } : {},
    );
    expect(child).toMatchObject({
      ok: true,
      definition: { preferences: { silent: false, empty_target: true, repeat: true } },
    });
  });
});
