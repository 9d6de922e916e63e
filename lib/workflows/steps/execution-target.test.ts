import { describe, expect, it } from "vitest";
import { parseDefinition } from "../schema/parse.ts";
import type { Step } from "../schema/types.ts";
import { functions } from "../script-library/library.ts";
import { WORKSPACE_FUNCTIONS } from "../script-library/workspace-functions.ts";
import { executionTargetOf } from "./execution-target.ts";

function step(yaml: string): Step {
  const parsed = parseDefinition(`name: x\nsteps:\n  - {name: s, ${yaml}}\n`);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors));
  return parsed.definition.steps[0] as Step;
}

describe("the execution target of a step", () => {
  it.each([
    ['type: bash, command: "true"'],
    ["type: function, function: 'readFile(\"a\")'"],
    ["type: function, functions: ['trim(\" a\")', 'exec_cmd(\"ls\")']"],
    ["type: function, function: 'trim(\"a\")', pre_condition: 'file_exists(\"a\")'"],
    ["type: function, function: '1', exports: {lines: 'read_lines(\"a\")'}"],
    ["type: function, function: '1', on_error: [{action: run, type: bash, command: ls}]"],
    ["type: function, function: '1', timeout: 1h"],
    ["type: function, function: '1', timeout: '{{t}}'"],
    [
      "type: http, url: 'http://x/', on_success: [{action: run, type: function, functions: ['save_content(\"a\", \"b\")']}]",
    ],
    ['type: foreach, input: items.txt, variable: x, step: {name: y, type: function, function: "1"}'],
  ])("is the workspace for %s", (yaml) => {
    expect(executionTargetOf(step(yaml), { phase: step(yaml).type === "foreach" ? "enter" : "run" })).toBe(
      "workspace",
    );
  });

  it("is the workspace for a foreach that writes a file of its outputs", () => {
    const each = step(
      'type: foreach, input: ["a"], variable: x, exports: {streaming_output: f}, step: {name: y, type: bash, command: ls}',
    );
    expect([
      executionTargetOf(each, { phase: "enter" }),
      executionTargetOf(each, { phase: "leave" }),
    ]).toEqual(["anywhere", "workspace"]);
  });

  it.each([
    ["type: function, function: 'trim(\"a\")'"],
    ['type: function, function: \'jq("{}", ".")\', timeout: 30'],
    ['type: http, url: "http://x/", timeout: 5m'],
    ['type: foreach, input: ["a"], variable: x, step: {name: y, type: bash, command: ls}'],
    ["type: parallel-steps, parallel_steps: [{name: y, type: bash, command: ls}]"],
  ])("is anywhere for %s", (yaml) => {
    expect(executionTargetOf(step(yaml), { phase: "enter" })).toBe("anywhere");
  });

  it("is the workspace for a batch of items of any step", () => {
    const child = step("type: function, function: '1'");
    expect(executionTargetOf(child, { phase: "run", items: [0, 10] })).toBe("workspace");
  });

  it("is the workspace for the end of a module that has reports", () => {
    const end = { ...step("type: function, function: '1'"), reports: [{ path: "a.txt", optional: false }] };
    expect(executionTargetOf(end as Step, { phase: "handlers" })).toBe("workspace");
    expect(executionTargetOf(end as Step, { phase: "gate" })).toBe("anywhere");
  });

  it("knows every function that uses the workspace or starts commands", () => {
    const using = Object.entries(functions)
      .filter(([, { run }]) => /\b(?:pathOf|readText|linesOf|chunksOf|exec|cwd)\b/.test(String(run)))
      .map(([name]) => name);
    expect(using.filter((name) => !WORKSPACE_FUNCTIONS.has(name))).toEqual([]);
    expect([...WORKSPACE_FUNCTIONS].filter((name) => !Object.hasOwn(functions, name))).toEqual([]);
  });
});
