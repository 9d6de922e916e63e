import { existsSync, readdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CommandRequest } from "../../platform/commands.ts";
import type { ScriptRequest } from "../../platform/scripts.ts";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { type LlmServer, startLlmServer } from "../../testing/test-llm-server.ts";
import { runValues, storeWorkflow } from "../../testing/test-workflows.ts";
import type { DockerTarget, RemoteCommand, RemoteMachine } from "../remote/machine.ts";
import { getRun } from "../runs/read.ts";
import { startBody, startRun } from "../runs/start.ts";

let open: TestDeps;
let server: Server;
let origin: string;
let model: LlmServer;
let seen: {
  commands: CommandRequest[];
  scripts: ScriptRequest[];
  remote: { target: DockerTarget; command: RemoteCommand }[];
  http: { url: string; headers: IncomingHttpHeaders; body: string }[];
};

beforeEach(async () => {
  seen = { commands: [], scripts: [], remote: [], http: [] };
  model = await startLlmServer();
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { url = "", headers } = request;
      seen.http.push({ url, headers, body: Buffer.concat(chunks).toString() });
      response.end("ok");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const docker = async (target: DockerTarget): Promise<RemoteMachine> => ({
    run: async (command) => {
      seen.remote.push({ target, command });
      await Promise.all([writeFile(command.stdoutPath, ""), writeFile(command.stderrPath, "")]);
      const bytes = { stdoutBytes: 0, stderrBytes: 0 };
      return { exitCode: 0, signal: null, timedOut: false, aborted: false, durationMs: 1, ...bytes };
    },
    close: async () => undefined,
  });
  open = await testDeps({
    remote: {
      settings: {
        volumeRoots: [],
        keysDir: "/nowhere",
        knownHostsPath: "/nowhere",
        hostNetwork: false,
        dockerHost: undefined,
      },
      docker,
      ssh: () => Promise.reject(new Error("no host was asked for")),
      close: async () => undefined,
    },
    settings: { LLM_BASE_URL: model.baseUrl, LLM_MODEL: "m", LLM_API_KEY: "k" },
    command: async (request) => {
      seen.commands.push(request);
      return request.argv.at(-1)?.includes("false") === true ? { exitCode: 1 } : {};
    },
    script: async (request) => {
      seen.scripts.push(request);
      return { value: true };
    },
  });
  // A name that appears in data: it would be resolved if values were rendered again.
  await writeFile(join(open.folder, "secrets.env"), "HIDDEN=the-hidden-word\n", { mode: 0o600 });
});
afterEach(async () => {
  await open.close();
  await model[Symbol.asyncDispose]();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** All step types and text fields, inside loops; `other` is a parameter that no template names. */
const workflow = () => `
name: m
params: [{name: items, default: ""}, {name: other, default: must-not-appear}]
steps:
  - name: each
    type: foreach
    input: "{{items}}"
    variable: v
    parallel: 2
    step:
      name: all
      type: parallel-steps
      log: "log all [[v]]"
      parallel_steps:
        - name: b
          type: bash
          pre_condition: "'[[v]]' != ''"
          log: "log b [[v]] [[_id_]]"
          command: "echo [[v]]"
          input_args: "-i [[v]] [[_id_]] [[_v_]]"
          std_file: "out-[[_v_]]-[[_id_]].txt"
          exports: {kept: "[[v]]", called: "trim('[[v]]')"}
          on_success:
            - {action: log, message: "done b [[v]]"}
            - {action: run, command: "after [[v]]", condition: "'[[v]]'"}
            - {action: export, name: exported, value: "[[v]]"}
          decision:
            switch: "[[v]]"
            default: {commands: ["case [[v]]"], functions: ["log_info([[v]])"]}
        - {name: bs, type: bash, commands: ["first [[v]]", "second '[[v]]'"]}
        - {name: bp, type: bash, parallel_commands: ['p1 "[[v]]"', "p2 [[v]]"]}
        - name: fails
          type: bash
          command: "false [[v]]"
          on_error:
            - {action: log, message: "failed [[v]]"}
            - {action: continue}
        - {name: f, type: function, function: "one('[[v]]', [[v]], [[_id_]])"}
        - {name: fs, type: function, functions: ["two('[[v]]')", "three(\`[[v]]\`)"]}
        - {name: fp, type: function, parallel_functions: ["four('[[v]]')"]}
        - name: h
          type: http
          url: "${origin}/p/[[v]]?q=[[v]]"
          method: POST
          headers: {X-Item: "[[v]]", X-Number: "[[_id_]]"}
          request_body: "body [[v]]"
        - name: l
          type: llm
          messages:
            - {role: user, content: "ask [[v]]"}
            - {role: user, content: [{type: text, text: "part [[v]]"}]}
        - name: r
          type: remote-bash
          step_runner: docker
          step_runner_config: {image: "a:[[_id_]]", workdir: "/w/[[_v_]]", env: {ITEM: "[[v]]"}}
          command: "far [[v]]"
        - name: inner
          type: foreach
          input: ["[[v]]", "x[[v]]"]
          variable: w
          step: {name: leaf, type: bash, command: "leaf [[v]] [[w]] [[_w_]] [[_id_]]"}
  - {name: last, type: bash, command: "kept <{{kept}}> <{{exported}}> <{{b_output}}>"}
`;

async function run(items: readonly string[]): Promise<string> {
  for (const list of Object.values(seen)) list.length = 0;
  await storeWorkflow(open.deps, workflow());
  const params = { items: JSON.stringify(items) };
  const { run_id } = await startRun(open.deps, startBody.parse({ module: "m", target: "t", params }));
  await open.drain();
  return run_id;
}

/** Returns the meaning of a command: its text with the variables replaced by their values. */
const meant = ({ argv, env }: Pick<CommandRequest, "argv" | "env">): string =>
  (argv.at(-1) ?? "").replaceAll(/["']*\$\{(W\d+)\}["']*/g, (_all, name: string) => `<${env[name]}>`);
const scripts = (): string[] =>
  seen.scripts.map(({ code, variables }) =>
    // Variable names are generated; their values are those that the template named.
    [
      code.replaceAll(/__[ws]\d+c?/g, "@"),
      ...Object.entries(variables).flatMap(([name, value]) => (name.startsWith("__") ? [String(value)] : [])),
    ].join(" "),
  );
const safe = (value: string): string => {
  const name = value.replaceAll(/[^A-Za-z0-9._-]/g, "_");
  return name.length > 30 ? `${name.slice(0, 20)}_${crc32(value).toString(16).padStart(8, "0")}` : name;
};

/** Checks that every text of the workflow contains the value as it is: rendered once. */
async function check(values: readonly string[]): Promise<void> {
  const id = await run(values);
  expect(await getRun(open.deps, id)).toMatchObject({ status: "completed", error_message: "" });
  const commands = seen.commands.map(meant);
  const logs = open.logs.map(({ fields }) => String(fields.text ?? ""));
  const files = readdirSync(join(open.folder, "workspaces", "t"));
  for (const [at, v] of values.entries()) {
    const n = at + 1;
    const { length } = commands;
    expect(commands).toEqual(
      expect.arrayContaining([
        `echo <${v}> -i <${v}> <${n}> <${safe(v)}>`,
        `after <${v}>`,
        `case <${v}>`,
        `first <${v}>`,
        `second <${v}>`,
        `p1 <${v}>`,
        `p2 <${v}>`,
        `false <${v}>`,
        `leaf <${v}> <${v}> <${safe(v)}> <1>`,
        `leaf <${v}> <x${v}> <${safe(`x${v}`)}> <2>`,
      ]),
    );
    expect(length).toBeGreaterThan(0);
    for (const text of [`log all ${v}`, `log b ${v} ${n}`, `done b ${v}`, `failed ${v}`])
      expect(logs).toContain(text);
    expect(files).toContain(`out-${safe(v)}-${n}.txt`);
    expect(scripts().filter((text) => text.includes(v)).length).toBeGreaterThanOrEqual(8);
    expect(seen.http).toContainEqual({
      url: `/p/${encodeURIComponent(v)}?q=${encodeURIComponent(v)}`,
      headers: expect.objectContaining({ "x-item": v, "x-number": String(n) }),
      body: `body ${v}`,
    });
    expect(model.requests.map(({ body }) => body.messages?.map(({ content }) => content))).toContainEqual([
      `ask ${v}`,
      [{ type: "text", text: `part ${v}` }],
    ]);
    const remote = seen.remote.find(({ target }) => target.image === `a:${n}`);
    expect(remote?.target.workdir).toBe(`/w/${safe(v)}`);
    expect(remote?.command.env).toMatchObject({ ITEM: v });
    expect(Object.values(remote?.command.env ?? {})).toContain(v);
    expect(remote?.command.script).not.toContain(v);
  }
  const everything = JSON.stringify([seen, model.requests.map(({ body }) => body), logs]);
  expect(everything).not.toContain("must-not-appear");
  expect(everything).not.toContain("the-hidden-word");
}

describe("the variables of a loop", () => {
  it("are values in every text of every type of step", async () => {
    await check(["plain", "a b;id $(id)", "{{other}}", "[[v]] [[_id_]] {{secrets.HIDDEN}}"]);
  });

  it("are rendered once, whatever they contain", async () => {
    const piece = fc.constantFrom(
      "{{",
      "}}",
      "[[",
      "]]",
      "v",
      "other",
      "_id_",
      "secrets.HIDDEN",
      "{{other}}",
      "[[v]]",
      "[[w]]",
      "$",
      "`",
      "\\",
      "|",
      ";",
      "<",
      "&",
      "%7b",
      "${W1}",
      "__w1",
      "raw",
      "é",
    );
    // Headers and URLs are trimmed, and headers are limited to Latin-1.
    const hostile = fc
      .array(piece, { minLength: 1, maxLength: 6 })
      .map((parts) => `v${parts.join("").replaceAll("${W1}", "$W1")}`);
    await fc.assert(fc.asyncProperty(fc.uniqueArray(hostile, { minLength: 1, maxLength: 3 }), check), {
      numRuns: 8,
      endOnFailure: true,
    });
  });

  it("result in paths inside the workspace", async () => {
    await run(["../../../etc/passwd", "a/b", "..\\c", `/${"x".repeat(300)}`]);
    const files = readdirSync(join(open.folder, "workspaces", "t"));
    expect(files.toSorted()).toEqual([
      "out-.._.._.._etc_passwd-1.txt",
      "out-.._c-3.txt",
      `out-_${"x".repeat(19)}_88f3c4b4-4.txt`,
      "out-a_b-2.txt",
    ]);
    expect(existsSync(join(open.folder, "etc"))).toBe(false);
  });
});

it("exports of steps inside a foreach are discarded, and those of parallel-steps are kept", async () => {
  const id = await run(["one", "two"]);
  expect(seen.commands.map(meant).at(-1)).toBe("kept <<>> <<>> <<>>");
  const { values } = await runValues(open.deps, id, ["kept", "called", "exported", "b_output", "all_output"]);
  for (const name of ["kept", "called", "exported", "b_output", "all_output"])
    expect(values).not.toHaveProperty(name);
  await storeWorkflow(
    open.deps,
    `
name: p
steps:
  - name: all
    type: parallel-steps
    parallel_steps:
      - {name: a, type: bash, command: x, exports: {from_a: "A", number: "{{attempt}}"}}
      - {name: b, type: function, function: "1", exports: {from_b: "{{a_output}}|B"}, on_success: [{action: export, name: told, value: T}]}
    exports: {both: "{{from_a}}{{from_b}}"}
  - {name: last, type: bash, command: "<{{from_a}}> <{{told}}> <{{both}}> <{{number}}>"}
`,
  );
  await startRun(open.deps, startBody.parse({ module: "p", target: "t" }));
  await open.drain();
  expect(seen.commands.map(meant).at(-1)).toBe("<<A>> <<T>> <<A|B>> <<1>>");
});
