import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import * as Y from "yjs";
import { TestEventStream } from "#lib/testing/test-event-stream.ts";
import { startTestServer, type TestServer } from "#lib/testing/test-server.ts";

const ROUNDS = 3;
const WRITERS = 4;
/** Acknowledged updates after which the server is killed. */
const KILLED_AFTER = 25;

it("every acknowledged update is there after a kill, and a stream resumes where it was", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "weft-updates-"));
  let server = await startTestServer({ dataDir });
  try {
    const created = await server.call("POST", "//api/v1.0/documents/", { body: {} });
    const path = `//api/v1.0/documents/${(created.json as { id: string }).id}/updates/`;
    const acknowledged: string[] = [];
    const reader = new Y.Doc();
    let lastId: string | undefined;
    for (let round = 0; round < ROUNDS; round += 1) {
      const events = await openStream(server, path, lastId);
      const receiving = receive(events, reader);
      const until = (round + 1) * KILLED_AFTER;
      const { promise: enough, resolve } = Promise.withResolvers<void>();
      const writing = Array.from({ length: WRITERS }, async (_, writer) => {
        for (let edit = 0; ; edit += 1) {
          const name = `${round}.${writer}.${edit}`;
          const response = await server
            .call("POST", path, { body: { updates: [updateOf(name)] } })
            .catch(() => undefined);
          if (response === undefined) return;
          expect(response.status).toBe(200);
          acknowledged.push(name);
          if (acknowledged.length >= until) resolve();
        }
      });
      await enough;
      await server.kill();
      await Promise.all(writing);
      await receiving;
      lastId = events.lastId;
      server = await startTestServer({ dataDir });
      const { json } = await server.call("GET", path);
      const stored = new Y.Doc();
      apply(stored, (json as { updates: string[] }).updates);
      expect(acknowledged.filter((name) => !stored.getMap("names").has(name))).toEqual([]);
    }
    const events = await openStream(server, path, lastId);
    const receiving = receive(events, reader);
    await server.call("POST", path, { body: { updates: [updateOf("last")] } });
    await expect.poll(() => reader.getMap("names").has("last")).toBe(true);
    expect(acknowledged.filter((name) => !reader.getMap("names").has(name))).toEqual([]);
    await events.close();
    await receiving;
  } finally {
    await server[Symbol.asyncDispose]();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
  }
});

it("a server that stops ends its streams and does not wait for them", async () => {
  await using server = await startTestServer();
  const created = await server.call("POST", "//api/v1.0/documents/", { body: {} });
  const path = `//api/v1.0/documents/${(created.json as { id: string }).id}/updates/`;
  const events = await openStream(server, path, undefined);
  await events.until("sync");
  // It may arrive too late.
  const poll = server.call("GET", `${path}?generation=0&position=0&wait=25`).catch(() => undefined);
  const startedAt = performance.now();
  expect(await server.stop()).toBe(0);
  // Requests in progress have ten seconds.
  expect(performance.now() - startedAt).toBeLessThan(9_000);
  await events.end();
  await poll;
});

function updateOf(name: string): string {
  const doc = new Y.Doc();
  doc.getMap("names").set(name, true);
  return Buffer.from(Y.encodeStateAsUpdate(doc)).toString("base64");
}

function apply(doc: Y.Doc, updates: readonly string[]): void {
  for (const update of updates) Y.applyUpdate(doc, new Uint8Array(Buffer.from(update, "base64")));
}

const openStream = (server: TestServer, path: string, lastId: string | undefined) =>
  TestEventStream.open(`${server.url}${path.slice(1)}`, {
    authorization: `Bearer ${server.token}`,
    ...(lastId === undefined ? {} : { "last-event-id": lastId }),
  });

/** Applies the updates of a stream until its connection breaks. */
async function receive(events: TestEventStream, doc: Y.Doc): Promise<void> {
  try {
    for (let event = await events.next(); event !== undefined; event = await events.next())
      if (event.data.updates !== undefined) apply(doc, event.data.updates);
  } catch {
    // The server was killed.
  }
}
