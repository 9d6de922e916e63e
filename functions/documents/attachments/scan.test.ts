import { type AddressInfo, createServer, type Server } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { getMedia, uploadFile } from "#lib/testing/test-attachments.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { createUser } from "#lib/testing/test-documents.ts";
import { type TestGateway, testGateway } from "#lib/testing/test-gateway.ts";

const VIRUS = "this is a virus";

/** clamd's INSTREAM: finds texts with "virus". */
async function startClamd(reply: (content: Buffer) => string | undefined): Promise<Server> {
  const server = createServer((socket) => {
    let received = Buffer.alloc(0);
    socket.on("error", () => {});
    socket.on("data", (data: Buffer) => {
      received = Buffer.concat([received, data]);
      const parts: Buffer[] = [];
      let at = "zINSTREAM\0".length;
      while (received.length >= at + 4) {
        const length = received.readUInt32BE(at);
        if (length === 0) {
          const text = reply(Buffer.concat(parts));
          if (text === undefined) return;
          socket.end(`${text}\0`);
          return;
        }
        parts.push(received.subarray(at + 4, at + 4 + length));
        at += 4 + length;
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

let clamd: Server;
let test: TestDeps;
let gateway: TestGateway;
let id: string;
let reply: (content: Buffer) => string | undefined;
const open = async (settings: Record<string, string>): Promise<void> => {
  test = await testDeps({ settings });
  gateway = await testGateway(test);
  id = (await gateway.request("POST", "/documents/", { body: {} })).body.id;
};
beforeEach(async () => {
  reply = (content) => (content.includes("virus") ? "stream: Test-Virus FOUND" : "stream: OK");
  clamd = await startClamd((content) => reply(content));
});
afterEach(async () => {
  await gateway.close();
  await test.close();
  await new Promise((resolve) => clamd.close(resolve));
});

const status = async (key: string) => {
  const { status, body } = await gateway.request("GET", `/documents/${id}/media-check/?key=${key}`);
  return [status, body.status ?? body.detail];
};
const opens = async (key: string): Promise<boolean> => (await getMedia(gateway, key)).status === 200;
const list = async () => (await gateway.request("GET", `/documents/${id}/attachments/`)).body;
const topics = async (topic: string): Promise<number> => {
  await test.drain();
  const response = await fetch(`${gateway.url}/automation/event-logs?topic=${topic}`, {
    headers: { authorization: `Bearer ${TEST_TOKEN}` },
  });
  return ((await response.json()) as { pagination: { total: number } }).pagination.total;
};
const INFECTED = [404, "Attachment missing: it was deleted because it is dangerous"];

describe("with CLAMAV_ADDRESS", () => {
  beforeEach(() => open({ CLAMAV_ADDRESS: `127.0.0.1:${(clamd.address() as AddressInfo).port}` }));

  it("a safe file can be opened after it was scanned", async () => {
    const { key } = await uploadFile(gateway, id, "large.txt", "safe ".repeat(200_000));
    expect([await status(key), await opens(key)]).toEqual([[200, "processing"], false]);
    await test.tick();
    expect([await status(key), await opens(key)]).toEqual([[200, "ready"], true]);
    expect(await topics("documents.attachment.infected")).toBe(0);
  });

  it("an infected file is deleted, and the document and the event log say so", async () => {
    const { key } = await uploadFile(gateway, id, "a.txt", VIRUS);
    await test.tick();
    expect([await status(key), await opens(key)]).toEqual([INFECTED, false]);
    expect(await test.deps.blobs.list("media/")).toEqual([]);
    expect(await list()).toMatchObject({
      count: 1,
      results: [{ key, name: "a.txt", state: "infected", finding: "Test-Virus", bytes: VIRUS.length }],
    });
    expect(await topics("documents.attachment.infected")).toBe(1);
  });

  it.each<readonly [string, string | undefined]>([
    ["an error", "INSTREAM size limit exceeded. ERROR"],
    ["nothing", ""],
    ["something else", `stream: ${"x".repeat(5000)}`],
  ])("a file stays closed while clamd answers with %s, and is scanned again later", async (_, answer) => {
    reply = () => answer;
    const { key } = await uploadFile(gateway, id, "a.txt", "safe");
    await test.tick();
    expect([await status(key), await opens(key)]).toEqual([[200, "processing"], false]);
    reply = () => "stream: OK";
    test.clock.advance(60 * 60_000);
    await test.tick();
    expect(await status(key)).toEqual([200, "ready"]);
  });

  it("a file stays closed while clamd does not run", async () => {
    await new Promise((resolve) => clamd.close(resolve));
    const { key } = await uploadFile(gateway, id, "a.txt", VIRUS);
    await test.tick();
    expect([await status(key), await opens(key)]).toEqual([[200, "processing"], false]);
  });
});

describe("with ATTACHMENTS_CHECKED_BY_WORKFLOW", () => {
  beforeEach(() => open({ ATTACHMENTS_CHECKED_BY_WORKFLOW: "true" }));
  const say = (body: unknown, token = TEST_TOKEN) =>
    gateway.request("POST", "/documents/attachment-verdict/", { body, token });

  it("a file can be opened once the workflow says that it is safe", async () => {
    const { key } = await uploadFile(gateway, id, "a.txt", "text");
    await test.tick();
    expect(await status(key)).toEqual([200, "processing"]);
    expect(await topics("documents.attachment.uploaded")).toBe(1);
    for (let time = 0; time < 2; time += 1) expect((await say({ key, is_safe: true })).status).toBe(204);
    expect([await status(key), await opens(key)]).toEqual([[200, "ready"], true]);
  });

  it("a file is deleted if the workflow says that it is not, also later", async () => {
    const { key } = await uploadFile(gateway, id, "a.txt", "text");
    await say({ key, is_safe: true });
    for (let time = 0; time < 2; time += 1)
      expect((await say({ key, is_safe: false, finding: "a\u0000\nsecret" })).status).toBe(204);
    expect([await status(key), await opens(key)]).toEqual([INFECTED, false]);
    expect((await list()).results[0].finding).toBe("a secret");
    expect(await topics("documents.attachment.infected")).toBe(1);
    await say({ key, is_safe: true });
    expect(await status(key)).toEqual(INFECTED);
  });

  it("only the installation's token may say so, of an attachment", async () => {
    const { token } = await createUser(test.deps, "ann");
    const { key } = await uploadFile(gateway, id, "a.txt", "text");
    expect((await say({ key, is_safe: true }, token)).status).toBe(403);
    expect((await say({ key: "x", is_safe: true })).body).toEqual({ key: ["Attachment missing."] });
    expect((await say({})).body).toEqual({
      key: ["This field is required."],
      is_safe: ["This field is required."],
    });
  });
});
