import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Page, startTestServer, type TestServer, waitUntil } from "../../lib/testing/test-server.ts";
import type { RunRecord } from "../../lib/workflows/runs/read.ts";
import { parseDefinition } from "../../lib/workflows/schema/parse.ts";
import { lintDefinition } from "../../lib/workflows/uploads/lint.ts";

let weft: TestServer;
let examples: readonly string[];
let commands: readonly string[];
beforeAll(async () => {
  const guide = await readFile(new URL("../../docs/triggers.md", import.meta.url), "utf8");
  commands = [...guide.matchAll(/```sh\n(.*?)```/gs)].map(([, text = ""]) => text);
  examples = [...guide.matchAll(/```yaml\n(.*?)```/gs)].map(([, yaml = ""]) => yaml);
  weft = await startTestServer();
  for (const yaml of examples) await weft.storeWorkflow(yaml);
});
afterAll(() => weft[Symbol.asyncDispose]());

const runsOf = async (workflow: string): Promise<readonly RunRecord[]> =>
  (await weft.get<Page<RunRecord>>(`/runs?workflow=${workflow}`)).data;
const oneRun = async (workflow: string): Promise<RunRecord> => {
  const run = await waitUntil(`a run of ${workflow}`, async () => (await runsOf(workflow))[0]);
  return weft.waitForRun(run.run_id);
};
const outputOf = async (run: RunRecord, step: string): Promise<string> => {
  expect([run.error_message, run.status]).toEqual(["", "completed"]);
  return (await weft.steps(run.run_id))[step]?.output ?? "";
};
const webhook = async (workflow: string): Promise<{ id: string; secret: string }> => {
  type Webhook = { id: string; secret: string; workflow_name: string };
  const { data } = await weft.get<Page<Webhook>>("/webhooks");
  return data.find(({ workflow_name }) => workflow_name === workflow) ?? { id: "", secret: "" };
};

describe("the guide's examples", () => {
  test("are valid workflows without warnings", () => {
    expect(examples).toHaveLength(5);
    for (const yaml of examples) {
      const parsed = parseDefinition(yaml, {});
      expect(parsed).toMatchObject({ ok: true, warnings: [] });
      if (parsed.ok) expect(lintDefinition(parsed.definition)).toEqual([]);
    }
  });

  test("cron: firing the schedule manually runs the workflow", async () => {
    const id = "sch_nightly-report:every-night";
    const { status, json } = await weft.call("POST", `/schedules/${id}/trigger`);
    expect(status).toBe(202);
    const run = await weft.waitForRun((json as { run_id: string }).run_id);
    expect(await outputOf(run, "write")).toMatch(/^report of \d{4}-\d\d-\d\d$/);
    const { data } = await weft.get<{ data: Record<string, unknown> }>(`/schedules/${id}`);
    expect(data).toMatchObject({ run_count: 1, is_enabled: true, timezone: "Europe/Berlin" });
  });

  test("event: applies filters and deduplication keys, and the response names the triggered workflows", async () => {
    const data = { id: 7, host: "a.example", severity: "high", title: " $(id) " };
    const emit = async (more: object) =>
      (await weft.emit({ topic: "custom.finding.web", data: { ...data, ...more } })).triggered_workflows;
    expect(await emit({ severity: "low" })).toEqual([]);
    expect(await emit({ host: "" })).toEqual([]);
    expect(await emit({})).toEqual(["triage"]);
    expect(await emit({})).toEqual([]);
    const run = await oneRun("triage");
    expect(await outputOf(run, "tell")).toBe("$(id) on a.example");
    expect(await emit({ id: 8, severity: "low", score: 8 })).toEqual(["triage"]);
  });

  test("watch: the file's path is the target", async () => {
    const inbox = join(weft.dataDir, "workspaces", "inbox", "deep");
    await mkdir(inbox, { recursive: true });
    await writeFile(join(inbox, "list; id.txt"), "a\nb\nc\n");
    const run = await oneRun("import-list");
    expect(await outputOf(run, "count")).toBe("3");
    expect(run).toMatchObject({ trigger_type: "watch", trigger_name: "dropped" });
    expect(run.target).toMatch(/inbox\/deep\/list; id\.txt$/);
  });

  test("manual: a run starts the workflow", async () => {
    expect(await outputOf(await weft.run({ module: "deploy" }), "go")).toBe("deployed");
  });

  test("webhook: works without the owner's token", async () => {
    const { id, secret } = await webhook("on-push");
    const body = JSON.stringify({ repository: { name: "weft" } });
    const refused = await weft.call("POST", `/webhooks/${id}?key=wrong`, { body, token: null });
    expect([refused.status, refused.message]).toEqual([401, "key: is missing or invalid"]);
    const { status, json } = await weft.call("POST", `/webhooks/${id}?key=${secret}`, { body, token: null });
    expect(status).toBe(202);
    const run = await weft.waitForRun((json as { run_id: string }).run_id);
    expect(await outputOf(run, "build")).toBe("building weft");
    expect((await weft.call("GET", `/webhooks/${id}?key=${secret}&n=1`, { token: null })).status).toBe(202);
  });
});

test("the guide's commands work as documented", async () => {
  const { id, secret } = await webhook("on-push");
  const names = { URL: weft.url, TOKEN: weft.token, ID: id, SECRET: secret, WEFT_HOP: "" };
  const answers: { readonly event_id?: string }[] = [];
  for (const command of commands) {
    const env = { PATH: process.env["PATH"], ...names, EVENT_ID: answers[0]?.event_id };
    const script = `curl() { command curl -sS "$@"; }\n${command}`;
    answers.push(JSON.parse((await promisify(execFile)("bash", ["-c", script], { env })).stdout));
  }
  expect(answers).toMatchObject([
    { topic: "custom.finding.web", triggered_workflows: expect.any(Array) },
    [{ topic: "custom.scan" }, { topic: "custom.scan" }],
    { data: expect.any(Array) },
    { message: "Schedule triggered", workflow: "nightly-report" },
    { run_id: expect.any(String) },
    { message: "Schedule created", data: { name: "hourly", is_enabled: true, params: { stage: "test" } } },
    { topic: "custom.next", triggered_workflows: [] },
  ]);
});

describe("filters", () => {
  test("that loop, exhaust memory or try to escape do not match, and other requests are served meanwhile", async () => {
    const filters = [
      "while (true) {}",
      "const all = []; for (;;) all.push(new Uint8Array(1 << 20))",
      "this.constructor.constructor('return process')().exit()",
      "/(a+)+$/.test('a'.repeat(40) + 'b')",
      "(function deep() { return deep() })()",
      "'x'.repeat(2 ** 28).length > 0 && nothing",
      "new Promise(() => {}) && missing.value",
    ];
    for (const [n, filter] of filters.entries())
      await weft.storeWorkflow(
        `name: hostile${n}\ntriggers: [{type: event, topic: custom.hostile, filters: [${JSON.stringify(filter)}]}]\nsteps: [{name: a, type: bash, command: "true"}]\n`,
      );
    await weft.storeWorkflow(
      'name: calm\ntriggers: [{type: event, topic: custom.hostile, filters: ["event.data.n === 1"]}]\nsteps: [{name: a, type: bash, command: "true"}]\n',
    );
    const started = performance.now();
    const { triggered_workflows } = await weft.emit({ topic: "custom.hostile", data: { n: 1 } });
    expect(performance.now() - started).toBeLessThan(15_000);
    expect(triggered_workflows).toEqual(["calm"]);
    const [record] = await weft.events({ topic: "custom.hostile" });
    expect(record?.error).toContain("trigger event-1 of hostile0: filter");
    expect((await weft.run({ module: "calm" })).status).toBe("completed");
  });
});

describe("a loop", () => {
  test("through calls from steps is stopped by the counter in their environment", async () => {
    await weft.storeWorkflow(`name: loop
triggers: [{type: event, topic: custom.loop}]
steps:
  - name: again
    type: bash
    command: >-
      curl -sS -X POST ${weft.url}/automation/events/emit -H 'Content-Type: application/json'
      -H "Authorization: Bearer ${weft.token}" -H "Weft-Hop: $WEFT_HOP" -d '{"topic": "custom.loop"}'
`);
    await weft.emit({ topic: "custom.loop" });
    const cut = await waitUntil("the cut", async () =>
      (await weft.events({ topic: "custom.loop" })).find(({ error }) => error !== ""),
    );
    expect(cut.error).toBe("event loop: more than 8 events triggered one another");
    expect(await runsOf("loop")).toHaveLength(9);
  });
});

test("a watch continues after kill -9: no file fires twice, and files changed meanwhile fire once", async () => {
  const yaml = `name: w
triggers: [{name: in, type: watch, path: in, debounce: 50ms}]
steps: [{name: a, type: bash, command: "cat {{target}}"}]
`;
  const first = await startTestServer({
    files: { "workflows/w.yaml": yaml, "workspaces/in/old.txt": "old" },
  });
  const folder = join(first.dataDir, "workspaces", "in");
  const outputs = async (of: TestServer): Promise<string[]> => {
    const { data } = await of.get<Page<RunRecord>>("/runs");
    const runs = await Promise.all(data.map(({ run_id }) => of.waitForRun(run_id)));
    return (
      await Promise.all(runs.map(async ({ run_id }) => (await of.steps(run_id))["a"]?.output ?? ""))
    ).toSorted();
  };
  await writeFile(join(folder, "a.txt"), "one");
  await waitUntil("the first run", async () => (await outputs(first)).length === 1);
  await first.kill();
  await writeFile(join(folder, "a.txt"), "one, changed");
  await writeFile(join(folder, "b.txt"), "two");
  const second = await startTestServer({ dataDir: first.dataDir });
  await waitUntil("what changed", async () => (await outputs(second)).length >= 3);
  await writeFile(join(folder, "c.txt"), "three");
  await waitUntil("the last one", async () => (await outputs(second)).includes("three"));
  expect(await outputs(second)).toEqual(["one", "one, changed", "three", "two"]);
  await second[Symbol.asyncDispose]();
  await first[Symbol.asyncDispose]();
});

test("a signed webhook that is sent repeatedly starts one run, also after kill -9", async () => {
  const options = {
    files: {
      "workflows/w.yaml":
        "name: w\ntriggers: [{name: hook, type: webhook, auth: hmac}]\nsteps: [{name: a, type: bash, command: echo}]\n",
    },
  };
  const first = await startTestServer(options);
  const { data } = await first.get<Page<{ id: string; secret: string }>>("/webhooks");
  const { id, secret } = data[0] ?? { id: "", secret: "" };
  const body = '{"n": 1}';
  const at = Math.floor(Date.now() / 1_000);
  const signature = createHmac("sha256", secret).update(`${at}.${body}`).digest("hex");
  const headers = { "X-Weft-Timestamp": `${at}`, "X-Weft-Signature": `sha256=${signature}` };
  const send = async (to: TestServer) =>
    (await to.call("POST", `/webhooks/${id}`, { body, headers, token: null })).json;
  const accepted = (await send(first)) as { message: string; run_id: string };
  expect(accepted.message).toBe("Webhook received");
  await first.kill();
  const second = await startTestServer({ dataDir: first.dataDir });
  expect(await send(second)).toMatchObject({ message: "Webhook was received before" });
  expect((await second.waitForRun(accepted.run_id)).status).toBe("completed");
  expect((await second.get<Page<RunRecord>>("/runs")).pagination.total).toBe(1);
  await second[Symbol.asyncDispose]();
  await first[Symbol.asyncDispose]();
});
