import { describe, expect, it } from "vitest";
import { parseDefinition } from "./parse.ts";
import type { Definition } from "./types.ts";

const step = (name: string, more: object = {}) => ({ name, type: "bash", command: "true", ...more });

function read(workflow: object): { definition: Definition; warnings: readonly string[] } {
  const outcome = parseDefinition({ json: { name: "w", ...workflow } });
  if (!outcome.ok) throw new Error(outcome.errors.map(({ message }) => message).join("; "));
  return outcome;
}

function refusals(workflow: object): string[] {
  const outcome = parseDefinition({ json: { name: "w", ...workflow } });
  return outcome.ok ? [] : outcome.errors.map(({ path = "", message }) => `${path}: ${message}`);
}

describe("a step with retries", () => {
  it("accepts delays in every form of a duration, and has defaults", () => {
    const retries = [
      { max_attempts: 3, delay: "2m" },
      { max_attempts: 2, delay: 0.5, backoff: 1 },
      { max_attempts: 1 },
    ];
    const { definition } = read({ steps: retries.map((retry, at) => step(`s${at}`, { retry })) });
    expect(definition.steps.map(({ retry }) => retry)).toEqual([
      { max_attempts: 3, delay: 120_000, backoff: 2 },
      { max_attempts: 2, delay: 500, backoff: 1 },
      { max_attempts: 1, delay: 1_000, backoff: 2 },
    ]);
  });

  it.each([
    [{ max_attempts: 0 }, /retry\.max_attempts: must be at least 1/],
    [{ max_attempts: 101 }, /retry\.max_attempts: must be at most 100/],
    [{ max_attempts: 2, delay: "soon" }, /retry\.delay: is not a duration/],
    [{ max_attempts: 2, delay: "2d" }, /retry\.delay: must be at most 1d/],
    [{ max_attempts: 2, backoff: 0 }, /retry\.backoff: must be at least 1/],
    [3, /retry: must be a retry/],
  ])("rejects %j", (retry, message) => {
    expect(refusals({ steps: [step("s", { retry })] }).join("\n")).toMatch(message);
  });

  it("must not contain other steps", () => {
    const holder = {
      name: "p",
      type: "parallel-steps",
      parallel_steps: [step("a")],
      retry: { max_attempts: 2 },
    };
    expect(refusals({ steps: [holder] })[0]).toMatch(
      /^steps\[0\]\.retry: is only allowed on steps without nested steps/,
    );
  });
});

describe("steps with dependencies", () => {
  it("refer to steps of their own list, and not to themselves", () => {
    const steps = [step("a", { depends_on: ["c"] }), step("b", { depends_on: ["a", "nobody"] }), step("c")];
    expect(refusals({ steps })).toEqual(['steps[1].depends_on[1]: unknown step "nobody"']);
    const circle = [step("a", { depends_on: ["b"] }), step("b", { depends_on: ["a"] })];
    expect(refusals({ steps: circle })).toEqual(["steps[0].depends_on: depends on itself: a -> b -> a"]);
  });

  it("must not be nested", () => {
    const holder = { name: "p", type: "parallel-steps", parallel_steps: [step("a", { depends_on: ["b"] })] };
    expect(refusals({ steps: [holder, step("b")] })[0]).toMatch(
      /^steps\[0\]\.parallel_steps\[0\]\.depends_on/,
    );
  });
});

describe("a decision", () => {
  it("is normalized", () => {
    const decision = {
      switch: "{{x}}",
      cases: { a: { goto: "b" }, c: { command: "echo c", functions: ["log_info('c')"] } },
      default: { goto: "_end", function: "1" },
    };
    expect(read({ steps: [step("a", { decision }), step("b")] }).definition.steps[0]?.decision).toEqual({
      switch: "{{x}}",
      cases: {
        a: { goto: "b", commands: [], functions: [] },
        c: { commands: ["echo c"], functions: ["log_info('c')"] },
      },
      default: { goto: "_end", commands: [], functions: ["1"] },
      conditions: [],
    });
  });

  it.each([
    [{ conditions: [{ if: "true", goto: "nowhere" }] }, 'conditions[0].goto: unknown step "nowhere"'],
    [{ switch: "x", cases: { a: { goto: "gone" } } }, 'cases.a.goto: unknown step "gone"'],
    [{ conditions: [{ goto: "a" }] }, "conditions[0].if: is required"],
  ])("is rejected: %j", (decision, message) => {
    expect(refusals({ steps: [step("a", { decision })] }).join("\n")).toContain(message);
  });

  it("has no effect if steps have dependencies, with a warning", () => {
    const decision = { conditions: [{ if: "true", goto: "b" }] };
    const { warnings } = read({ steps: [step("a", { decision }), step("b", { depends_on: ["a"] })] });
    expect(warnings).toEqual([expect.stringContaining("steps[0].decision.conditions[0].goto")]);
  });
});

describe("a runner", () => {
  it("has its required fields", () => {
    const runner_config = { image: "alpine", network: "none" };
    expect(read({ steps: [step("a")], runner: "docker", runner_config }).definition.runner).toEqual({
      kind: "docker",
      config: runner_config,
    });
    expect(read({ steps: [step("a")], runner: "host" }).definition).not.toHaveProperty("runner");
    expect(refusals({ steps: [step("a")], runner: "ssh" })).toEqual([
      "runner_config.host: is required for runner: ssh",
    ]);
    expect(
      refusals({ steps: [step("a")], runner: "docker", runner_config: { privileged: true, image: "x" } }),
    ).toEqual(["runner_config.privileged: privileged containers are not allowed"]);
  });
});

describe("hooks and dependencies", () => {
  it("treat steps without a type as bash, and need names that no other step has", () => {
    const hooks = { pre_scan_steps: [{ name: "before", command: "true" }] };
    expect(read({ steps: [step("a")], hooks }).definition.hooks).toMatchObject({
      pre_scan_steps: [{ type: "bash", name: "before" }],
      post_scan_steps: [],
    });
    const shared = read({ steps: [step("before")], hooks });
    expect(shared.definition).toMatchObject({
      steps: [{ name: "before" }],
      hooks: { pre_scan_steps: [{ name: "before-2" }] },
    });
  });

  it("of a flow are kept, and no module may use their names", () => {
    const hooks = { post_scan_steps: [{ name: "after", command: "true" }] };
    const modules = [{ name: "post_scan_steps", steps: [step("a")] }];
    expect(read({ modules: [{ name: "m", steps: [step("a")] }], hooks }).definition.hooks).toMatchObject({
      post_scan_steps: [{ type: "bash", name: "after" }],
    });
    expect(refusals({ modules, hooks })).toEqual(["modules[0].name: is the name of the flow's hooks"]);
    expect(read({ modules }).definition.modules).toHaveLength(1);
  });

  it("accept several types separated by commas, and reject unknown ones", () => {
    const variables = [{ name: "Target", type: "domain, url", required: true }];
    expect(read({ steps: [step("a")], dependencies: { variables } }).definition.dependencies).toEqual({
      commands: [],
      files: [],
      target_types: [],
      functions_conditions: [],
      variables: [{ name: "Target", types: ["domain", "url"] }],
    });
    expect(refusals({ steps: [step("a")], dependencies: { target_types: ["planet"] } })[0]).toMatch(
      /^dependencies\.target_types\[0\]: must be one of domain/,
    );
  });
});

describe("expressions", () => {
  it("that always fail are rejected, with their position", () => {
    const inner = step("in", { command: "echo {{ n / (1 - 1) }}" });
    const steps = [
      step("a", { command: "echo {{ 1 / 0 }}", exports: { x: "{{ 'a' * 2 }}" } }),
      { name: "b", type: "foreach", input: "f", variable: "v", step: inner },
    ];
    expect(refusals({ steps, reports: [{ path: "{{ 1 % 0 }}.md" }] })).toEqual([
      'steps[0].exports.x: "a" is not a number, which "*" needs',
      "steps[0].command: division by zero",
      "steps[1].step.command: division by zero",
      "reports[0].path: division by zero",
    ]);
    const modules = [{ name: "m", path: "m", params: { n: "{{ 3 / 0 }}" } }];
    expect(refusals({ kind: "flow", modules })).toEqual(["modules[0].params.n: division by zero"]);
  });

  it("in a param's default are rejected if no run could start from it", () => {
    const params = [
      { name: "a", default: "{{ threads * 5 }}" },
      { name: "b", default: "{{ threads * }}" },
      { name: "c", default: "{{ threads | no_such_filter }}" },
      { name: "d", default: "{{ a / 0 }}" },
    ];
    expect(refusals({ params, steps: [step("s")] })).toEqual([
      expect.stringMatching(/^params\[1\]\.default: unexpected "}"/),
      expect.stringMatching(/^params\[2\]\.default: unknown filter "no_such_filter"/),
      "params[3].default: division by zero",
    ]);
  });

  it("in a step may be braces of another program", () => {
    expect(refusals({ steps: [step("s", { command: "docker ps --format '{{.State}}'" })] })).toEqual([]);
  });
});
