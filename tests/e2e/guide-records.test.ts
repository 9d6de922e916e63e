import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../lib/testing/test-server.ts";
import { parseDefinition } from "../../lib/workflows/schema/parse.ts";

let weft: TestServer;
let server: Server;
let guide: string;
const notifications: { headers: Record<string, unknown>; body: Record<string, unknown> }[] = [];
beforeAll(async () => {
  guide = await readFile(new URL("../../docs/records-in-scripts.md", import.meta.url), "utf8");
  server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    notifications.push({ headers: request.headers, body: JSON.parse(text) });
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  weft = await startTestServer({
    files: { "secrets.env": `NOTIFY_WEBHOOKS=http://127.0.0.1:${port}/hook\n` },
  });
});
afterAll(async () => {
  await weft[Symbol.asyncDispose]();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

test("the guide's workflow queries its assets and sends a notification", async () => {
  const [, yaml = ""] = /```yaml\n([\s\S]*?)```/.exec(guide) ?? [];
  expect(parseDefinition(yaml)).toMatchObject({ ok: true, warnings: [] });
  await weft.storeWorkflow(yaml);
  const run = await weft.run({ module: "tell-what-is-new", target: "a.example", workspace: "acme" });
  expect(run).toMatchObject({ status: "completed", error_message: "" });
  const steps = await weft.steps(run.run_id);
  expect(JSON.parse(steps.look?.output ?? "")).toMatchObject({ workspace: "acme", status_code: 200 });
  expect(steps.look?.exports).toMatchObject({ known: "1" });
  expect(steps.tell).toMatchObject({ status: "completed", output: "true" });
  expect(notifications).toHaveLength(1);
  const [, json = "{}"] = /```json\n([\s\S]*?)```/.exec(guide) ?? [];
  expect(Object.keys(notifications[0]?.body ?? {}).toSorted()).toEqual(
    Object.keys(JSON.parse(json)).toSorted(),
  );
  expect(notifications[0]?.body).toMatchObject({
    event: "notification",
    run_id: run.run_id,
    workspace: "acme",
  });
  expect(notifications[0]?.body.text).toMatch(/^1 asset\(s\), the last ones are \{.*a\.example/);
  expect(notifications[0]?.headers["weft-hop"]).toMatch(new RegExp(`^${run.run_id}\\.0\\.`));
});
