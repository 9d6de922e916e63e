import { describe, expect, it } from "vitest";
import { parseDefinition } from "./parse.ts";

function errorsOf(yaml: string): { path?: string; line?: number; message: string }[] {
  const parsed = parseDefinition(yaml);
  return parsed.ok ? [] : parsed.errors.map((one) => ({ ...one }));
}

const COMMAND = `bash -c "echo {{v}}"`;
const SCRIPT = `exec_cmd("bash -c 'echo {{v}}'")`;

describe("a workflow in which a value reaches an interpreter", () => {
  it.each([
    ["steps[0].command", `steps:\n  - name: a\n    type: bash\n    command: '${COMMAND}'\n`, 5],
    [
      "steps[0].commands[1]",
      `steps:\n  - name: a\n    type: bash\n    commands:\n      - ls\n      - '${COMMAND}'\n`,
      7,
    ],
    [
      "steps[0].parallel_commands[0]",
      `steps: [{name: a, type: bash, parallel_commands: ['${COMMAND}']}]\n`,
      2,
    ],
    [
      "steps[0].command",
      `steps: [{name: a, type: remote-bash, step_runner: docker, step_runner_config: {image: i}, command: '${COMMAND}'}]\n`,
      2,
    ],
    [
      "steps[0].on_error[0].command",
      `steps:\n  - name: a\n    type: bash\n    command: ls\n    on_error:\n      - {action: run, type: bash, command: '${COMMAND}'}\n`,
      7,
    ],
    [
      "steps[0].on_success[0].command",
      `steps: [{name: a, type: bash, command: ls, on_success: [{action: run, type: bash, command: '${COMMAND}'}]}]\n`,
      2,
    ],
    [
      "steps[0].decision.cases.x.commands[0]",
      `steps: [{name: a, type: bash, command: ls, decision: {switch: "{{v}}", cases: {x: {command: '${COMMAND}'}}}}]\n`,
      2,
    ],
    [
      "steps[0].step.command",
      `steps: [{name: a, type: foreach, input: [a], variable: v, step: {name: b, type: bash, command: 'bash -c "echo [[v]]"'}}]\n`,
      2,
    ],
    [
      "steps[0].step.command",
      `steps: [{name: a, type: foreach, input: [a], variable: v, step: {name: b, type: bash, command: 'bash -c "echo [[_v_]]"'}}]\n`,
      2,
    ],
    [
      "steps[0].parallel_steps[0].command",
      `steps: [{name: a, type: parallel-steps, parallel_steps: [{name: b, type: bash, command: '${COMMAND}'}]}]\n`,
      2,
    ],
    ["steps[0].function", `steps:\n  - name: a\n    type: function\n    function: |\n      ${SCRIPT}\n`, 5],
    [
      "steps[0].functions[0]",
      `steps: [{name: a, type: function, functions: [${JSON.stringify(SCRIPT)}]}]\n`,
      2,
    ],
    [
      "steps[0].pre_condition",
      `steps: [{name: a, type: bash, command: ls, pre_condition: ${JSON.stringify(`${SCRIPT} == ""`)}}]\n`,
      2,
    ],
    [
      "steps[0].on_error[0].functions[0]",
      `steps: [{name: a, type: bash, command: ls, on_error: [{action: run, type: function, functions: [${JSON.stringify(SCRIPT)}]}]}]\n`,
      2,
    ],
    [
      "hooks.pre_scan_steps[0].command",
      `hooks: {pre_scan_steps: [{name: h, type: bash, command: '${COMMAND}'}]}\nsteps: [{name: a, type: bash, command: ls}]\n`,
      2,
    ],
    [
      "steps[0].step_runner_config.env.BASH_ENV",
      `steps: [{name: a, type: remote-bash, step_runner: docker, step_runner_config: {image: i, env: {BASH_ENV: "{{v}}"}}, command: ls}]\n`,
      2,
    ],
  ])("is rejected with its position: %s", (path, yaml, line) => {
    const [first, ...more] = errorsOf(`name: w\n${yaml}`);
    expect(more).toEqual([]);
    expect(first).toMatchObject({ path, line });
    expect(first?.message).toMatch(/reads this value as part of a program|execute the value/);
  });

  it("is rejected in a flow, for its modules and their actions", () => {
    const yaml = `name: f\nkind: flow\nmodules:\n  - name: m\n    steps: [{name: a, type: bash, command: '${COMMAND}'}]\n    on_success: [{action: run, type: bash, command: '${COMMAND}'}]\n`;
    expect(
      errorsOf(yaml)
        .map(({ path }) => path)
        .toSorted(),
    ).toEqual(["modules[0].on_success[0].command", "modules[0].steps[0].command"]);
  });

  it("reports each value once", () => {
    const errors = errorsOf(
      "name: w\nsteps: [{name: a, type: bash, command: 'bash -c \"{{ x.y }} {{z}} {{z | raw}}\"'}]\n",
    );
    expect(errors.map(({ message }) => message.slice(0, 20))).toEqual([
      "{{ x.y }}: bash read",
      "{{z}}: bash reads th",
    ]);
  });

  it("is accepted with | raw, as an argument, and if it is text of the file", () => {
    const commands = [
      'bash -c "echo {{v | raw}}"',
      "bash -c 'echo \"$1\"' _ {{v}}",
      'bash -c "run {{own}}"',
      '[[ -f x ]] && bash -c "ls [[v]]"',
    ];
    const yaml = `name: w\nparams: [{name: own, default: fast}]\nsteps: [{name: a, type: bash, commands: [${commands.map((one) => JSON.stringify(one)).join(", ")}]}]\n`;
    expect(errorsOf(yaml)).toEqual([]);
  });
});

it.each(["$(", "<(", "`echo $(", "echo $((", "${x:-", "( ", '"$('])(
  "rejects a command that nests %j without limit, with its field",
  (text) => {
    const yaml = JSON.stringify({
      name: "w",
      steps: [{ name: "a", type: "bash", command: text.repeat(3_000) }],
    });
    expect(errorsOf(yaml)).toEqual([
      expect.objectContaining({
        path: "steps[0].command",
        message: expect.stringContaining("nests deeper than 256"),
      }),
    ]);
  },
);
