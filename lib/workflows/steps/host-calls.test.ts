import { writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { emitEvents } from "../../events/publish.ts";
import type { CallHost, ScriptRequest } from "../../platform/scripts.ts";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { startLlmServer } from "../../testing/test-llm-server.ts";
import { readLog, runValues, storeWorkflow } from "../../testing/test-workflows.ts";
import type { Remote, RemoteCommand, SshTarget } from "../remote/machine.ts";
import { getRun } from "../runs/read.ts";
import { startRun } from "../runs/start.ts";
import { handleHostCall } from "./host-calls.ts";
import { type ConductMessage, hostCallResultBlob } from "./messages.ts";

let open: TestDeps;
afterEach(() => open.close());

/** Runs a function step; `work` is executed by its script. */
async function run(work: (ask: CallHost, request: ScriptRequest) => Promise<unknown>, remote?: Remote) {
  open = await testDeps({
    ...(remote === undefined ? {} : { remote }),
    script: async (request) => ({ value: (await work(request.callHost as CallHost, request)) ?? null }),
  });
  await storeWorkflow(
    open.deps,
    "name: m\nsteps:\n  - {name: s, type: function, function: \"exec_cmd('x')\"}\n",
  );
  return (await startRun(open.deps, { module: "m", target: "t", workspace: "w" })).run_id;
}

const stop = new AbortController().signal;
const draft = (
  topic: string,
  data_type: "asset" | "vulnerability",
  data: Record<string, unknown>,
  workspace = "w",
) => ({
  topic,
  data_type,
  effect: data_type,
  data,
  workspace,
  source: "test",
  run_id: "",
  workflow_name: "",
  hop: 0,
});

async function fill(): Promise<void> {
  await emitEvents(open.deps, [
    draft("asset.discovered", "asset", { asset_value: "a.example", asset_type: "domain", status_code: 200 }),
    draft("asset.discovered", "asset", { asset_value: "10.0.0.1", asset_type: "ip" }),
    draft("asset.discovered", "asset", { asset_value: "other.example", asset_type: "domain" }, "other"),
    draft("vuln.found", "vulnerability", { vuln_title: "Bad", severity: "high", asset_value: "a.example" }),
  ]);
  await open.drain();
}

const QUESTIONS = [
  { of: "assets" },
  { of: "assets", workspace: "other" },
  { of: "assets", asset_type: "ip" },
  { of: "assets", status_code: "200" },
  { of: "vulnerabilities", severity: "HIGH" },
  { of: "vulnerabilities", severity: "low" },
  { of: "asset diff" },
  { of: "vulnerability diff" },
];
const ANSWERS = [
  ["10.0.0.1", "a.example"],
  ["other.example"],
  ["10.0.0.1"],
  ["a.example"],
  ["a.example"],
  [],
  ["10.0.0.1", "a.example"],
  ["a.example"],
];

type Answer = { records?: Record<string, unknown>[]; total?: number; error?: string };
const values = (answer: Answer): unknown[] => (answer.records ?? []).map((one) => one.asset_value).sort();

describe("records", () => {
  it("can be read by a script", async () => {
    let answers: Answer[] = [];
    const runId = await run(async (ask) => {
      const queries = [
        ...QUESTIONS,
        { of: "totals" },
        { of: "runs" },
        { of: "run" },
        { of: "run", run: "none" },
      ];
      answers = [];
      for (const question of queries) answers.push((await ask("records", question, stop)) as Answer);
      return "read";
    });
    await fill();
    expect((await getRun(open.deps, runId)).status).toBe("completed");
    expect(answers.slice(0, QUESTIONS.length).map(values)).toHaveLength(ANSWERS.length);
    const [totals, runs, own, none] = answers.slice(QUESTIONS.length);
    expect(runs?.records).toMatchObject([{ run_uuid: runId, workspace: "w" }]);
    expect(own?.records).toMatchObject([{ run_uuid: runId, status: "running" }]);
    expect([none?.total, totals?.total]).toEqual([0, 1]);
  });

  it("are read through the conductor without tables, with the same results", async () => {
    const runId = await run(async () => "done");
    await fill();
    const attempt = { deps: { ...open.deps, handleScriptCall: undefined }, run: { run_id: runId } };
    const direct: unknown[] = [];
    const conducted: unknown[] = [];
    for (const question of QUESTIONS) {
      const answer = handleHostCall(attempt as never, "records", question, stop);
      // The message is in its queue after the next commit.
      await expect.poll(() => open.drain()).toBeGreaterThan(0);
      conducted.push(await answer);
      direct.push(await open.deps.handleScriptCall(runId, question));
    }
    expect(conducted.map((answer) => values(answer as Answer))).toEqual(ANSWERS);
    expect(conducted).toEqual(JSON.parse(JSON.stringify(direct)));
  });

  it("return an error for an invalid call, and the same result for a duplicate call", async () => {
    const runId = await run(async () => "done");
    for (const [question, error] of [
      [{ of: "secrets" }, /of/],
      [{ of: "assets", workspace: "w".repeat(5_000) }, /workspace/],
      [null, /./],
    ] as const)
      expect(await open.deps.handleScriptCall(runId, question)).toEqual({
        error: expect.stringMatching(error),
      });
    expect(await open.deps.handleScriptCall("none", { of: "assets" })).toMatchObject({
      error: /the run does not exist/,
    });
    const message: ConductMessage = { run_id: runId, call: { id: "q", query: { of: "runs" } } };
    for (const copy of ["1", "2"])
      await open.deps.queues.send("conduct", [
        { body: JSON.stringify(message), groupId: runId, deduplicationId: copy },
      ]);
    await open.drain();
    const bytes = await open.deps.blobs.get(hostCallResultBlob(runId, "q"));
    expect(JSON.parse(Buffer.from(bytes ?? []).toString())).toMatchObject({ total: 1 });
  });
});

const WRITES = [
  { of: "new asset", workspace: "", data: { host: "new.example", title: "New" } },
  { of: "new asset", workspace: "other", data: { asset_value: "other.example", title: "Seen" } },
  { of: "new value", table: "assets", key: "a.example", field: "status_code", value: 404 },
  { of: "new value", table: "vulnerabilities", key: "1", field: "severity", value: "LOW" },
];

describe("records that a script writes", () => {
  it("exist immediately and once, with their events", async () => {
    const runId = await run(async () => "done");
    await fill();
    for (const round of [1, 2]) {
      const ids: unknown[] = [];
      for (const query of WRITES) ids.push((await open.deps.handleScriptCall(runId, query)) as Answer);
      expect([round, ids]).toEqual([
        round,
        WRITES.map(() => ({ records: [{ id: expect.any(Number) }], total: 1 })),
      ]);
    }
    const assets = (await open.deps.handleScriptCall(runId, { of: "assets" })) as Answer;
    expect(values(assets)).toEqual(["10.0.0.1", "a.example", "new.example"]);
    expect(assets.records).toContainEqual(
      expect.objectContaining({ asset_value: "a.example", status_code: 404 }),
    );
    await open.drain();
    const found = await open.deps.handleScriptCall(runId, { of: "vulnerabilities" });
    expect(found).toMatchObject({ records: [{ vuln_title: "Bad", severity: "low" }], total: 1 });
    const totals = await open.deps.handleScriptCall(runId, { of: "totals" });
    expect(totals).toMatchObject({
      records: [{ total_assets: 3, vuln_high: 0, vuln_low: 1, total_vulns: 1 }],
    });
    for (const [topic, total] of [
      ["asset.discovered", 4],
      ["asset.updated", 2],
      ["vuln.found", 1],
    ] as const)
      expect([topic, (await readLog(open.deps, { topic })).total]).toEqual([topic, total]);
  });

  it.each([
    [{ of: "new asset", workspace: "", data: { title: "x" } }, /no asset field/],
    [{ of: "new value", table: "runs", key: "1", field: "status", value: "x" }, /table: must be assets or/],
    [{ of: "new value", table: "assets", key: "none", field: "title", value: "x" }, /has no asset/],
    [{ of: "new value", table: "assets", key: "other.example", field: "title", value: "x" }, /has no asset/],
    [
      { of: "new value", table: "assets", key: "a.example", field: "id", value: 7 },
      /field: id cannot be changed/,
    ],
    [
      { of: "new value", table: "assets", key: "a.example", field: "asset_value", value: "b" },
      /asset_value cannot be changed/,
    ],
    [
      { of: "new value", table: "assets", key: "a.example", field: "title", value: "" },
      /value: .* wrong type for title/,
    ],
    [
      { of: "new value", table: "assets", key: "a.example", field: "source", value: 5 },
      /value: .* wrong type for source/,
    ],
    [{ of: "new value", table: "assets", key: "a.example", field: "__proto__", value: 5 }, /wrong type for/],
    [
      { of: "new value", table: "vulnerabilities", key: "1", field: "vuln_title", value: "x" },
      /vuln_title cannot be changed/,
    ],
    [
      { of: "new value", table: "vulnerabilities", key: "1", field: "revision", value: 1 },
      /revision cannot be changed/,
    ],
    [
      { of: "new value", table: "vulnerabilities", key: "99", field: "severity", value: "x" },
      /the vulnerability does not exist/,
    ],
    [
      { of: "new value", table: "vulnerabilities", key: "../1", field: "severity", value: "x" },
      /must be the id/,
    ],
  ])("are rejected if invalid: %j", async (query, error) => {
    const runId = await run(async () => "done");
    await fill();
    expect(await open.deps.handleScriptCall(runId, query)).toEqual({ error: expect.stringMatching(error) });
  });
});

describe("a command on another host", () => {
  const settings = {
    volumeRoots: [],
    keysDir: "/nowhere",
    knownHostsPath: "/nowhere",
    hostNetwork: false,
    dockerHost: undefined,
  };

  it("follows the settings of remote-bash, with the step's environment, and closes the connection", async () => {
    const connections: { target: SshTarget; command?: RemoteCommand; closed?: true }[] = [];
    const remote: Remote = {
      settings,
      docker: () => Promise.reject(new Error("no container was asked for")),
      ssh: async (target) => {
        const one: (typeof connections)[number] = { target };
        connections.push(one);
        return {
          run: async (command) => {
            one.command = command;
            await writeFile(command.stdoutPath, " up 3 days\n");
            await writeFile(command.stderrPath, "");
            const bytes = { stdoutBytes: 12, stderrBytes: 0 };
            return { exitCode: 0, signal: null, timedOut: false, aborted: false, durationMs: 1, ...bytes };
          },
          close: async () => {
            one.closed = true;
          },
        };
      },
      close: async () => undefined,
    };
    const answers: unknown[] = [];
    const sshCall = { host: "h.example", command: "uptime", user: "u", password: "p", port: "2222" };
    await run(async (ask) => {
      answers.push(await ask("ssh", sshCall, stop));
      answers.push(await ask("ssh", { ...sshCall, key_path: "/etc/shadow" }, stop).catch(String));
      answers.push(await ask("ssh", { ...sshCall, port: "0" }, stop).catch(String));
      answers.push(await ask("ssh", { ...sshCall, host: "-oProxyCommand=id" }, stop).catch(String));
      answers.push(await ask("ssh", { ...sshCall, password: "" }, stop).catch(String));
    }, remote);
    await open.drain();
    expect(connections).toMatchObject([
      {
        target: { host: "h.example", port: 2222, user: "u", password: "p" },
        command: { script: "uptime", env: { WEFT_WORKFLOW: "m", WEFT_STEP: "s" } },
        closed: true,
      },
    ]);
    expect(answers).toEqual([
      "up 3 days",
      expect.stringContaining("REMOTE_KEYS_DIR"),
      expect.stringContaining("port"),
      expect.stringContaining("host"),
      expect.stringContaining("key_file"),
    ]);
  });

  it("fails if no hosts can be reached", async () => {
    const answers: unknown[] = [];
    await run(async (ask) => {
      answers.push(await ask("ssh", { host: "h", command: "id", password: "p" }, stop).catch(String));
      answers.push(await ask("everything", {}, stop).catch(String));
    });
    await open.drain();
    expect(answers).toEqual([
      expect.stringContaining("a server or a worker"),
      expect.stringContaining("is not available here"),
    ]);
  });
});

it("a request to a language model follows the settings of llm steps", async () => {
  const model = await startLlmServer();
  try {
    open = await testDeps({
      settings: { LLM_BASE_URL: model.baseUrl, LLM_MODEL: "m", LLM_API_KEY: "k" },
      script: async ({ callHost: ask }) => {
        const messages = [{ role: "user", content: "how are you" }];
        const answers = [
          await ask?.("llm", { messages, config: { temperature: 0.5 } }, stop),
          await ask?.("llm", { messages, config: { base_url: "http://169.254.169.254/v1" } }, stop).catch(
            String,
          ),
          await ask?.("llm", { messages, config: { api_key: "mine" } }, stop).catch(String),
        ];
        return { value: answers };
      },
    });
    await storeWorkflow(open.deps, 'name: m\nsteps:\n  - {name: s, type: function, function: "1"}\n');
    const { run_id } = await startRun(open.deps, { module: "m", target: "t", workspace: "w" });
    await open.drain();
    const { values } = await runValues(open.deps, run_id, ["s_output"]);
    expect(values.s_output).toEqual([
      expect.stringContaining("how are you"),
      expect.stringContaining("LLM_ALLOWED_HOSTS"),
      expect.stringContaining("must not contain API keys"),
    ]);
    expect(model.requests).toHaveLength(1);
    expect(model.requests[0]?.body).toMatchObject({ model: "m", temperature: 0.5 });
  } finally {
    await model[Symbol.asyncDispose]();
  }
});

describe("a notice", () => {
  let server: Server;
  let origin: string;
  const notices: { url: string; headers: IncomingHttpHeaders; body: Record<string, unknown> }[] = [];
  beforeEach(async () => {
    notices.length = 0;
    server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const { url = "", headers } = request;
        notices.push({ url, headers, body: JSON.parse(Buffer.concat(chunks).toString()) });
        response.writeHead(url.includes("broken") ? 500 : 204).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  async function notify(hooks: string, input: unknown): Promise<{ answer: unknown; runId: string }> {
    let answer: unknown;
    const runId = await run(async (ask) => {
      const lines = `NOTIFY_WEBHOOKS="${hooks}"\nTOKEN=top-secret-word\n`;
      await writeFile(join(open.folder, "secrets.env"), hooks === "" ? "" : lines, { mode: 0o600 });
      answer = await ask("notify", input, stop).catch(String);
    });
    await open.drain();
    return { answer, runId };
  }

  it("is sent to every webhook in the secret, with the signed hop and without secrets", async () => {
    const input = { event: "scan.done", text: "it is top-secret-word", data: { n: 1 } };
    const { answer, runId } = await notify(`${origin}/one?key=k, ${origin}/two`, input);
    expect(answer).toBe(true);
    expect(notices.map(({ url }) => url).sort()).toEqual(["/one?key=k", "/two"]);
    expect(notices[0]?.headers["weft-hop"]).toMatch(new RegExp(`^${runId}\\.0\\.`));
    expect(notices[0]?.body).toMatchObject({
      event: "scan.done",
      text: "it is ***",
      data: { n: 1 },
      workflow: "m",
      step: "s",
      run_id: runId,
      workspace: "w",
    });
  });

  it("is sent by the action notify if webhooks are configured, and otherwise logged", async () => {
    open = await testDeps();
    const notify = "on_success: [{action: notify, notify: 'found {{Target}}'}]";
    await storeWorkflow(open.deps, `name: m\nsteps:\n  - {name: s, type: bash, command: x, ${notify}}\n`);
    const start = async () => {
      await startRun(open.deps, { module: "m", target: "t", workspace: "w" });
      await open.drain();
      return open.logs.filter(({ fields }) => fields.text === "found t").length;
    };
    expect(await start()).toBe(1);
    expect(notices).toEqual([]);
    await writeFile(join(open.folder, "secrets.env"), `NOTIFY_WEBHOOKS=${origin}/hook\n`, { mode: 0o600 });
    expect(await start()).toBe(2);
    expect(notices.map(({ body }) => [body.event, body.text])).toEqual([["action_notify", "found t"]]);
  });

  it.each([
    ["nobody", "", /NOTIFY_WEBHOOKS/],
    ["metadata", "http://169.254.169.254/latest", /1 of 1 webhooks/],
    ["a URL that is not http or https", "file:///etc/passwd", /http or https/],
  ])("to %s is rejected", async (_name, hooks, message) => {
    expect((await notify(hooks, { event: "e", text: "t" })).answer).toMatch(message);
    expect(notices).toEqual([]);
  });

  it("fails if one webhook fails, with an error that omits the address", async () => {
    const { answer } = await notify(`${origin}/ok ${origin}/broken/hush-hush`, { event: "e", text: "t" });
    expect(answer).toMatch(/1 of 2 webhooks failed: 127\.0\.0\.1:\d+ answered 500/);
    expect(answer).not.toContain("hush-hush");
    expect(notices).toHaveLength(2);
  });
});

it.each(["topic", "source", "data_type", "workspace"])(
  "a step fails if its event has control characters in its %s, and records none of its events",
  async (field) => {
    const event = { topic: "custom.a", source: "", data_type: "", workspace: "", data: {} };
    open = await testDeps({ script: async () => ({ events: [event, { ...event, [field]: "a\u001b[2J" }] }) });
    await storeWorkflow(open.deps, 'name: m\nsteps:\n  - {name: s, type: function, function: "f()"}\n');
    const { run_id } = await startRun(open.deps, { module: "m", target: "t", workspace: "w" });
    await open.drain();
    expect(await getRun(open.deps, run_id)).toMatchObject({
      status: "failed",
      error_message: expect.stringContaining(`event: ${field}: must not contain control characters`),
    });
    expect((await readLog(open.deps, { topic: "custom.a" })).total).toBe(0);
  },
);
