import { describe, expect, it } from "vitest";
import { parseDefinition } from "./parse.ts";
import { describeProblem } from "./problems.ts";
import type { Definition } from "./types.ts";

const STEP = { name: "a", type: "bash", command: "true" };

function accepted(workflow: object): { definition: Definition; warnings: readonly string[] } {
  const outcome = parseDefinition({ json: { name: "w", ...workflow } });
  if (!outcome.ok) throw new Error(outcome.errors.map(describeProblem).join("; "));
  return outcome;
}

describe("warns of what the reference ignores", () => {
  it("a report without a path", () => {
    const reports = [{ name: "lost", type: "text" }, { path: "kept.txt" }];
    const { definition, warnings } = accepted({ steps: [STEP], reports });
    expect(definition.reports).toEqual([{ path: "kept.txt", optional: false }]);
    expect(warnings).toEqual(["reports[0].path: is missing: the report is ignored"]);
  });

  it("triggers without required fields; an event trigger without a topic fires for every event", () => {
    const triggers = [
      { on: "cron" },
      { name: "x" },
      { on: "watch" },
      { on: "event", event: { filters: ["event.data.x == 1"] } },
      { on: "event", event: { topic: "" } },
    ];
    const { definition, warnings } = accepted({ steps: [STEP], triggers });
    expect(definition.triggers).toMatchObject([
      { name: "event-4", topic: "*", filters: ["event.data.x == 1"] },
      { name: "event-5", topic: "*" },
    ]);
    expect(warnings).toEqual([
      "triggers[4].event.topic: is empty, ignored",
      expect.stringMatching(/^triggers\[0\]\.schedule: .*the trigger is ignored$/),
      expect.stringMatching(/^triggers\[1\]\.type: .*the trigger is ignored$/),
      expect.stringMatching(/^triggers\[2\]\.path: .*the trigger is ignored$/),
      expect.stringMatching(/^triggers\[3\]\.topic: .*the trigger fires for every event$/),
      expect.stringMatching(/^triggers\[4\]\.topic: .*the trigger fires for every event$/),
    ]);
  });

  it("nested steps without a name, which are named", () => {
    const inner = { type: "bash", command: "true" };
    const { definition, warnings } = accepted({
      steps: [
        { name: "each", type: "foreach", input: ["x"], variable: "v", step: inner },
        { name: "both", type: "parallel-steps", parallel_steps: [inner, { ...inner, name: "own" }] },
      ],
    });
    expect(definition.steps).toMatchObject([
      { step: { name: "each-item" } },
      { parallel_steps: [{ name: "both-1" }, { name: "own" }] },
    ]);
    expect(warnings).toHaveLength(2);
  });

  it("empty values of keys that are not required", () => {
    const step = { ...STEP, commands: [], timeout: "", pre_condition: " ", std_file: "" };
    const { definition, warnings } = accepted({ steps: [step], params: [{ name: "p", generator: "" }] });
    expect(definition.steps[0]).toEqual({ ...STEP, exports: {}, on_success: [], on_error: [] });
    expect(warnings).toHaveLength(5);
    expect(warnings).toContain("steps[0].commands: is empty, ignored");
    expect(
      parseDefinition({ json: { name: "w", steps: [{ ...STEP, type: "foreach", input: "" }] } }),
    ).toMatchObject({
      errors: expect.arrayContaining([{ path: "steps[0].input", message: "must not be empty" }]),
    });
  });

  it("steps of a flow, modules of a module, and fields whose counterpart is missing", () => {
    const modules = [{ name: "m", path: "m" }];
    const flow = accepted({ kind: "flow", modules, steps: [STEP] });
    expect(flow).toMatchObject({
      definition: { steps: [] },
      warnings: ["steps: a flow has modules, not steps: ignored"],
    });
    const module = accepted({ kind: "module", modules, steps: [STEP] });
    expect(module).toMatchObject({ definition: { modules: [] }, warnings: [/.*/] });
    const remote = {
      name: "r",
      type: "remote-bash",
      step_runner: "ssh",
      command: "x",
      step_remote_file: "/x",
    };
    expect(accepted({ steps: [remote] }).warnings).toEqual([
      "steps[0].step_remote_file: has no effect without host_output_file",
    ]);
  });

  it("a decision without a switch, which compares the empty text", () => {
    const { definition, warnings } = accepted({
      steps: [{ ...STEP, decision: { default: { goto: "_end" } } }],
    });
    expect(definition.steps[0]?.decision).toMatchObject({ switch: "", default: { goto: "_end" } });
    expect(warnings).toEqual(["steps[0].decision.switch: is missing: the default applies"]);
  });
});

describe("handlers", () => {
  it("accept the spellings of the reference", () => {
    const on_success = [
      { action: "export", key: "k", value: "v" },
      { action: "export", name: "list", value: [1, "x"] },
      { action: "run", step: "b", condition: "true" },
      { action: "run", step: "f" },
      { type: "function", script: "log_info('x')" },
      { type: "bash", script: "echo x" },
      { action: "run", type: "function", script: "log_info('y')" },
    ];
    const b = { name: "b", type: "bash", commands: ["one", "two"] };
    const f = { name: "f", type: "function", function: "1 + 1" };
    const { definition, warnings } = accepted({ steps: [{ ...STEP, on_success }, b, f] });
    expect(warnings).toEqual([]);
    expect(definition.steps[0]?.on_success).toEqual([
      { action: "export", name: "k", value: "v" },
      { action: "export", name: "list", value: '[1,"x"]' },
      { action: "run", type: "bash", command: "one", condition: "true" },
      { action: "run", type: "bash", command: "two", condition: "true" },
      { action: "run", type: "function", functions: ["1 + 1"] },
      { action: "run", type: "function", functions: ["log_info('x')"] },
      { action: "run", type: "bash", command: "echo x" },
      { action: "run", type: "function", functions: ["log_info('y')"] },
    ]);
  });

  it("are normalized in modules, hooks and nested steps", () => {
    const handlers = {
      on_success: [{ type: "function", script: "1" }],
      on_error: [{ action: "export", key: "k" }],
    };
    const read = {
      on_success: [{ action: "run", functions: ["1"] }],
      on_error: [{ action: "export", name: "k" }],
    };
    const { definition } = accepted({
      modules: [{ name: "m", steps: [{ ...STEP, ...handlers }], ...handlers }],
      hooks: { pre_scan_steps: [{ ...STEP, ...handlers }] },
    });
    expect(definition.modules).toMatchObject([{ ...read, steps: [read] }]);
    expect(definition.hooks?.pre_scan_steps).toMatchObject([read]);
  });

  it("that are incomplete are ignored, with a warning", () => {
    const on_error = [
      { action: "run" },
      { action: "export" },
      { action: "run", step: "gone" },
      { action: "continue" },
    ];
    const { definition, warnings } = accepted({ steps: [{ ...STEP, on_error }] });
    expect(definition.steps[0]?.on_error).toEqual([{ action: "continue" }]);
    expect(warnings).toEqual([
      expect.stringMatching(/^steps\[0\]\.on_error\[0\]: a run action requires .*ignored$/),
      expect.stringMatching(/^steps\[0\]\.on_error\[1\]: an export action requires name, ignored$/),
      'steps[0].on_error[2]: unknown step "gone", ignored',
    ]);
  });
});

describe("names are checked even if there are schema errors", () => {
  it("reports unknown names, and warns of duplicates", () => {
    const outcome = parseDefinition({
      json: {
        name: "w",
        colour: "red",
        hidden: "perhaps",
        params: [{ name: "a b" }],
        steps: [
          { name: "bad", type: "bsh" },
          { name: "twice", type: "bash", command: "true" },
          { name: "twice", type: "bash", command: "true", depends_on: ["gone", "bad"] },
        ],
      },
    });
    if (outcome.ok) throw new Error("the workflow was accepted");
    expect(outcome.warnings).toEqual([
      "colour: unknown key, ignored",
      'steps[2].name: the step name "twice" is used more than once: this step is called "twice-2"',
    ]);
    expect(outcome.errors.map(({ path, message }) => `${path}: ${message}`)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^steps\[0\]\.type: unknown step type/),
        expect.stringMatching(/^hidden: /),
        expect.stringMatching(/^params\[0\]\.name: /),
        'steps[2].depends_on[0]: unknown step "gone"',
      ]),
    );
    expect(outcome.errors).toHaveLength(4);
  });

  it("does not reject references to an invalid part", () => {
    const steps = [
      { name: "bad", type: "http", exports: { kept: "x" } },
      { name: "b", type: "bash", command: "echo {{kept}} {{bad_body}}", depends_on: ["bad"] },
    ];
    const outcome = parseDefinition({ json: { name: "w", steps, modules: "none" } });
    expect(outcome).toMatchObject({ ok: false, errors: [{ path: "steps[0].url" }, { path: "modules" }] });
  });
});
