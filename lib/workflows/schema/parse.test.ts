import { describe, expect, it } from "vitest";
import { type ParseOptions, parseDefinition } from "./parse.ts";
import { describeProblem } from "./problems.ts";
import type { Definition } from "./types.ts";

const STEP = { name: "only", type: "bash", command: "true" };

function parsed(
  source: unknown,
  options?: ParseOptions,
): { definition: Definition; warnings: readonly string[] } {
  const outcome = parseDefinition(typeof source === "string" ? source : { json: source }, options);
  if (!outcome.ok) throw new Error(outcome.errors.map(describeProblem).join("\n"));
  return outcome;
}

/** Each problem as one line. */
function problems(source: unknown): string[] {
  const outcome = parseDefinition(typeof source === "string" ? source : { json: source });
  return outcome.ok ? [] : outcome.errors.map(describeProblem);
}

function withSteps(...steps: readonly unknown[]): unknown {
  return { name: "w", steps };
}

function withTrigger(trigger: unknown): unknown {
  return { name: "w", steps: [STEP], triggers: [trigger] };
}

describe("a workflow", () => {
  it("is normalized to a form that survives JSON", () => {
    const { definition, warnings } = parsed(`
name: audit
description: Looks at a repository
tags: git, daily ,
params:
  - {name: depth, type: integer, default: 3}
  - {name: strict, type: boolean, required: true}
  - name: version
    default: 1.10
triggers:
  - {type: cron, schedule: "*/5 * * * *", timezone: Europe/Berlin}
steps:
  - name: list
    type: bash
    command: git -C {{Target}} ls-files
    timeout: 30
    exports: {count: "{{list_output}}"}
    on_error: [{action: continue}]
`);

    expect(warnings).toEqual([]);
    expect(definition).toEqual({
      name: "audit",
      kind: "module",
      description: "Looks at a repository",
      tags: ["git", "daily"],
      hidden: false,
      params: [
        { name: "depth", type: "int", default: "3", required: false },
        { name: "strict", type: "bool", required: true },
        { name: "version", type: "string", default: "1.10", required: false },
      ],
      triggers: [
        {
          type: "cron",
          name: "cron-1",
          enabled: true,
          input: {},
          schedule: "*/5 * * * *",
          timezone: "Europe/Berlin",
        },
      ],
      steps: [
        {
          name: "list",
          type: "bash",
          command: "git -C {{Target}} ls-files",
          timeout: 30,
          exports: { count: "{{list_output}}" },
          on_success: [],
          on_error: [{ action: "continue" }],
        },
      ],
      modules: [],
    });
    expect(JSON.parse(JSON.stringify(definition))).toEqual(definition);
  });

  it("is parsed equally from JSON and from YAML", () => {
    const json = { name: "w", steps: [{ ...STEP, exports: { a: 1, b: true } }] };

    expect(parsed(json)).toEqual(
      parsed("name: w\nsteps:\n- {name: only, type: bash, command: 'true', exports: {a: 1, b: true}}"),
    );
  });

  it("gets its name from the caller if it has none", () => {
    expect(parsed({ steps: [STEP] }, { fallbackName: "from-file" }).definition.name).toBe("from-file");
    expect(problems({ steps: [STEP] })).toEqual(["name: is required"]);
    expect(parseDefinition({ json: { steps: [STEP] } }, { fallbackName: "no/path" })).toMatchObject({
      ok: false,
    });
  });

  it.each(["-a", "a/b", "a b", "", "../a", "a".repeat(129), "ä"])("rejects the name %j", (name) => {
    expect(problems({ name, steps: [STEP] }).join()).toMatch(/^name: (must|is required)/);
  });

  it("is a flow if it has modules and a module if it has steps, and cannot have both", () => {
    const modules = [{ name: "m", path: "common/enum.yaml" }];

    expect(parsed({ name: "f", modules }).definition).toMatchObject({
      kind: "flow",
      modules: [{ name: "m", path: "enum", params: {}, depends_on: [] }],
    });
    expect(problems({ name: "f", modules, steps: [STEP] }).join()).toMatch(/a module has steps, not modules/);
    expect(problems({ name: "f", kind: "flow", steps: [STEP] }).join()).toMatch(
      /a flow has modules, not steps/,
    );
    expect(problems({ name: "f" }).join()).toMatch(/requires at least one entry in steps/);
    expect(problems({ name: "f", steps: [] }).join()).toMatch(/requires at least one entry in steps/);
  });

  it("treats a key without a value as missing", () => {
    expect(
      parsed("name: w\ndescription:\ntriggers:\nsteps:\n- name: a\n  type: bash\n  command: x\n  exports:\n"),
    ).toMatchObject({ warnings: [], definition: { description: "", triggers: [] } });
  });

  it("warns of unknown keys at any level, with their paths, and drops them", () => {
    const { definition, warnings } = parsed(
      "name: w\nauthor: me\nsteps:\n- name: p\n  type: parallel-steps\n  parallel_steps:\n  - {name: a, type: bash, command: x, desc: y}\n",
    );

    expect(warnings).toEqual([
      "steps[0].parallel_steps[0].desc: unknown key, ignored (line 7)",
      "author: unknown key, ignored (line 2)",
    ]);
    expect(JSON.stringify(definition)).not.toContain('desc"');
  });

  it("warns of features that are known but not implemented", () => {
    const { warnings } = parsed({
      name: "w",
      reports: [],
      preferences: {},
      help: {},
      steps: [{ ...STEP, suppress_details: true, stream: true, goto: "x" }],
    });

    expect(warnings).toEqual([
      "steps[0].stream: is not supported yet, ignored",
      "steps[0].goto: unknown key, ignored",
    ]);
  });

  it("reports all problems at once, up to a limit", () => {
    const steps = Array.from({ length: 80 }, (_, at) => ({ name: `s${at}`, type: "bsh" }));

    expect(problems({ name: "-", steps })).toHaveLength(51);
    expect(problems({ name: "-", steps }).at(-1)).toBe("and 31 more problems");
  });
});

describe("step names", () => {
  it("that are duplicates are numbered, with a warning", () => {
    const inner = { name: "only", type: "bash", command: "x" };
    const foreach = { name: "each", type: "foreach", input: "f", variable: "v", step: inner };
    const parallel = { name: "only", type: "parallel-steps", parallel_steps: [inner, STEP] };
    const numbered = { ...STEP, name: "only-2" };

    const { definition, warnings } = parsed(withSteps(STEP, foreach, parallel, numbered));
    expect(definition.steps).toMatchObject([
      { name: "only" },
      { name: "each", step: { name: "only-4" } },
      { name: "only-3", parallel_steps: [{ name: "only-5" }, { name: "only-6" }] },
      { name: "only-2" },
    ]);
    expect(warnings).toContain(
      'steps[1].step.name: the step name "only" is used more than once: this step is called "only-4"',
    );
  });

  it("in goto and depends_on refer to the module's own list, and to the first of several", () => {
    const inner = { name: "later", type: "bash", command: "x" };
    const foreach = { name: "each", type: "foreach", input: "f", variable: "v", step: inner };
    const later = { ...inner, depends_on: ["each"] };
    const last = { ...inner, depends_on: ["later"] };

    const { definition } = parsed(withSteps(foreach, later, last));
    expect(definition.steps).toMatchObject([
      { name: "each", step: { name: "later-3" } },
      { name: "later", depends_on: ["each"] },
      { name: "later-2", depends_on: ["later"] },
    ]);
  });

  it("stay within their length limit when numbered", () => {
    const long = { ...STEP, name: "n".repeat(128) };

    const { definition } = parsed(withSteps(long, long));
    expect(definition.steps.map(({ name }) => name)).toEqual(["n".repeat(128), `${"n".repeat(126)}-2`]);
  });

  it("may be repeated in another module of a flow", () => {
    const modules = [
      { name: "a", steps: [STEP] },
      { name: "b", steps: [STEP] },
    ];

    expect(parsed({ name: "f", modules }).definition.modules).toHaveLength(2);
  });

  it("produce a warning if two of them map to the same output variable", () => {
    const { warnings } = parsed(withSteps({ ...STEP, name: "a-b" }, { ...STEP, name: "a_b" }));

    expect(warnings.join()).toMatch(/steps\[1\]\.name: .*a_b_output.*"a-b"/);
  });

  it.each(["", "-a", "a;b", "a\nb", "a".repeat(129), null])("must not be %j", (name) => {
    expect(problems(withSteps({ ...STEP, name })).join()).toMatch(/^steps\[0\]\.name: (must|is required)/);
  });
});

describe("limits", () => {
  it("restrict the number of steps, including nested ones", () => {
    const group = (at: number) => ({
      name: `g${at}`,
      type: "parallel-steps",
      parallel_steps: Array.from({ length: 250 }, (_, n) => ({ ...STEP, name: `s${at}-${n}` })),
    });

    expect(problems(withSteps(group(0), group(1), group(2)))).toEqual([]);
    expect(problems(withSteps(group(0), group(1), group(2), group(3))).join()).toMatch(/at most 1000 steps/);
  });

  it("restrict the nesting of steps", () => {
    const nest = (depth: number): unknown =>
      depth === 1
        ? STEP
        : { name: `n${depth}`, type: "foreach", input: "f", variable: "v", step: nest(depth - 1) };

    expect(problems(withSteps(nest(16)))).toEqual([]);
    expect(problems(withSteps(nest(17))).join()).toMatch(/nested at most 16 levels deep/);
  });

  it.each([
    [
      {
        name: "w",
        steps: [
          { ...STEP, exports: Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`e${n}`, "x"])) },
        ],
      },
      /exports: must have at most 64/,
    ],
    [
      { name: "w", steps: [{ name: "a", type: "bash", commands: Array(1_001).fill("x") }] },
      /commands: must have at most 1000/,
    ],
    [
      { name: "w", steps: [STEP], triggers: Array(65).fill({ type: "manual" }) },
      /triggers: must have at most 64/,
    ],
    [{ name: "w", steps: [STEP], params: Array(257).fill({ name: "a" }) }, /params: must have at most 256/],
    [withSteps({ name: "a", type: "bash", command: "x".repeat(65_537) }), /longer than 65536 characters/],
  ])("restrict the parts (%#)", (source, message) => {
    expect(problems(source).join()).toMatch(message);
  });
});

describe("triggers", () => {
  it("are accepted in the flat and in the nested spelling", () => {
    const flat = parsed(
      withTrigger({ type: "event", topic: "custom.x", input: { target: "event_data.url" } }),
    );
    const nested = parsed(
      withTrigger({
        on: "event",
        event: { topic: "custom.x" },
        input: { type: "event_data", field: "url", name: "target" },
      }),
    );

    expect(nested.definition).toEqual(flat.definition);
    expect(flat.definition.triggers).toEqual([
      {
        type: "event",
        name: "event-1",
        enabled: true,
        topic: "custom.x",
        filters: [],
        input: { target: "event_data.url" },
      },
    ]);
  });

  it("are enabled by default", () => {
    const enabled = (value: unknown) =>
      parsed(withTrigger({ type: "manual", enabled: value })).definition.triggers[0]?.enabled;

    expect(enabled(undefined)).toBe(true);
    expect(enabled(false)).toBe(false);
    expect(enabled("false")).toBe(false);
  });

  it("accept a variable named type", () => {
    const { definition } = parsed(
      withTrigger({ type: "event", topic: "a", input: { type: "event_data.kind" } }),
    );

    expect(definition.triggers[0]?.input).toEqual({ type: "event_data.kind" });
  });

  it("accept the fields of their type without a warning", () => {
    const all = [
      { type: "event", topic: "a", filters: ["x"], dedupe_key: "k", dedupe_window: "5m" },
      { type: "watch", path: "/in/*", debounce: "500ms" },
      { type: "webhook", auth: "hmac", tolerance: "1m" },
      { type: "cron", schedule: "0 0 * * *", timezone: "UTC", misfire: "all" },
    ];
    for (const trigger of all) {
      const { warnings, definition } = parsed(withTrigger(trigger));
      expect(warnings).toEqual([]);
      expect(definition.triggers[0]).toMatchObject(trigger);
    }
    const window = parsed(withTrigger({ type: "event", topic: "a", dedupe_key: "k" })).definition.triggers[0];
    expect(window).toMatchObject({ dedupe_window: "5m" });
  });

  it.each([
    [{ type: "webhook", auth: "password" }, /triggers\[0\]\.auth: .*key, hmac, hmac-body, none/],
    [{ type: "cron", schedule: "0 0 * * *", misfire: "some" }, /triggers\[0\]\.misfire: .*none, last, all/],
    [{ type: "watch", path: "x".repeat(2_000) }, /triggers\[0\]\.path: .*1024/],
    [{ type: "cron", schedule: "* * *" }, /triggers\[0\]\.schedule: .*five fields/],
    [{ type: "cron", schedule: "0 0 31 2 *" }, /triggers\[0\]\.schedule: .*never fires/],
    [
      { type: "cron", schedule: "* * * * *", timezone: "Mars/X" },
      /triggers\[0\]\.timezone: .*not a time zone/,
    ],
    [{ type: "event", topic: "a".repeat(257) }, /triggers\[0\]\.topic: must have at most 256/],
    [{ type: "hourly" }, /triggers\[0\]\.type: must be one of cron, event, watch, manual/],
    [{ type: "cron", on: "event" }, /triggers\[0\]\.on: is event, but type is cron/],
    [{ type: "event", topic: "a", input: { type: "event_data" } }, /input\.field: is required/],
    [{ type: "event", topic: "a", input: { "a b": "x" } }, /input\["a b"\]: a name must start/],
    [{ type: "event", topic: "a", dedupe_window: "soon" }, /dedupe_window: is not a duration/],
  ])("reject %j", (trigger, message) => {
    expect(problems(withTrigger(trigger)).join("\n")).toMatch(message);
  });

  it("have unique names in the workflow", () => {
    const triggers = [{ type: "manual", name: "manual-2" }, { type: "manual" }];

    expect(problems({ name: "w", steps: [STEP], triggers }).join()).toMatch(
      /triggers\[1\]\.name: .*used twice/,
    );
  });
});

describe("modules of a flow", () => {
  it.each([
    [{ name: "m" }, /requires either path/],
    [{ name: "m", path: "a", steps: [STEP] }, /requires either path/],
    [{ name: "m", path: "a/" }, /modules\[0\]\.path: must end in the name/],
    [{ name: "m", path: "a", depends_on: ["x"] }, /modules\[0\]\.depends_on\[0\]: unknown module "x"/],
    [{ name: "m", steps: [] }, /modules\[0\]: requires either path/],
  ])("reject %j", (module, message) => {
    expect(problems({ name: "f", modules: [module] }).join("\n")).toMatch(message);
  });

  it("may depend on later modules, but not form a cycle", () => {
    const a = { name: "a", path: "x", depends_on: ["b"] };
    const b = { name: "b", path: "y", condition: "true" };

    expect(parsed({ name: "f", modules: [a, b] }).warnings).toEqual([]);
    expect(problems({ name: "f", modules: [a, { ...b, depends_on: ["a"] }] })).toEqual([
      "modules[0].depends_on: depends on itself: a -> b -> a",
    ]);
  });
});
