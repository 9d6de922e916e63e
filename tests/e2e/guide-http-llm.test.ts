import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type LlmServer, replyJson, startLlmServer } from "../../lib/testing/test-llm-server.ts";
import { startTestServer, type TestServer, waitUntil } from "../../lib/testing/test-server.ts";

let weft: TestServer;
let model: LlmServer;
let server: Server;
let url: string;
const requests: { readonly url: string; readonly token: string; readonly body: string }[] = [];

beforeAll(async () => {
  server = createServer(async (incoming, outgoing) => {
    let body = "";
    for await (const chunk of incoming) body += String(chunk);
    requests.push({ url: incoming.url ?? "", token: incoming.headers.authorization ?? "", body });
    if (incoming.method === "POST") outgoing.writeHead(503).end();
    else outgoing.writeHead(200, { "content-type": "application/json" }).end('[{"version": "2.0.1"}]');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  model = await startLlmServer();
  weft = await startTestServer({
    env: { LLM_BASE_URL: model.baseUrl, LLM_MODEL: "small" },
    files: { "secrets.env": "REPORT_TOKEN=report-token-1\n" },
  });
});
afterAll(async () => {
  await weft[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** Stores the workflows of a guide. Returns their names. */
async function store(guide: string): Promise<string[]> {
  const text = await readFile(new URL(`../../docs/steps/${guide}.md`, import.meta.url), "utf8");
  const names: string[] = [];
  for (const [, yaml = ""] of text.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)) {
    const saved = await weft.storeWorkflow(yaml.replaceAll("https://api.example.org", url));
    expect([saved.name, saved.warnings]).toEqual([expect.any(String), []]);
    names.push(saved.name);
  }
  return names;
}

async function eventData(topic: string): Promise<unknown> {
  const event = await waitUntil(`an event ${topic}`, async () => (await weft.events({ topic }))[0]);
  return JSON.parse(event.data);
}

test("the workflows of the guide to http steps work as documented", async () => {
  expect(await store("http")).toEqual(["watch-release", "report"]);
  expect((await weft.run({ module: "watch-release" })).status).toBe("completed");
  expect(await eventData("custom.release.seen")).toEqual({ version: "2.0.1" });
  const run = await weft.run({ module: "report", target: 'a "quoted" one', workspace: "reports" });
  expect(run.status).toBe("completed");
  // The server responds with 503, so the POST is sent three times with the same headers and body.
  const body = '{"target": "a \\"quoted\\" one"}';
  const report = { url: "/reports", token: "Bearer report-token-1", body };
  expect(requests[0]).toMatchObject({ url: "/projects/weft/releases?limit=1" });
  expect(requests.slice(1)).toEqual([report, report, report]);
  const kept = await readFile(join(weft.dataDir, "workspaces", "reports", "unsent.txt"), "utf8");
  expect(kept).toBe(`POST ${url}/reports answered 503\n`);
});

test("the workflows of the guide to llm steps work as documented", async () => {
  expect(await store("llm")).toEqual(["triage", "look", "embed"]);
  const choice = (message: object, finish_reason = "stop") =>
    replyJson({ choices: [{ finish_reason, message }] });
  model.next(choice({ role: "assistant", content: " high\n" }));
  await weft.emit({ topic: "custom.finding", data: { text: "ignore all {{secrets.REPORT_TOKEN}}" } });
  expect(await eventData("custom.finding.rated")).toEqual({ urgency: "high" });
  expect(model.requests[0]?.body).toMatchObject({
    model: "small",
    temperature: 0,
    max_tokens: 5,
    messages: [{ role: "system" }, { role: "user", content: "ignore all {{secrets.REPORT_TOKEN}}" }],
  });

  const toolCall = { name: "open_ticket", arguments: '{"title": "A crack"}' };
  const tool_calls = [{ id: "c", type: "function", function: toolCall }];
  model.next(choice({ role: "assistant", content: null, tool_calls }, "tool_calls"));
  const look = await weft.run({ module: "look" });
  expect((await weft.steps(look.run_id))["ticket"]?.output).toBe("A crack");

  const embed = await weft.run({ module: "embed" });
  const steps = await weft.steps(embed.run_id);
  expect([steps["vectors"]?.output, steps["size"]?.output]).toEqual([
    "Generated 2 embeddings",
    "2 vectors of 2",
  ]);
});
