import { mkdir, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type LlmServer, replyJson, startLlmServer } from "../../lib/testing/test-llm-server.ts";
import { type Page, startTestServer, type TestServer, waitUntil } from "../../lib/testing/test-server.ts";
import type { RunRecord } from "../../lib/workflows/runs/read.ts";
import { readFixtures, toFiles } from "./fixture-files.ts";

let weft: TestServer;
let model: LlmServer;
let server: Server;
let base: string;
const seen: string[] = [];

beforeAll(async () => {
  server = createServer(async (incoming, outgoing) => {
    let body = "";
    for await (const chunk of incoming) body += String(chunk);
    const { method = "", url = "" } = incoming;
    seen.push(`${method} ${url} ${body}`.trim());
    const status = { "/missing": 404, "/broken": 500 }[url] ?? (method === "POST" ? 201 : 200);
    outgoing.writeHead(status, { "content-type": "application/json" }).end('{"items":["first","second"]}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  model = await startLlmServer();
  weft = await startTestServer({
    files: toFiles(await readFixtures()),
    env: { LLM_BASE_URL: model.baseUrl, LLM_MODEL: "small" },
  });
});
afterAll(async () => {
  await weft[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const runsOf = async (workflow: string): Promise<readonly RunRecord[]> =>
  (await weft.get<Page<RunRecord>>(`/runs?workflow=${workflow}`)).data;

/** Waits for the given number of ended runs of a workflow. Returns the outputs of their steps, oldest run first. */
async function outputsOfRuns(workflow: string, runs = 1): Promise<string[]> {
  const all = await waitUntil(`${runs} runs of ${workflow}`, async () => {
    const found = await runsOf(workflow);
    return found.length >= runs && found.every(({ status }) => status !== "running" && status !== "pending")
      ? found
      : undefined;
  });
  expect(all).toHaveLength(runs);
  const texts: string[] = [];
  for (const { run_id, status, error_message } of [...all].reverse()) {
    expect([status, error_message]).toEqual(["completed", ""]);
    texts.push(...Object.values(await weft.steps(run_id)).map(({ output }) => output));
  }
  return texts;
}

const emit = async (topic: string, data: object, more: object = {}): Promise<readonly string[]> =>
  (await weft.emit({ topic, data, ...more })).triggered_workflows;

describe("events trigger the expected workflows", () => {
  test("by filters over the event and its data, once per key", async () => {
    const web = { kind: "web", host: "h1.example" };
    expect(await emit("discovery.host", web, { source: "sensor" })).toEqual(["new-host"]);
    expect(await emit("discovery.host", web, { source: "sensor" })).toEqual([]);
    expect(await emit("discovery.host", web, { source: "rumour" })).toEqual([]);
    expect(await emit("discovery.host", { ...web, kind: "mail" }, { source: "sensor" })).toEqual([]);
    expect(await emit("discovery.host", { ...web, host: "h2.example" }, { source: "sensor" })).toEqual([
      "new-host",
    ]);
    expect(await outputsOfRuns("new-host", 2)).toEqual(["h1.example", "h2.example"]);
    const byHand = await weft.call("POST", "/runs", { body: { module: "new-host", target: "x" } });
    expect([byHand.status, byHand.message]).toEqual([
      400,
      expect.stringContaining("manual trigger is disabled"),
    ]);
  });

  test("if all filters match, for a topic pattern", async () => {
    expect(await emit("meter.kitchen", { value: 12, unit: "kW" })).toEqual(["choosy"]);
    expect(await emit("meter.hall.upper", { value: 5, unit: "kW" })).toEqual([]);
    expect(await emit("meter.hall.upper", { value: 50, unit: "W" })).toEqual([]);
    expect(await emit("meters", { value: 50, unit: "kW" })).toEqual([]);
    expect(await outputsOfRuns("choosy")).toEqual(["12"]);
  });

  test("once per window for a key of source and data", async () => {
    const ring = (source: string, door: string) => emit("bell.rung", { door }, { source });
    expect([await ring("a", "front"), await ring("a", "front"), await ring("b", "front")]).toEqual([
      ["once-a-door"],
      [],
      ["once-a-door"],
    ]);
    expect(await ring("a", "back")).toEqual(["once-a-door"]);
    expect(await outputsOfRuns("once-a-door", 3)).toEqual(["front", "front", "back"]);
  });

  test("by functions in filters and inputs", async () => {
    expect(await emit("page.seen", { url: "https://a.example/" })).toEqual([]);
    expect(await emit("page.seen", {})).toEqual([]);
    expect(await emit("page.seen", { url: "https://a.example/admin" })).toEqual(["with-functions"]);
    expect(await outputsOfRuns("with-functions")).toEqual(["HTTPS://A.EXAMPLE/ADMIN"]);
  });

  test("with fields of the event as params", async () => {
    const customer = { name: "Ada", city: "  Rome " };
    await emit("order.placed", { customer, lines: [{ what: "tea" }] }, { source: "shop" });
    expect(await outputsOfRuns("taken-apart")).toEqual(["Ada|Rome|tea|order.placed|shop|always||"]);
  });

  test("with the event and its envelope as variables", async () => {
    await emit("letter.come", { stamp: "red" }, { source: "post", data_type: "letter" });
    expect(await outputsOfRuns("whole-envelope")).toEqual(["letter.come post letter", "red", "letter.come"]);
  });

  test("from another run, sent singly or one for each line of a file", async () => {
    expect((await weft.run({ module: "relay-start", target: "Bo" })).status).toBe("completed");
    expect(await outputsOfRuns("relay-end")).toEqual([expect.stringMatching(/^Bo arrived in \S+$/)]);
    const [relayed] = await runsOf("relay-end");
    expect(relayed).toMatchObject({ trigger_type: "event", trigger_name: "on-pass", target: "Bo" });
    expect((await weft.run({ module: "post-lines" })).status).toBe("completed");
    expect((await outputsOfRuns("take-lines", 2)).sort()).toEqual(["took n1", "took n2"]);
  });

  test("for every topic", async () => {
    expect(await emit("any.thing", {}, { source: "a-test-of-everything" })).toEqual(["everything"]);
    expect(await outputsOfRuns("everything")).toEqual(["any.thing"]);
  });
});

describe("cron, watch and manual triggers", () => {
  test("a cron trigger has its next run and can be fired manually", async () => {
    const { data } = await weft.get<{ data: { next_run: string } }>("/schedules/sch_each-minute:tick");
    const ahead = Date.parse(data.next_run) - Date.now();
    expect(ahead).toBeGreaterThan(-2_000);
    expect(ahead).toBeLessThanOrEqual(60_000);
    const { json } = await weft.call("POST", "/schedules/sch_each-minute:tick/trigger");
    expect((await weft.waitForRun((json as { run_id: string }).run_id)).status).toBe("completed");
    expect((await weft.run({ module: "each-minute" })).status).toBe("completed");
  });

  test("a new file is the target of the run", async () => {
    const box = join(weft.dataDir, "workspaces", "drop-box");
    await mkdir(box, { recursive: true });
    await writeFile(join(box, "letter.txt"), "dear all");
    expect(await outputsOfRuns("drop-box")).toEqual(["dear all"]);
  });

  test("a file that keeps changing starts one run after it is stable", async () => {
    const box = join(weft.dataDir, "workspaces", "patient");
    await mkdir(box, { recursive: true });
    let text = "";
    for (let line = 1; line <= 5; line += 1) {
      text += `line ${line}\n`;
      await writeFile(join(box, "busy.log"), text);
      await writeFile(join(box, "other.txt"), text);
    }
    expect(await outputsOfRuns("patient-box")).toEqual(["5"]);
  });

  test("stores every field of a trigger", async () => {
    type Schedule = {
      trigger_name: string;
      trigger_type: string;
      is_enabled: boolean;
      workflow_name: string;
    };
    const { data } = await weft.get<Page<Schedule>>("/schedules?limit=1000");
    const own = data.filter(({ workflow_name }) => workflow_name === "every-field");
    expect(own.map(({ trigger_name: name, is_enabled: on }) => [name, on]).sort()).toEqual([
      ["by-hand", true],
      ["dropped", false],
      ["found", false],
      ["hook", false],
      ["nightly", false],
    ]);
    expect((await weft.run({ flow: "every-field" })).status).toBe("completed");
  });
});

async function outputs(module: string, params: object): Promise<Record<string, string>> {
  const run = await weft.run({ module, target: "tea", params });
  expect([run.status, run.error_message]).toEqual(["completed", ""]);
  const steps = Object.values(await weft.steps(run.run_id));
  return Object.fromEntries(
    steps.map(({ step_name, status, output }) => [step_name, status === "failed" ? "failed" : output]),
  );
}

describe("http and llm steps", () => {
  const items = '{"items":["first","second"]}';

  test("the response is the step's output and has exports", async () => {
    expect(await outputs("ask-politely", { base })).toEqual({ ask: items });
    expect((await outputs("use-the-answer", { base }))["tell"]).toBe("200 200 first application/json");
    expect(seen.splice(0)).toEqual(["GET /items", "GET /items?of=tea"]);
  });

  test("methods, bodies, decisions by status, and a tolerated failure", async () => {
    expect(await outputs("every-request", { base })).toEqual({
      put: items,
      find: items,
      make: items,
      drop: items,
      lost: "failed",
      tell: `${items} 201 200`,
    });
    expect(seen.splice(0)).toEqual([
      'PUT /items/1 {"for": "tea"}',
      "GET /missing",
      "POST /items name=tea",
      "DELETE /items/1",
      "GET /broken",
      "GET /broken",
      "GET /broken",
    ]);
  });

  test("a model answers, calls tools and returns embeddings", async () => {
    const choice = (message: object, finish_reason = "stop") =>
      replyJson({ choices: [{ finish_reason, message: { role: "assistant", ...message } }] });
    model.next(choice({ content: "leaves" }));
    expect((await outputs("ask-a-model", {}))["tell"]).toBe("leaves stop");
    expect(model.requests[0]?.body).toMatchObject({
      messages: [{}, { content: "What is tea?" }],
      max_tokens: 10,
    });
    const call = { id: "c1", type: "function", function: { name: "weather", arguments: "{}" } };
    model.next(choice({ content: null, tool_calls: [call] }, "tool_calls"));
    model.next(replyJson({ data: [0, 1].map((index) => ({ index, embedding: [index, 1] })) }));
    expect((await outputs("every-model-call", {}))["tell"]).toBe("weather 2 Generated 2 embeddings");
  });

  test("a workflow with steps of every type skips remote steps without a host", async () => {
    model.next(
      replyJson({ choices: [{ finish_reason: "stop", message: { role: "assistant", content: "hi" } }] }),
    );
    expect(await outputs("one-of-every-type", { base })).toEqual({
      "by-shell": "shell",
      "by-script": "script",
      "by-loop": "1\n2",
      "at-once": "once",
      "at-once-1": "once",
      "by-request": items,
      "by-model": "hi",
      "by-container": "",
      "by-host": "",
    });
  });
});
