import { describe, expect, test } from "vitest";
import { sharedServer } from "./shared-server.ts";

const weft = sharedServer();
let count = 0;

async function runSteps(steps: string, body: Record<string, unknown> = {}) {
  count += 1;
  const name = `function-${count}`;
  await weft.storeWorkflow(`name: ${name}\nsteps:\n${steps}`);
  const run = await weft.run({ module: name, workspace: name, ...body });
  return { ...run, steps: await weft.steps(run.run_id) };
}

describe("seed 2.7: function steps", () => {
  test("the functions of the first release return their documented results", async () => {
    const cases: Record<string, [code: string, output: string]> = {
      exists: ['file_exists("f.txt")', "true"],
      absent: ["file_exists('none')", "false"],
      camel: ['fileExists("f.txt")', "true"],
      read: ['read_file("f.txt")', "one\ntwo\n\nthree\n"],
      length: ['file_length("f.txt")', "3"],
      exec: ["exec_cmd('echo out; echo err >&2')", "out"],
      logs: ['log_info("said")', "said"],
      trims: ['trim("  a b ")', "a b"],
      splits: ['split("a,b,c", ",")', '["a","b","c"]'],
      joins: ['join(["a", "b"], "-")', "a-b"],
      holds: ['contains("abc", "b")', "true"],
      parses: ['parse_int("42") + 1', "43"],
      queries: [`jq('{"a": {"b": [1, 2]}}', ".a.b | length")`, "2"],
      empty: ['is_empty("  ")', "true"],
      event: ['generate_event("ws", "custom.made", "", "thing", {a: {b: 1}})', "true"],
      program: ["let s = 0; for (const n of [1, 2, 3]) s += n; s", "6"],
      object: ["({a: [1, null], b: 'x'})", '{"a":[1,null],"b":"x"}'],
    };
    const { steps, status, run_id } = await runSteps(
      `  - {name: file, type: bash, command: "printf 'one\\\\ntwo\\\\n\\\\nthree\\\\n' > f.txt"}\n${Object.entries(
        cases,
      )
        .map(([name, [code]]) => `  - {name: ${name}, type: function, function: ${JSON.stringify(code)}}`)
        .join("\n")}`,
    );
    expect(status).toBe("completed");
    for (const [name, [, output]] of Object.entries(cases))
      expect([name, steps[name]?.output]).toEqual([name, output]);
    const [event] = await weft.events({ topic: "custom.made" });
    expect(event).toMatchObject({
      source: "executor",
      data_type: "thing",
      workspace: "ws",
      run_id,
      data: '{"a":{"b":1}}',
    });
    expect(weft.log()).toContain("said");
  });

  test("runs functions in order and parallel_functions; the output is the first result", async () => {
    const { steps, run_id } = await runSteps(`
  - {name: in-order, type: function, functions: ["'first'", 'generate_event("", "custom.order", "me", "", {n: 1})', 'generate_event("", "custom.order", "me", "", {n: 2})']}
  - {name: side, type: function, parallel_functions: ["1 + 1", "2 + 2"]}
  - {name: use, type: function, function: '"{{in_order_output}}" + {{side_output}}', exports: {made: "{{use_output}}"}}
`);
    expect([steps["in-order"]?.output, steps["side"]?.output, steps["use"]?.output]).toEqual([
      "first",
      "2",
      "first2",
    ]);
    expect(steps["use"]?.exports).toMatchObject({ made: "first2" });
    const events = await weft.events({ topic: "custom.order", run_id });
    expect(events.map(({ data, source }) => [data, source])).toEqual([
      ['{"n":2}', "me"],
      ['{"n":1}', "me"],
    ]);
  });

  test("variables keep their type and content", async () => {
    const target = `a"b'c\\d\`e$\{f}\n{{Target}} // */`;
    const { steps } = await runSteps(
      `
  - {name: list, type: function, function: "[1, {a: 2}]"}
  - {name: text, type: function, function: '"<{{Target}}>" === "<" + Target + ">" && "{{Target}}".length'}
  - {name: sum, type: function, function: "{{list_output}}[1].a + list_output[0] + {{list_output}}.length"}
  - {name: none, type: function, function: "typeof {{nothing}}"}
`,
      { target },
    );
    expect(steps["text"]?.output).toBe(String(target.length));
    expect(steps["sum"]?.output).toBe("5");
    expect(steps["none"]?.output).toBe("string");
  });

  test("an exception or a syntax error fails the step with the reason; a timeout ends the script", async () => {
    const { steps } = await runSteps(`
  - {name: throws, type: function, function: "throw new Error('my reason')", on_error: [{action: continue}]}
  - {name: broken, type: function, function: "let let = (", on_error: [{action: continue}]}
  - {name: unknown, type: function, function: "no_such()", on_error: [{action: continue}]}
  - {name: host, type: function, function: "process.exit(1)", on_error: [{action: continue}]}
  - {name: required, type: function, function: "require('node:fs')", on_error: [{action: continue}]}
  - {name: endless, type: function, function: "for (;;) {}", timeout: 300ms, on_error: [{action: continue}]}
  - {name: sleeps, type: function, function: "sleep(60)", timeout: 300ms, on_error: [{action: continue}]}
`);
    const errors = Object.fromEntries(
      Object.entries(steps).map(([name, step]) => [name, step.error_message]),
    );
    expect(errors).toEqual({
      throws: expect.stringContaining("my reason"),
      broken: expect.stringMatching(/./),
      unknown: expect.stringContaining("no_such"),
      host: expect.stringContaining("process"),
      required: expect.stringContaining("require"),
      endless: expect.stringContaining("timed out"),
      sleeps: expect.stringContaining("timed out"),
    });
  });

  test("a run does not see another run's variables", async () => {
    await runSteps(
      "  - {name: s, type: function, function: \"globalThis.leak = 'x'; Array.prototype.leak = 1; 1\"}",
    );
    const { steps } = await runSteps(
      '  - {name: s, type: function, function: "typeof leak + typeof [].leak"}',
    );
    expect(steps["s"]?.output).toBe("undefinedundefined");
  });
});
