import type { ChildProcess } from "node:child_process";
import { HocuspocusProvider, HocuspocusProviderWebsocket } from "@hocuspocus/provider";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import WebSocket from "ws";
import { Doc, encodeStateAsUpdate } from "yjs";
import { closed } from "../../lib/collaboration/test-collaboration.ts";
import { authMessage } from "../../lib/collaboration/test-raw-client.ts";
import { startTestServer, type TestServer } from "../../lib/testing/test-server.ts";
import { type CollaborationChild, readyUrl, spawnCollaboration } from "./collaboration-child.ts";

const KEY = "a-provider-key-for-tests";

/** A process of `weft collaboration`. */
interface Process extends CollaborationChild {
  readonly url: string;
}

const children: ChildProcess[] = [];

function spawnChild(env: Readonly<Record<string, string>>): CollaborationChild {
  const spawned = spawnCollaboration(env);
  children.push(spawned.child);
  return spawned;
}

async function startProcess(port = "0"): Promise<Process> {
  const spawned = spawnChild({
    PORT: port,
    COLLABORATION_BACKEND_BASE_URL: weft.url,
    Y_PROVIDER_API_KEY: KEY,
    COLLABORATION_SERVER_ORIGIN: "http://docs.example,http://notes.example",
  });
  return { ...spawned, url: await readyUrl(spawned) };
}

let weft: TestServer;
let server: Process;
beforeAll(async () => {
  weft = await startTestServer({ env: { Y_PROVIDER_API_KEY: KEY } });
  server = await startProcess();
}, 90_000);
afterAll(async () => {
  for (const child of children) child.kill("SIGKILL");
  await weft?.[Symbol.asyncDispose]();
});

const clients: { close(): void }[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
});

const api = async <Body>(method: string, path: string, body?: unknown) => {
  const options = body === undefined ? {} : { body, headers: { "content-type": "application/json" } };
  const { status, json } = await weft.call(method, `//api/v1.0/${path}`, options);
  return { status, json: json as Body };
};
const newDocument = async (): Promise<string> =>
  (await api<{ id: string }>("POST", "documents/", { title: "Live" })).json.id;
const ticketFor = async (room: string): Promise<string> => {
  const { json } = await api<{ ticket: string; generation: number }>(
    "POST",
    `documents/${room}/collaboration-ticket/`,
  );
  return `${json.generation}:${json.ticket}`;
};

function connect(room: string, token: string | (() => Promise<string>)) {
  const websocketProvider = new HocuspocusProviderWebsocket({
    url: `${server.url.replace("http", "ws")}/collaboration/ws/?room=${room}`,
    preserveTrailingSlash: true,
    WebSocketPolyfill: WebSocket,
    delay: 50,
    minDelay: 50,
    maxDelay: 200,
    jitter: false,
  });
  const document = new Doc();
  const provider = new HocuspocusProvider({ websocketProvider, name: room, document, token });
  provider.attach();
  const text = document.getText("text");
  const client = {
    write: (added: string) => text.insert(text.length, added),
    text: () => text.toString(),
    saved: () =>
      expect.poll(() => provider.isSynced && provider.unsyncedChanges === 0, { timeout: 10_000 }).toBe(true),
    close: () => {
      provider.destroy();
      websocketProvider.destroy();
    },
  };
  clients.push(client);
  return client;
}

test("two clients edit a document of another process, which has what they saved", async () => {
  const room = await newDocument();
  const ann = connect(room, () => ticketFor(room));
  const bob = connect(room, weft.token);
  await Promise.all([ann.saved(), bob.saved()]);
  for (let count = 0; count < 50; count += 1) ann.write(`${count} `);
  await expect.poll(() => bob.text()).toBe(ann.text());
  bob.write("end");
  await expect.poll(() => ann.text()).toMatch(/ end$/);
  await Promise.all([ann.saved(), bob.saved()]);
  const { json } = await api<{ updates: string[] }>("GET", `documents/${room}/updates/`);
  const stored = new Doc();
  const { applyUpdate } = await import("yjs");
  for (const update of json.updates) applyUpdate(stored, Buffer.from(update, "base64"));
  expect(stored.getText("text").toString()).toBe(ann.text());
});

test("updates that others send over HTTP reach open connections", async () => {
  const room = await newDocument();
  const ann = connect(room, weft.token);
  await ann.saved();
  const other = new Doc();
  other.getText("text").insert(0, "by HTTP");
  const update = Buffer.from(encodeStateAsUpdate(other)).toString("base64");
  expect((await api("POST", `documents/${room}/updates/`, { updates: [update] })).status).toBe(200);
  await expect.poll(() => ann.text()).toBe("by HTTP");
});

test("what was acknowledged outlives a kill -9 of the process, whose clients connect again", async () => {
  const room = await newDocument();
  const ann = connect(room, weft.token);
  ann.write("before ");
  await ann.saved();
  server.child.kill("SIGKILL");
  await server.ended;
  ann.write("meanwhile ");
  server = await startProcess(new URL(server.url).port);
  await ann.saved();
  const bob = connect(room, weft.token);
  await expect.poll(() => bob.text()).toBe("before meanwhile ");
}, 60_000);

test("only the collaboration server may use its endpoints", async () => {
  const room = await newDocument();
  for (const method of ["GET", "POST"] as const) {
    const path = `collaboration/documents/${room}/updates/`;
    expect((await api(method, path, method === "POST" ? { updates: ["AAA="] } : undefined)).status).toBe(403);
  }
});

test.each([
  ["http://docs.example", "No cookies"],
  ["http://notes.example", "No cookies"],
  ["http://evil.example", "Origin not allowed"],
])("a page of %s is refused with the reason %j", async (origin, reason) => {
  const room = crypto.randomUUID();
  const socket = new WebSocket(`${server.url.replace("http", "ws")}/collaboration/ws/?room=${room}`, {
    headers: { origin },
  });
  clients.push({ close: () => socket.terminate() });
  socket.on("open", () => socket.send(authMessage(room)));
  expect(await closed(socket)).toEqual({ code: 4001, reason });
});

test("it responds to ping, and refuses other requests", async () => {
  const ping = await fetch(`${server.url}/ping`);
  expect([ping.status, await ping.json()]).toEqual([200, { message: "pong" }]);
  for (const path of ["/", "/anything", "/collaboration/api/anything/"])
    for (const method of ["GET", "POST"]) {
      const other = await fetch(`${server.url}${path}`, { method });
      expect([other.status, await other.json()]).toEqual([403, { error: "Forbidden" }]);
    }
  const reset = await fetch(`${server.url}/collaboration/api/reset-connections/?room=x`, { method: "POST" });
  expect(reset.status).toBe(401);
});

test.each([
  ["", /^.*COLLABORATION_BACKEND_BASE_URL: set the URL of the document service/],
  ["not a URL", /^.*COLLABORATION_BACKEND_BASE_URL: must be a URL/],
])("it does not start with the backend %j", async (backend, said) => {
  const { output, ended } = spawnChild({
    COLLABORATION_BACKEND_BASE_URL: backend,
    Y_PROVIDER_API_KEY: KEY,
  });
  expect(await ended).toBe(1);
  expect(output.errors).toMatch(said);
  expect(output.errors.trim().split("\n")).toHaveLength(1);
});

test("it ends with 0 after SIGTERM", async () => {
  const { child, ended } = await startProcess();
  child.kill("SIGTERM");
  expect(await ended).toBe(0);
});
