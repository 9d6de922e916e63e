import { describe, expect, it } from "vitest";
import { parseDefinition } from "../schema/parse.ts";
import { hookSteps, inlineSteps, stepsOf } from "./module-steps.ts";
import { everyStep } from "./program.ts";

function compiled(yaml: string): string[] {
  const parsed = parseDefinition(yaml);
  if (!parsed.ok) throw new Error(parsed.errors[0]?.message);
  expect(stepsOf(parsed.definition)).toBe(stepsOf(parsed.definition));
  return everyStep(stepsOf(parsed.definition)).map((step) => {
    const runner = step.type === "remote-bash" ? ` ${step.step_runner} ${step.step_runner_config.image}` : "";
    const after = step.depends_on === undefined ? "" : ` after ${step.depends_on.join("+")}`;
    return `${step.name} ${step.type}${runner}${after}`;
  });
}

describe("the executed steps of a module", () => {
  it("run commands on the module's runner, including nested steps and hooks", () => {
    expect(
      compiled(`
name: w
runner: docker
runner_config: {image: busybox}
hooks: {post_scan_steps: [{name: last, command: x}]}
steps:
  - {name: a, type: bash, command: x}
  - {name: f, type: function, function: "1"}
  - {name: each, type: foreach, input: [x], variable: v, step: {name: inner, type: bash, command: x}}
  - {name: own, type: remote-bash, step_runner: docker, step_runner_config: {image: alpine}, command: x}
`),
    ).toEqual([
      "a remote-bash docker busybox",
      "f function",
      "each foreach",
      "inner remote-bash docker busybox",
      "own remote-bash docker alpine",
      "last remote-bash docker busybox",
    ]);
  });

  it("run commands of a step on the step's own runner if it has one", () => {
    expect(
      compiled(`
name: w
runner: docker
runner_config: {image: busybox}
steps:
  - {name: here, type: bash, step_runner: host, command: x}
  - {name: other, type: bash, step_runner: docker, step_runner_config: {image: alpine}, command: x}
  - {name: shared, type: bash, step_runner: docker, step_runner_config: {network: none}, command: x}
  - {name: far, type: bash, step_runner: ssh, step_runner_config: {host: h}, command: x}
`),
    ).toEqual([
      "here bash",
      "other remote-bash docker alpine",
      "shared remote-bash docker busybox",
      "far remote-bash ssh undefined",
    ]);
    expect(
      compiled(`
name: w
steps:
  - {name: a, type: bash, command: x}
  - name: each
    type: foreach
    input: [x]
    variable: v
    step: {name: b, type: bash, step_runner: docker, step_runner_config: {image: alpine}, command: x}
`),
    ).toEqual(["a bash", "each foreach", "b remote-bash docker alpine"]);
  });

  it("run commands of inline modules and hooks of a flow on their runners", () => {
    const parsed = parseDefinition(`
name: f
hooks: {pre_scan_steps: [{name: p, command: x, step_runner: docker, step_runner_config: {image: a}}]}
modules:
  - {name: m, steps: [{name: s, type: bash, command: x, step_runner: docker, step_runner_config: {image: b}}]}
`);
    if (!parsed.ok) throw new Error(parsed.errors[0]?.message);
    const [module] = parsed.definition.modules;
    expect(hookSteps(parsed.definition, "pre_scan_steps")).toMatchObject([
      { type: "remote-bash", step_runner_config: { image: "a" }, on_error: [{ action: "continue" }] },
    ]);
    expect(hookSteps(parsed.definition, "post_scan_steps")).toEqual([]);
    expect(module && inlineSteps(module)).toMatchObject([
      { type: "remote-bash", step_runner_config: { image: "b" } },
    ]);
  });

  it("with dependencies wait for the hooks before them, and the hooks after them wait for all steps", () => {
    expect(
      compiled(`
name: w
hooks:
  pre_scan_steps: [{name: p1, command: x}, {name: p2, command: x}]
  post_scan_steps: [{name: z1, command: x}, {name: z2, command: x}]
steps:
  - {name: a, type: bash, command: x}
  - {name: b, type: bash, command: x, depends_on: [a]}
`),
    ).toEqual([
      "p1 bash after ",
      "p2 bash after p1",
      "a bash after p2",
      "b bash after a",
      "z1 bash after a+b",
      "z2 bash after z1",
    ]);
  });
});
