import { describe, expect, it } from "vitest";
import { parseDefinition } from "./parse.ts";
import type { Problem } from "./problems.ts";
import { refuseYaml } from "./yaml-guard.ts";

const VALID = "name: w\nsteps:\n  - name: a\n    type: bash\n    command: echo\n";

function firstProblem(source: string | { json: unknown }): Problem {
  const outcome = parseDefinition(source);
  if (outcome.ok) throw new Error("it was taken");
  const [first] = outcome.errors;
  if (first === undefined) throw new Error("no problem was told");
  return first;
}

function takes(source: string): boolean {
  return parseDefinition(source).ok;
}

describe("positions", () => {
  const NESTED = `name: w
steps:
  - name: outer
    type: parallel-steps
    parallel_steps:
      - name: loop
        type: foreach
        input: "x"
        variable: v
        step:
          name: inner
          type: bsh
`;

  it("point at a misspelt step type that is deeply nested", () => {
    expect(firstProblem(NESTED)).toMatchObject({
      path: "steps[0].parallel_steps[0].step.type",
      line: 12,
      column: 17,
    });
  });

  it("are the same with Windows line endings and with a byte order mark", () => {
    expect(firstProblem(NESTED.replaceAll("\n", "\r\n"))).toEqual(firstProblem(NESTED));
    expect(firstProblem(`\ufeff${NESTED}`)).toEqual(firstProblem(NESTED));
    expect(firstProblem(`\ufeffname: "-"\n`)).toMatchObject({ line: 1, column: 7 });
  });

  it("point at the map that lacks a key, and at the key that lacks a value", () => {
    expect(firstProblem("name: w\nsteps:\n  - type: bash\n    command: x\n")).toMatchObject({
      path: "steps[0].name",
      line: 3,
      column: 5,
    });
    expect(firstProblem("name: w\nsteps:\n  - name:\n    type: bash\n    command: x\n")).toMatchObject({
      path: "steps[0].name",
      line: 3,
      column: 5,
    });
  });

  it("point at a duplicate name", () => {
    expect(firstProblem(`${VALID}params:\n  - name: a\n  - name: a\n`)).toMatchObject({
      line: 8,
      column: 11,
    });
  });

  it.each([
    ["name: w\nsteps: [\n", 3],
    ["name: w\n  steps: 1\n", 1],
    ["name: 'w\n", 2],
    ["name: w\n\tsteps: []\n", 2],
    ["a: b: c\n", 1],
  ])("are reported for a syntax error: %j", (source, line) => {
    expect(firstProblem(source)).toMatchObject({ line, column: expect.any(Number) });
  });
});

describe("templates without quotes", () => {
  it.each([
    "    command: {{Target}}\n",
    "    command: {{ Target }}/x\n",
    "    command: [[item]]\n",
    "    commands:\n      - {{Target}}\n",
    "    commands:\n      - [[item]] x\n",
  ])("produce a hint to quote them: %j", (line) => {
    const problem = firstProblem(`name: w\nsteps:\n  - name: a\n    type: bash\n${line}`);

    expect(problem.message).toMatch(/in quotes/);
    expect(problem.line).toBe(line.startsWith("    commands") ? 6 : 5);
  });

  it("are allowed inside plain text", () => {
    expect(takes(VALID.replace("echo", "echo {{Target}} [[item]]"))).toBe(true);
  });
});

describe("YAML features that definitions do not allow", () => {
  const NINE_LEVELS = Array.from(
    { length: 9 },
    (_, n) => `l${n}: &l${n} [${n === 0 ? "x" : `*l${n - 1},`.repeat(9)}]`,
  );

  it.each([
    ["an alias bomb", NINE_LEVELS.join("\n"), /anchors are not allowed: &l0/, 1],
    ["an alias", `${VALID}x: *a\n`, /aliases are not allowed: \*a/, 6],
    ["an anchor that holds itself", "a: &a [*a]\n", /anchors/, 1],
    [
      "a function tag",
      `${VALID}x: !!js/function "function () {}"\n`,
      /the tag !!js\/function is not allowed/,
      6,
    ],
    ["a tag of its own", `${VALID}x: !mine y\n`, /the tag !mine/, 6],
    ["a verbatim tag", `${VALID}x: !<tag:yaml.org,2002:str> y\n`, /the tag/, 6],
    ["a directive", `%YAML 1.1\n---\n${VALID}`, /directives/, 1],
    ["a second document", `${VALID}---\n${VALID}`, /only one YAML document/, 6],
    ["a document after the end", `${VALID}...\n${VALID}`, /only one YAML document/, 7],
    ["a key twice", `${VALID}name: again\n`, /the key "name" is duplicated/, 6],
    ["a key twice, spelt otherwise", 'name: w\n"name": again\n', /is duplicated/, 2],
    ["__proto__", `${VALID}__proto__: {polluted: true}\n`, /the key "__proto__" is not allowed/, 6],
    [
      "constructor",
      "name: w\nsteps:\n- constructor: {prototype: {polluted: true}}\n",
      /the key "constructor"/,
      3,
    ],
    ["prototype, escaped", '"proto\\x74ype": 1\n', /the key "prototype"/, 1],
    ["a map as key", "? {a: 1}\n: 2\n", /a key must be a text/, 1],
    ["NUL", "name: w\0\n", /NUL/, 1],
    ["NUL, escaped", `${VALID.replace("echo", '"a\\0b"')}`, /NUL/, 5],
    ["a control character", "name: \u001b[0m\n", /control character 0x1b/, 1],
    ["half a character", 'name: "\\ud800"\n', /surrogate/, 1],
  ])("%s", (_what, source, message, line) => {
    expect(firstProblem(source)).toMatchObject({ message: expect.stringMatching(message), line });
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it("rejects merge keys", () => {
    const outcome = parseDefinition(`${VALID}<<: {hidden: true}\n`);

    expect(outcome).toMatchObject({ ok: true, definition: { hidden: false } });
  });

  it("accepts a document start marker, comments, block scalars and core tags", () => {
    expect(takes(`# head\n---\n${VALID}# tail\n...\n`)).toBe(true);
    expect(takes(VALID.replace("echo", "|\n      a\n      - b: *c &d !e\n"))).toBe(true);
    expect(takes(VALID.replace("echo", "!!str 5"))).toBe(true);
  });

  it("keeps YAML 1.2 words as text: no, on, dates and sexagesimals", () => {
    const outcome = parseDefinition(
      `${VALID}    exports: {a: no, b: 2026-01-01, c: 12:30:45, d: 007, e: 0x10}\n`,
    );

    expect(outcome).toMatchObject({
      definition: { steps: [{ exports: { a: "no", b: "2026-01-01", c: "12:30:45", d: "007", e: "0x10" } }] },
    });
  });
});

describe("texts that are not YAML files", () => {
  it.each([
    ["UTF-16, little end first", Buffer.from(`\ufeff${VALID}`, "utf16le").toString("utf8"), /UTF-8/],
    ["UTF-16 without a mark", Buffer.from(VALID, "utf16le").toString("utf8"), /UTF-8/],
    ["nothing", "", /a workflow is a map/],
    ["only a comment", "# hello\n", /a workflow is a map/],
    ["a sentence", "hello\n", /a workflow is a map/],
    ["a list", "- a\n", /a workflow is a map/],
  ])("%s", (_what, source, message) => {
    expect(firstProblem(source).message).toMatch(message);
  });
});

describe("texts that are expensive to parse", () => {
  const KIB_256 = 256 * 1024;
  const fill = (part: string) => part.repeat(Math.floor(KIB_256 / part.length));
  const lines = (count: number, line: (at: number) => string) =>
    Array.from({ length: count }, (_, at) => line(at)).join("\n");

  it.each([
    ["20,000 keys", lines(20_000, (at) => `k${at}: 1`), /more than 5000 keys/],
    ["20,000 keys in brackets", `a: {${lines(20_000, (at) => `k${at}: 1,`)}}`, /more than 5000 keys/],
    ["1,001 keys in one map", lines(1_001, (at) => `k${at}: 1`), /more than 1000 keys in one map/],
    [
      "1,001 names in one map",
      `a: {${Array.from({ length: 1_001 }, (_, at) => `k${at}`).join()}}`,
      /more than 1000 keys in one map/,
    ],
    ["20,000 nested brackets", `a: ${"[".repeat(20_000)}${"]".repeat(20_000)}`, /nested deeper/],
    ["20,000 open brackets", `a: ${"[".repeat(20_000)}`, /nested deeper/],
    ["20,000 nested maps", "{a: ".repeat(20_000), /nested deeper/],
    ["20,000 list items inside each other", `${"- ".repeat(20_000)}a`, /nested deeper/],
    ["20,000 keys inside each other", "? ".repeat(20_000), /nested deeper/],
    ["deep indentation", lines(500, (at) => `${" ".repeat(at)}a:`), /nested deeper/],
    ["a scalar of 5 MB", `a: ${"x".repeat(5_000_000)}`, /at most 262144 bytes/],
    ["a scalar of 200 KB", `a: "${"x".repeat(200_000)}"`, /longer than 65536/],
    ["list items without end", fill("- a\n"), /YAML tokens/],
    ["quotes without end", fill('"'), /YAML tokens/],
    ["empty brackets without end", fill("{}"), /YAML tokens/],
  ])("rejects %s without parsing them", (_what, source, message) => {
    const start = process.cpuUsage().user;
    const problem = firstProblem(source);
    const elapsed = process.cpuUsage().user - start;

    expect(problem.message).toMatch(message);
    expect(problem.line).toBeGreaterThan(0);
    // Takes 1 to 90 ms of processor time; composing 20,000 keys takes sixteen seconds.
    expect(elapsed).toBeLessThan(1_500_000);
  });

  it("accepts a text just below the limits", () => {
    expect(refuseYaml(lines(60, (at) => `${" ".repeat(at)}a:`))).toBeUndefined();
    expect(refuseYaml(lines(4_900, (at) => `k${at}: 1`))).toBeUndefined();
    expect(refuseYaml(`a: ${"[".repeat(60)}${"]".repeat(60)}`)).toBeUndefined();
  });

  it("does not count many adjacent items as depth", () => {
    expect(refuseYaml(lines(1_000, (at) => `- a:\n    b: [${at}, {c: d}]\n  e: f`))).toBeUndefined();
  });
});

describe("JSON has the same rules", () => {
  const nest = (depth: number): unknown => (depth === 0 ? 1 : [nest(depth - 1)]);

  it.each([
    ["__proto__", JSON.parse('{"name": "w", "__proto__": {"polluted": true}}'), /the key "__proto__"/],
    ["depth", { name: nest(100) }, /nested deeper/],
    ["keys", Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`k${at}`, 1])), /keys/],
    ["items", { name: Array(60_000).fill(1) }, /list items/],
    ["NUL", { name: "a\0" }, /NUL/],
    ["text", "name: w", /a workflow is a map/],
    ["null", null, /a workflow is a map/],
    ["a list", [], /a workflow is a map/],
    ["no JSON", { name: () => "w" }, /JSON value/],
  ])("%s", (_what, json, message) => {
    const problem = firstProblem({ json });

    expect(problem.message).toMatch(message);
    expect(problem).not.toHaveProperty("line");
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it("does not change the caller's value", () => {
    const json = { name: "w", unknown: 1, steps: [{ name: "a", type: "bash", command: "x", unknown: 2 }] };
    const before = structuredClone(json);

    expect(parseDefinition({ json }).ok).toBe(true);
    expect(json).toEqual(before);
  });
});
