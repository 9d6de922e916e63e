import { HocuspocusProvider, HocuspocusProviderWebsocket } from "@hocuspocus/provider";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import WebSocket from "ws";
import { Awareness, applyAwarenessUpdate, encodeAwarenessUpdate } from "y-protocols/awareness";
import { Doc } from "yjs";
import { checkCollaborationApi } from "../lib/documents/connections/live-connections.ts";
import { createToken } from "../lib/documents/users/tokens.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "../lib/testing/test-deps.ts";
import { createUser, grantRole, type TestUser } from "../lib/testing/test-documents.ts";
import { TestEventStream } from "../lib/testing/test-event-stream.ts";
import { type TestGateway, testGateway } from "../lib/testing/test-gateway.ts";
import { signIn } from "../lib/testing/test-sessions.ts";
import { type CollaborationProcess, startCollaboration } from "./collaboration-process.ts";

const KEY = "a-provider-key-for-tests";
const WAIT = { timeout: 20_000 };

let test: TestDeps;
let gateway: TestGateway;
let server: CollaborationProcess;
let root: string;
let room: string;
let ann: TestUser;
const clients: { close(): void }[] = [];
beforeEach(async () => {
  test = await testDeps({ settings: { Y_PROVIDER_API_KEY: KEY } });
  gateway = await testGateway(test);
  server = await startServer();
  root = (await gateway.request("POST", "/documents/", { body: { title: "Root" } })).body.id;
  room = (await gateway.request("POST", `/documents/${root}/children/`, { body: {} })).body.id;
  ann = await createUser(test.deps, "ann");
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await server.close();
  await gateway.close();
  await test.close();
});

const startServer = (environment: Readonly<Record<string, string>> = {}): Promise<CollaborationProcess> =>
  startCollaboration({
    environment: {
      COLLABORATION_BACKEND_BASE_URL: gateway.url,
      Y_PROVIDER_API_KEY: KEY,
      HOST: "127.0.0.1",
      PORT: "0",
      ...environment,
    },
    writeLog: () => {},
  });

/** The stock provider with a token, or with the headers of a browser. */
function connect(token: string | null, headers: Readonly<Record<string, string>> = {}) {
  class SocketWithHeaders extends WebSocket {
    constructor(url: string) {
      super(url, { headers });
      // A socket that is closed while it connects has an error.
      this.on("error", () => {});
    }
  }
  const websocketProvider = new HocuspocusProviderWebsocket({
    url: `ws://127.0.0.1:${server.port}/collaboration/ws/?room=${room}`,
    preserveTrailingSlash: true,
    WebSocketPolyfill: SocketWithHeaders,
    delay: 50,
    minDelay: 50,
    jitter: false,
  });
  const closes: number[] = [];
  const provider = new HocuspocusProvider({
    websocketProvider,
    name: room,
    document: new Doc(),
    token,
    onClose: ({ event }) => void closes.push(event.code),
  });
  provider.attach();
  const client = {
    provider,
    closes,
    synced: () => expect.poll(() => provider.isSynced, WAIT).toBe(true),
    close: () => {
      provider.destroy();
      websocketProvider.destroy();
    },
  };
  clients.push(client);
  return client;
}

const browserOf = async (user: string) => {
  const { headers, ...browser } = await signIn(test.deps, user);
  const unsafeHeaders = { ...browser.unsafeHeaders, origin: gateway.url };
  return { unsafeHeaders, socket: () => connect(null, { ...headers, origin: gateway.url }) };
};
const makePublic = () =>
  gateway.request("PUT", `/documents/${root}/link-configuration/`, {
    body: { link_reach: "public", link_role: "editor" },
  });

it("applies a change of a role on an ancestor, of a link, and a deletion, and disconnects nobody else", async () => {
  await grantRole(test.deps, root, ann.id, "editor");
  const [owner, editor] = [connect(TEST_TOKEN), connect(ann.token)];
  await Promise.all([owner.synced(), editor.synced()]);
  const { body: accesses } = await gateway.request("GET", `/documents/${root}/accesses/`);
  const access = accesses.find((one: { user: { id: string } | null }) => one.user?.id === ann.id);
  const path = `/documents/${root}/accesses/${access.id}/`;
  await gateway.request("PATCH", path, { body: { role: "reader" } });
  await expect.poll(() => editor.provider.authorizedScope, WAIT).toBe("readonly");
  await makePublic();
  await expect.poll(() => editor.provider.authorizedScope, WAIT).toBe("read-write");
  await gateway.request("PUT", `/documents/${root}/link-configuration/`, {
    body: { link_reach: "restricted" },
  });
  await expect.poll(() => editor.provider.authorizedScope, WAIT).toBe("readonly");
  await gateway.request("DELETE", path);
  await expect.poll(() => editor.closes[0], WAIT).toBe(4403);
  expect(owner.closes).toEqual([]);
  await gateway.request("DELETE", `/documents/${root}/`);
  await expect.poll(() => owner.provider.authorizedScope, WAIT).toBe("readonly");
});

it("applies a move of an ancestor to another parent", async () => {
  await grantRole(test.deps, root, ann.id, "editor");
  const target = (await gateway.request("POST", "/documents/", { body: { title: "Target" } })).body.id;
  const folder = (await gateway.request("POST", `/documents/${root}/children/`, { body: {} })).body.id;
  await gateway.request("POST", `/documents/${room}/move/`, {
    body: { target_document_id: folder, position: "first-child" },
  });
  const editor = connect(ann.token);
  await editor.synced();
  const moved = await gateway.request("POST", `/documents/${folder}/move/`, {
    body: { target_document_id: target, position: "first-child" },
  });
  expect(moved.status).toBe(200);
  await expect.poll(() => editor.closes[0], WAIT).toBe(4403);
});

it("disconnects a user whose token is revoked", async () => {
  await makePublic();
  const { token, record } = await createToken(test.deps, { email: "ann@example.com" });
  const [owner, revoked] = [connect(TEST_TOKEN), connect(token)];
  await Promise.all([owner.synced(), revoked.synced()]);
  expect((await gateway.request("DELETE", `/access-tokens/${record.id}/`)).status).toBe(204);
  await expect.poll(() => revoked.closes[0], WAIT).toBe(4403);
  expect(owner.closes).toEqual([]);
});

it("disconnects a browser that logs out, or whose session is ended, though others may read anonymously", async () => {
  await makePublic();
  const [one, other, third] = [await browserOf(ann.id), await browserOf(ann.id), await browserOf(ann.id)];
  const [leaving, staying] = [one.socket(), other.socket()];
  await Promise.all([leaving.synced(), staying.synced()]);
  const out = await gateway.request("POST", "/logout/", { token: null, headers: one.unsafeHeaders });
  expect(out.status).toBeLessThan(400);
  await expect.poll(() => leaving.closes[0], WAIT).toBe(4403);
  expect(staying.closes).toEqual([]);
  const headers = third.unsafeHeaders;
  const ended = await gateway.request("DELETE", "/users/me/sessions/", { token: null, headers });
  expect(ended.status).toBeLessThan(400);
  await expect.poll(() => staying.closes[0], WAIT).toBe(4403);
});

it("disconnects a browser whose session expires", async () => {
  await makePublic();
  const browser = await browserOf(ann.id);
  const [owner, expired] = [connect(TEST_TOKEN), browser.socket()];
  await Promise.all([owner.synced(), expired.synced()]);
  test.clock.advance(test.deps.documents.sessions.maxMs + 1);
  await expect.poll(() => expired.closes[0], WAIT).toBe(4403);
  expect(owner.closes).toEqual([]);
});

/** A client of the same document over HTTP. */
const post = (body: unknown, token = TEST_TOKEN) =>
  gateway.request("POST", `/documents/${room}/updates/`, { body, token });

it("passes cursors between its sockets, streams and polls of the document service", async () => {
  await grantRole(test.deps, root, ann.id, "reader");
  const socket = connect(ann.token);
  await socket.synced();
  const events = await TestEventStream.open(`${gateway.url}/api/v1.0/documents/${room}/updates/`, {
    authorization: `Bearer ${TEST_TOKEN}`,
  });
  clients.push({ close: () => void events.close() });
  await events.until("sync");
  socket.provider.setAwarenessField("user", { name: "Somebody else" });
  const seen = new Awareness(new Doc());
  const client = socket.provider.document.clientID;
  const user = { name: "ann", color: expect.stringMatching(/^#/) as string };
  const { update } = (await events.until("awareness")).data;
  applyAwarenessUpdate(seen, Buffer.from(update, "base64"), "test");
  expect(seen.getStates().get(client)).toEqual({ user });
  const query = "generation=0&position=0&wait=20&awareness_tag=";
  const poll = await gateway.request("GET", `/documents/${room}/updates/?${query}`);
  applyAwarenessUpdate(seen, Buffer.from(poll.body.awareness, "base64"), "test");
  expect(seen.getStates().get(client)).toEqual({ user });
  // And from HTTP to the socket.
  const own = new Awareness(new Doc());
  own.setLocalState({ cursor: 1 });
  const awareness = Buffer.from(encodeAwarenessUpdate(own, [own.clientID])).toString("base64");
  expect((await post({ awareness })).status).toBe(200);
  const states = () => socket.provider.awareness?.getStates();
  await expect.poll(() => states()?.get(own.clientID), WAIT).toEqual({ cursor: 1 });
  socket.close();
  for (let event = await events.until("awareness"); seen.getStates().has(client); ) {
    applyAwarenessUpdate(seen, Buffer.from(event.data.update, "base64"), "test");
    if (seen.getStates().has(client)) event = await events.until("awareness");
  }
  seen.destroy();
  own.destroy();
});

describe("the readiness check of the document service", () => {
  const apiUrl = () => `http://127.0.0.1:${server.port}/collaboration/api/`;
  const check = (secret: string, url = apiUrl()) => checkCollaborationApi({ apiUrl: url, secret });

  it("finds nothing wrong with a server that has the same keys", async () => {
    expect(await check(KEY)).toBeUndefined();
  });

  it("says what to do about another secret, a wrong URL, and a server that does not respond", async () => {
    expect(await check("another")).toContain("set the same secret");
    expect(await check(KEY, `${apiUrl()}wrong/`)).toContain("COLLABORATION_API_URL responds with");
    const before = apiUrl();
    await server.close();
    expect(await check(KEY, before)).toContain("does not respond");
  });

  it("says that the collaboration server has another key, or does not reach the document service", async () => {
    for (const [environment, advice] of [
      [{ Y_PROVIDER_API_KEY: "another" }, "set the same Y_PROVIDER_API_KEY"],
      [{ COLLABORATION_BACKEND_BASE_URL: "http://127.0.0.1:1" }, "COLLABORATION_BACKEND_BASE_URL"],
    ] as const) {
      const other = await startServer({ COLLABORATION_SERVER_SECRET: "shared", ...environment });
      const url = `http://127.0.0.1:${other.port}/collaboration/api/`;
      expect(await check("shared", url)).toContain(advice);
      await other.close();
    }
  });

  it("stays ready without the collaboration server, and says so", async () => {
    const readiness = async () => {
      const settings = { COLLABORATION_API_URL: apiUrl(), COLLABORATION_SERVER_SECRET: KEY };
      const service = await testDeps({ settings });
      const other = await testGateway(service);
      try {
        const response = await fetch(`${other.url}/health/ready`);
        return [response.status, ((await response.json()) as { collaboration: unknown }).collaboration];
      } finally {
        await other.close();
        await service.close();
      }
    };
    expect(await readiness()).toEqual([200, { status: "ok" }]);
    await server.close();
    const advice = expect.stringContaining("npx weft collaboration");
    expect(await readiness()).toEqual([200, { status: "unavailable", advice }]);
  });
});
