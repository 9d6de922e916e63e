import { connect } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import * as Y from "yjs";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { TestEventStream } from "#lib/testing/test-event-stream.ts";
import { type TestGateway, testGateway } from "#lib/testing/test-gateway.ts";

const UPDATES = 24;
const UPDATE_CHARS = 700_000;

let test: TestDeps;
let gateway: TestGateway;
beforeEach(async () => {
  test = await testDeps();
  gateway = await testGateway(test);
});
afterEach(async () => {
  await gateway.close();
  await test.close();
});

it("a reader that is too slow loses its stream, while others receive everything", async () => {
  const { id } = (await gateway.request("POST", "/documents/", { body: {} })).body;
  const path = `/api/v1.0/documents/${id}/updates/`;
  const headers = { authorization: `Bearer ${TEST_TOKEN}`, accept: "text/event-stream" };
  const { hostname, port } = new URL(gateway.url);
  const slow = connect({ host: hostname, port: Number(port) });
  const head = Object.entries({ host: `${hostname}:${port}`, ...headers });
  slow.write(`GET ${path} HTTP/1.1\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`);
  await new Promise((resolve) => slow.once("readable", resolve));
  await using other = await TestEventStream.open(`${gateway.url}${path}`, headers);
  await other.until("sync");
  const { liveRequests } = test.deps;
  const doc = new Y.Doc();
  let most = 0;
  for (let at = 0; at < UPDATES; at += 1) {
    const before = Y.encodeStateVector(doc);
    doc.getText("t").delete(0, doc.getText("t").length);
    doc.getText("t").insert(0, `${at}`.padEnd(UPDATE_CHARS, "x"));
    const update = Buffer.from(Y.encodeStateAsUpdate(doc, before)).toString("base64");
    const { status } = await gateway.request("POST", `/documents/${id}/updates/`, {
      body: { updates: [update] },
    });
    expect(status).toBe(200);
    expect((await other.until("update")).data.position).toBe(at + 1);
    most = Math.max(most, liveRequests.unsent.length);
  }
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThan(2 * liveRequests.limits.unsent);
  await expect.poll(() => liveRequests.unsent.length).toBe(0);
  slow.destroy();
});
