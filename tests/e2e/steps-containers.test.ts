import { describe, expect, test } from "vitest";
import { sharedServer } from "./shared-server.ts";

const weft = sharedServer();
let count = 0;

async function runSteps(steps: string, body: Record<string, unknown> = {}) {
  count += 1;
  const name = `containers-${count}`;
  await weft.storeWorkflow(`name: ${name}\nsteps:\n${steps}`);
  const run = await weft.run({ module: name, workspace: name, ...body });
  return { ...run, steps: await weft.steps(run.run_id) };
}

describe("seed 2.7: parallel-steps", () => {
  test("runs steps of all types in parallel; later steps see their exports", async () => {
    const { status, steps } = await runSteps(`
  - name: both
    type: parallel-steps
    log: "starting"
    timeout: 20
    exports: {joined: output}
    parallel_steps:
      - {name: left, type: bash, command: "touch l; until [ -f r ]; do sleep 0.01; done; echo L", exports: {from_left: output}}
      - {name: right, type: bash, command: "touch r; until [ -f l ]; do sleep 0.01; done; echo R"}
      - {name: sum, type: function, function: "1 + 2"}
      - {name: inner, type: parallel-steps, parallel_steps: [{name: deep, type: bash, command: "echo D"}]}
  - {name: use, type: bash, command: "echo {{from_left}} {{right_output}} {{sum_output}} {{deep_output}} {{joined}}"}
`);
    expect(status).toBe("completed");
    expect(steps["use"]?.output).toBe("L R 3 D L\nR\n3\nD");
    expect(Object.keys(steps).sort()).toEqual(["both", "deep", "inner", "left", "right", "sum", "use"]);
    for (const step of Object.values(steps)) expect(step.status).toBe("completed");
  });

  test("a failing step fails parallel-steps after the others end, unless it tolerates the failure", async () => {
    const { status, steps, error_message } = await runSteps(`
  - name: borne
    type: parallel-steps
    parallel_steps:
      - {name: a, type: bash, command: "exit 3", on_error: [{action: continue}]}
      - {name: b, type: bash, command: "echo b"}
  - name: not-borne
    type: parallel-steps
    parallel_steps:
      - {name: c, type: bash, command: "exit 4"}
      - {name: d, type: bash, command: "sleep 0.2; echo d"}
    on_error: [{action: export, name: seen, value: "{{error}}"}, {action: continue}]
  - {name: show, type: bash, command: "echo {{seen}}; exit 1"}
`);
    expect(status).toBe("failed");
    expect(steps).toMatchObject({
      borne: { status: "completed" },
      "not-borne": { status: "failed", error_message: expect.stringContaining("exit code 4") },
      d: { status: "completed", output: "d" },
      show: { output: "", error_message: expect.stringContaining("exit code 1") },
    });
    expect(error_message).toContain("exit code 1");
  });

  test("a false pre_condition skips all steps", async () => {
    const { steps } = await runSteps(`
  - {name: p, type: parallel-steps, pre_condition: "false", parallel_steps: [{name: s, type: bash, command: "exit 1"}]}
`);
    expect(Object.entries(steps).map(([name, step]) => [name, step.status])).toEqual([["p", "skipped"]]);
  });
});

describe("seed 2.7: foreach", () => {
  const each = (input: string, more = "") => `
  - name: make
    type: bash
    command: "printf 'b 1\\\\n\\\\n  a;2  \\\\nc$3\\\\n' > list.txt; echo '[\\"x\\", {\\"k\\": 1}, 3]'"
  - name: loop
    type: foreach
    input: ${input}
    variable: item
    ${more}
    step: {name: each-item, type: bash, command: "echo [[_id_]]:[[item]]:{{Target}}"}
    exports: {all: output}
  - {name: use, type: bash, command: "printf '%s' {{all}}"}
`;
  test.each([
    ["the non-blank lines of a file", "list.txt", "1:b 1:t\n2:a;2:t\n3:c$3:t"],
    ["a file by a template", '"{{Output}}/list.txt"', "1:b 1:t\n2:a;2:t\n3:c$3:t"],
    ["a list", '["p q", "{{Target}}", "$(x)"]', "1:p q:t\n2:t:t\n3:$(x):t"],
    ["a template that gives a list", '"{{make_output}}"', '1:x:t\n2:{"k":1}:t\n3:3:t'],
    ["an empty list", "[]", ""],
  ])("iterates over %s", async (_name, input, output) => {
    const { status, steps } = await runSteps(each(input), { target: "t" });
    expect([status, steps["use"]?.output]).toEqual(["completed", output]);
  });

  test("parallel limits concurrent items and keeps the order of outputs; threads is an alias", async () => {
    for (const word of ["parallel", "threads"]) {
      const { status, steps } = await runSteps(
        `
  - name: loop
    type: foreach
    input: ["1", "2", "3", "4", "5", "6"]
    variable: n
    ${word}: "{{width}}"
    timeout: 30
    step:
      name: one
      type: bash
      command: "mkdir run-[[n]]; ls -d run-* | wc -l; sleep 0.[[n]]; rmdir run-[[n]]"
    exports: {all: output}
`,
        { params: { width: 3 } },
      );
      expect(status).toBe("completed");
      const counts = (steps["loop"]?.exports["all"] ?? "").split("\n").map(Number);
      expect(counts).toHaveLength(6);
      expect(Math.max(...counts)).toBeLessThanOrEqual(3);
      expect(Math.max(...counts)).toBeGreaterThanOrEqual(2);
    }
  });

  test("runs one item at a time by default, in order", async () => {
    const { steps } = await runSteps(`
  - {name: loop, type: foreach, input: ["3", "2", "1"], variable: n, step: {name: one, type: bash, command: "sleep 0.0[[n]]; echo [[n]] >> order"}}
  - {name: show, type: bash, command: "cat order"}
`);
    expect(steps["show"]?.output).toBe("3\n2\n1");
  });

  test("contains steps of every type: function, parallel-steps, a nested foreach with both variables", async () => {
    const { status, steps } = await runSteps(`
  - name: outer
    type: foreach
    input: ["a", "b"]
    variable: x
    step:
      name: inner
      type: foreach
      input: ["1", "2"]
      variable: y
      step: {name: pair, type: bash, command: "echo [[x]][[y]] >> pairs; echo [[x]][[y]]"}
  - name: groups
    type: foreach
    input: ["g"]
    variable: g
    step:
      name: group
      type: parallel-steps
      parallel_steps:
        - {name: in-bash, type: bash, command: "echo bash-[[g]] >> groups"}
        - {name: in-code, type: function, function: 'exec_cmd("echo code-[[g]] >> groups")'}
  - {name: show, type: bash, command: "sort pairs; sort groups; echo {{outer_output}}"}
`);
    expect(status).toBe("completed");
    expect(steps["show"]?.output).toBe("a1\na2\nb1\nb2\nbash-g\ncode-g\na1\na2\nb1\nb2");
  });

  test("reports failed items in one event and completes the others", async () => {
    const { status, error_message, run_id, steps } = await runSteps(`
  - {name: loop, type: foreach, input: ["0", "1", "0", "2"], variable: n, step: {name: one, type: bash, command: "echo x >> done; exit [[n]]"}, on_error: [{action: continue}]}
  - {name: count, type: bash, command: "wc -l < done; exit 1"}
`);
    expect(steps["loop"]).toMatchObject({
      status: "failed",
      error_message: "2 of 4 failed, the first: command failed with exit code 1",
    });
    expect([status, error_message]).toEqual(["failed", "command failed with exit code 1"]);
    const events = await weft.events({ run_id });
    expect(events.filter(({ topic }) => topic === "step.failed").map(({ name }) => name)).toEqual([
      "count-failed",
      "loop-failed",
    ]);
  });

  test.each([
    ["a missing file", "none.txt", /no such file/],
    ["a folder", '"{{Output}}"', /no such file/],
    ["an odd width", '["a"], parallel: "{{Target}}"', /parallel/],
  ])("%s fails the step", async (_name, input, message) => {
    const { status, error_message } = await runSteps(
      `  - {name: loop, type: foreach, input: ${input}, variable: n, step: {name: one, type: bash, command: "true"}}`,
      { target: "wide" },
    );
    expect([status, error_message]).toEqual(["failed", expect.stringMatching(message)]);
  });

  test("runs each of 2,500 items once, and the list of steps stays short", async () => {
    const { status, steps, run_id } = await runSteps(`
  - {name: make, type: bash, command: "seq 2500 > items"}
  - {name: loop, type: foreach, input: items, variable: n, parallel: 16, step: {name: one, type: function, function: "parse_int('[[n]]') % 7"}}
`);
    expect(status).toBe("completed");
    expect(Object.keys(steps)).toEqual(["make", "loop"]);
    const { data } = await weft.get<{ data: { status: string }[] }>(`/runs/${run_id}/steps`);
    expect(data).toHaveLength(2);
    expect((await weft.events({ run_id, topic: "step.completed" })).map(({ name }) => name)).toEqual([
      "loop-completed",
      "make-completed",
    ]);
  });
});

test("a timeout of foreach and parallel-steps ends the running steps", async () => {
  const started = performance.now();
  const tolerated = "on_error: [{action: continue}]";
  const { steps } = await runSteps(`
  - {name: loop, type: foreach, timeout: 300ms, input: ["1", "2"], variable: n, step: {name: one, type: bash, command: "sleep 20"}, ${tolerated}}
  - {name: side, type: parallel-steps, timeout: 300ms, parallel_steps: [{name: a, type: bash, command: "sleep 20"}, {name: b, type: function, function: "sleep(20)"}], ${tolerated}}
  - {name: after, type: bash, command: "echo after"}
`);
  expect(performance.now() - started).toBeLessThan(10_000);
  for (const name of ["loop", "side"]) {
    expect(steps[name]).toMatchObject({
      status: "failed",
      error_message: expect.stringMatching(/timed out/),
    });
  }
  expect(steps["after"]?.output).toBe("after");
});

test("variable_pre_process transforms each item and never executes it", async () => {
  const { steps } = await runSteps(`
  - name: each
    type: foreach
    input: ["https://a.example/x", "b'+process.exit()+'", "3"]
    variable: url
    variable_pre_process: "'[[url]]'.startsWith('https') ? [[url]].split('/')[2] : ([[url]] === '3' ? nothing.at.all : [[url]].toUpperCase())"
    step: {name: show, type: function, function: "[[url]]"}
`);
  expect(steps["each"]?.output.split("\n")).toEqual(["a.example", "B'+PROCESS.EXIT()+'", "3"]);
});
