import { describe, expect, it } from "vitest";
import { parseDefinition } from "./parse.ts";
import { describeProblem } from "./problems.ts";
import type { Step } from "./types.ts";

function read(step: object): { step: Step | undefined; problems: string; warnings: string } {
  const outcome = parseDefinition({ json: { name: "w", steps: [{ name: "s", ...step }] } });
  if (!outcome.ok)
    return { step: undefined, problems: outcome.errors.map(describeProblem).join("\n"), warnings: "" };
  return { step: outcome.definition.steps[0], problems: "", warnings: outcome.warnings.join("\n") };
}

const USER = { role: "user", content: "hi" };

describe("steps that are accepted", () => {
  it.each([
    [{ type: "bash", command: "a" }, { command: "a" }],
    [{ type: "bash", commands: ["a", "b"] }, { commands: ["a", "b"] }],
    [{ type: "bash", parallel_commands: ["a"], std_file: "{{Output}}/o" }, { std_file: "{{Output}}/o" }],
    [{ type: "bash", command: "a\n", output_args: "-o x", speed_args: "-t 1" }, { command: "a -t 1 -o x" }],
    [{ type: "bash", command: "a", timeout: "30" }, { timeout: 30 }],
    [{ type: "bash", command: "a", timeout: "1h30m" }, { timeout: "1h30m" }],
    [{ type: "bash", command: "a", timeout: "{{limit}}" }, { timeout: "{{limit}}" }],
    [{ type: "bash", command: "a", pre_condition: true }, { pre_condition: "true" }],
    [{ type: "function", function: "trim('a')" }, { function: "trim('a')" }],
    [{ type: "function", functions: ["a()"], parallel_functions: ["b()"] }, { functions: ["a()"] }],
    [
      { type: "http", url: "https://127.0.0.1/x" },
      { method: "GET", headers: {} },
    ],
    [
      { type: "http", url: "{{base}}/x", method: "post", headers: { "x-n": 1 } },
      { method: "POST", headers: { "x-n": "1" } },
    ],
    [{ type: "http", url: "https://x", method: "{{verb}}" }, { method: "{{verb}}" }],
    [{ type: "remote-bash", step_runner: "ssh", command: "a" }, { step_runner_config: {} }],
    [
      {
        type: "remote-bash",
        step_runner: "docker",
        command: "a",
        output_args: "-o x",
        step_runner_config: {
          image: "i",
          volumes: ["./a:/b"],
          env: { N: 1 },
          persistent: "true",
          port: 2222,
        },
      },
      {
        command: "a -o x",
        step_runner_config: {
          image: "i",
          volumes: ["./a:/b"],
          env: { N: "1" },
          persistent: true,
          port: "2222",
        },
      },
    ],
    [
      { type: "llm", messages: [USER] },
      { is_embedding: false, messages: [USER] },
    ],
    [{ type: "llm", is_embedding: true, embedding_input: ["a"] }, { embedding_input: ["a"] }],
  ])("%j", (given, expected) => {
    expect(read(given)).toMatchObject({ problems: "", step: expected });
  });

  it("foreach reads its concurrency in either spelling, with 1 as the default", () => {
    const foreach = {
      type: "foreach",
      input: ["a", 2],
      variable: "v",
      step: { name: "i", type: "bash", command: "x" },
    };

    expect(read(foreach).step).toMatchObject({ parallel: 1, input: ["a", "2"] });
    expect(read({ ...foreach, parallel: 4, threads: 9 }).step).toMatchObject({ parallel: 4 });
    expect(read({ ...foreach, threads: "8" }).step).toMatchObject({ parallel: 8 });
    expect(read({ ...foreach, threads: "{{threads}}" }).step).toMatchObject({ parallel: "{{threads}}" });
    expect(read({ ...foreach, threads: 3 }).step).not.toHaveProperty("threads");
  });

  it("keeps messages and tools for a model as written", () => {
    const step = {
      type: "llm",
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "a" },
            { type: "image_url", image_url: { url: "data:x", detail: "low" } },
          ],
        },
        { role: "assistant", content: null, tool_calls: [{ id: "1" }] },
      ],
      llm_config: { temperature: 0.5, response_format: { type: "json_object" }, stop: null },
      tools: [{ type: "function", function: { name: "f", parameters: { type: "object" }, strict: true } }],
      tool_choice: "auto",
    };

    expect(read(step).step).toMatchObject(step);
  });

  it("keeps numbers in a model's settings as numbers, also in YAML", () => {
    const outcome = parseDefinition(
      "name: w\nsteps:\n- name: a\n  type: llm\n  messages: [{role: user, content: x}]\n  llm_config: {temperature: 1.0}\n",
    );

    expect(outcome).toMatchObject({ definition: { steps: [{ llm_config: { temperature: 1 } }] } });
  });

  it("reads actions with one function or several", () => {
    const on_error = [
      { action: "log", message: "m" },
      { action: "run", type: "function", function: "f()" },
      { action: "export", name: "n", value: 1 },
      { action: "notify", notify: "text" },
    ];

    expect(read({ type: "bash", command: "a", on_error }).step?.on_error).toEqual([
      { action: "log", message: "m" },
      { action: "run", type: "function", functions: ["f()"] },
      { action: "export", name: "n", value: "1" },
      { action: "notify", message: "text" },
    ]);
  });
});

describe("steps that are rejected", () => {
  const inner = { name: "i", type: "bash", command: "x" };
  it.each([
    [
      {},
      /steps\[0\]\.type: is required: must be one of: bash, function, parallel-steps, foreach, remote-bash, http, llm/,
    ],
    [{ type: "angel" }, /steps\[0\]\.type: unknown step type "angel": must be one of: bash, .*llm/],
    [{ type: "agent-acp" }, /steps\[0\]\.type: steps of type agent-acp are not available: use llm .*bash/],
    [{ type: 5 }, /unknown step type "5"/],
    [{ type: "bash" }, /steps\[0\]: a bash step requires command, commands or parallel_commands/],
    [{ type: "bash", command: "  " }, /steps\[0\]: a bash step requires command/],
    [{ type: "bash", commands: [] }, /steps\[0\]: a bash step requires command/],
    [{ type: "bash", commands: "a" }, /steps\[0\]\.commands: must be a list/],
    [{ type: "bash", command: ["a"] }, /steps\[0\]\.command: must be text/],
    [{ type: "bash", command: "a", timeout: "soon" }, /timeout: "soon" is not a duration/],
    [{ type: "bash", command: "a", timeout: -1 }, /timeout: "-1" is not a duration/],
    [{ type: "bash", command: "a", timeout: "30d" }, /timeout: must be at most/],
    [{ type: "bash", command: "a", exports: { "a b": "x" } }, /exports\["a b"\]: a name must start/],
    [{ type: "bash", command: "a", exports: { a: ["x"] } }, /exports\.a: must be text/],
    [
      { type: "bash", command: "a", on_error: [{ action: "retry" }] },
      /on_error\[0\]\.action: must be one of log, /,
    ],
    [{ type: "bash", command: "a", on_error: [{}] }, /on_error\[0\]\.action: is required/],
    [{ type: "function" }, /a function step requires function, functions or parallel_functions/],
    [{ type: "parallel-steps" }, /parallel_steps: is required/],
    [{ type: "parallel-steps", parallel_steps: [] }, /parallel_steps: must not be empty/],
    [{ type: "parallel-steps", parallel_steps: ["a"] }, /parallel_steps\[0\]: must be a step/],
    [{ type: "foreach" }, /input: is required.*variable: is required.*step: is required/s],
    [{ type: "foreach", input: "f", variable: "a b", step: inner }, /variable: must be an identifier/],
    [{ type: "foreach", input: "f", variable: "a", step: inner, parallel: 0 }, /parallel: must be 1 to/],
    [
      { type: "foreach", input: "f", variable: "a", step: { ...inner, type: "x" } },
      /steps\[0\]\.step\.type: unknown/,
    ],
    [{ type: "remote-bash", command: "a" }, /step_runner: is required/],
    [{ type: "remote-bash", step_runner: "host", command: "a" }, /step_runner: must be docker or ssh/],
    [{ type: "remote-bash", step_runner: "ssh" }, /a remote-bash step requires command/],
    [
      { type: "remote-bash", step_runner: "docker", command: "a", step_runner_config: { privileged: true } },
      /step_runner_config\.privileged: privileged containers are not allowed/,
    ],
    [
      { type: "remote-bash", step_runner: "docker", command: "a", step_runner_config: { volumes: "/:/h" } },
      /step_runner_config\.volumes: must be a list/,
    ],
    [
      { type: "remote-bash", step_runner: "ssh", command: "a", step_runner_config: { env: { "A=B": "x" } } },
      /is not a valid variable name/,
    ],
    [{ type: "http" }, /url: is required/],
    [{ type: "http", url: "file:///etc/passwd" }, /url: must be an http or https URL/],
    [{ type: "http", url: "https://x", method: "GET /" }, /method: must be an HTTP method/],
    [{ type: "http", url: "https://x", headers: { "a\r\nb": "x" } }, /is not a valid HTTP header name/],
    [{ type: "http", url: "https://x", request_body: { a: 1 } }, /request_body: must be text/],
    [{ type: "llm" }, /an llm step requires messages/],
    [{ type: "llm", is_embedding: true }, /embedding_input: is required/],
    [
      { type: "llm", messages: [{ role: "robot", content: "x" }] },
      /messages\[0\]\.role: must be one of system, /,
    ],
    [{ type: "llm", messages: [{ role: "user" }] }, /messages\[0\]\.content: is required/],
    [
      { type: "llm", messages: [{ role: "user", content: [{ type: "video" }] }] },
      /messages\[0\]\.content: must be text/,
    ],
    [{ type: "llm", messages: [USER], tools: [{ type: "function" }] }, /tools\[0\]\.function: is required/],
  ])("%j", (given, message) => {
    expect(read(given).problems).toMatch(message);
  });
});
