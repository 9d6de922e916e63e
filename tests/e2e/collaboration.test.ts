import { HocuspocusProvider, HocuspocusProviderWebsocket } from "@hocuspocus/provider";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import WebSocket from "ws";
import { Doc } from "yjs";
import { startTestServer, type TestServer } from "../../lib/testing/test-server.ts";

const PATIENCE = { timeout: 20_000 };
const PROVIDER_KEY = "a-provider-key-for-tests";

let weft: TestServer;
beforeAll(async () => {
  weft = await startTestServer({ env: { Y_PROVIDER_API_KEY: PROVIDER_KEY } });
});
afterAll(() => weft?.[Symbol.asyncDispose]());

const opened: { close(): void }[] = [];
afterEach(() => {
  for (const client of opened.splice(0)) client.close();
});

const api = async <Body>(method: string, path: string, body?: unknown, token: string | null = weft.token) => {
  const { status, json } = await weft.call(method, `//api/v1.0/${path}`, {
    token,
    ...(body === undefined ? {} : { body, headers: { "content-type": "application/json" } }),
  });
  return { status, json: json as Body };
};

async function newDocument(): Promise<string> {
  return (await api<{ id: string }>("POST", "documents/", { title: "Live" })).json.id;
}

interface Ticket {
  readonly ticket: string;
  readonly generation: number;
}

async function ticketFor(room: string, token: string | null = weft.token): Promise<string> {
  const { json } = await api<Ticket>("POST", `documents/${room}/collaboration-ticket/`, undefined, token);
  return `${json.generation}:${json.ticket}`;
}

/** A user with an access token. */
async function newUser(name: string): Promise<{ readonly id: string; readonly token: string }> {
  const { json } = await api<{ token: string; data: { user: string } }>("POST", "access-tokens/", {
    email: `${name}@example.org`,
    name,
  });
  return { id: json.data.user, token: json.token };
}

function connect(room: string, token: string | (() => Promise<string>) | null, headers = {}) {
  class SocketWithHeaders extends WebSocket {
    constructor(url: string) {
      super(url, { headers });
      // A socket that is closed while it connects has an error.
      this.on("error", () => {});
    }
  }
  const url = `${weft.url.replace("http", "ws")}/collaboration/ws/?room=${room}`;
  const websocketProvider = new HocuspocusProviderWebsocket({
    url,
    preserveTrailingSlash: true,
    WebSocketPolyfill: SocketWithHeaders,
    delay: 50,
    minDelay: 50,
    jitter: false,
  });
  const document = new Doc();
  const reasons: string[] = [];
  const closes: string[] = [];
  const provider = new HocuspocusProvider({
    websocketProvider,
    name: room,
    document,
    token,
    onAuthenticationFailed: ({ reason }) => void reasons.push(reason),
    onClose: ({ event }) => void closes.push(`${event.code} ${event.reason}`),
  });
  provider.attach();
  const text = document.getText("text");
  const client = {
    provider,
    reasons,
    closes,
    write: (added: string) => text.insert(text.length, added),
    text: () => text.toString(),
    saved: () => expect.poll(() => provider.isSynced && provider.unsyncedChanges === 0).toBe(true),
    close: () => {
      provider.destroy();
      websocketProvider.destroy();
    },
  };
  opened.push(client);
  return client;
}

test("two clients edit a document over npm start, one with a ticket and one with an access token", async () => {
  const room = await newDocument();
  const ann = connect(room, () => ticketFor(room));
  const bob = connect(room, weft.token);
  await Promise.all([ann.saved(), bob.saved()]);
  ann.write("one ");
  await expect.poll(() => bob.text()).toBe("one ");
  bob.write("two");
  await expect.poll(() => ann.text()).toBe("one two");
  await Promise.all([ann.saved(), bob.saved()]);
  const ready = await weft.call("GET", "//health/ready", { token: null });
  expect(ready.json).toMatchObject({ status: "ready", collaboration: { rooms: 1, connections: 2 } });
  ann.close();
  bob.close();
  const later = connect(room, weft.token);
  await expect.poll(() => later.text()).toBe("one two");
});

test("what was acknowledged is there after kill -9", async () => {
  const dataDir = weft.dataDir;
  const room = await newDocument();
  const ann = connect(room, weft.token);
  for (let count = 0; count < 100; count += 1) ann.write(`${count} `);
  await ann.saved();
  ann.close();
  await weft.kill();
  weft = await startTestServer({ dataDir, env: { Y_PROVIDER_API_KEY: PROVIDER_KEY } });
  const later = connect(room, weft.token);
  await expect.poll(() => later.text()).toBe(ann.text());
});

test("a ticket is valid once and for its document", async () => {
  const [room, other] = [await newDocument(), await newDocument()];
  const ticket = await ticketFor(room);
  const foreign = connect(other, ticket);
  await expect.poll(() => foreign.reasons).toEqual(["permission-denied"]);
  await connect(room, ticket).saved();
  const replayed = connect(room, ticket);
  await expect.poll(() => replayed.reasons).toEqual(["permission-denied"]);
  expect((await api("POST", `documents/${room}/collaboration-ticket/`, undefined, null)).status).toBe(401);
});

test("only the collaboration server may redeem tickets", async () => {
  const room = await newDocument();
  const ticket = (await ticketFor(room)).replace(/^\d+:/, "");
  const redeem = (token: string | null) =>
    api("POST", "collaboration/tickets/redeem/", { document: room, ticket }, token);
  expect([(await redeem(null)).status, (await redeem(weft.token)).status]).toEqual([401, 403]);
  expect(await redeem(PROVIDER_KEY)).toMatchObject({
    status: 200,
    json: { abilities: { retrieve: true, update: true } },
  });
  expect((await redeem(PROVIDER_KEY)).status).toBe(404);
});

test("a public link lets anonymous users write, and a change of it reaches them", async () => {
  const root = await newDocument();
  const room = (await api<{ id: string }>("POST", `documents/${root}/children/`, { title: "Child" })).json.id;
  const link = (body: object) => api("PUT", `documents/${root}/link-configuration/`, body);
  await link({ link_reach: "public", link_role: "editor" });
  const owner = connect(room, weft.token);
  const guest = connect(room, () => ticketFor(room, null));
  await Promise.all([owner.saved(), guest.saved()]);
  guest.write("by a guest");
  await guest.saved();
  expect((await link({ link_reach: "public", link_role: "reader" })).status).toBe(200);
  await expect.poll(() => guest.provider.authorizedScope, PATIENCE).toBe("readonly");
  guest.write("refused");
  owner.write(" and the owner");
  await owner.saved();
  expect(guest.closes).toEqual([]);
  await link({ link_reach: "restricted" });
  await expect.poll(() => guest.closes, PATIENCE).toEqual(["4403 Access lost"]);
  expect([owner.closes, owner.provider.unsyncedChanges]).toEqual([[], 0]);
  const later = connect(room, weft.token);
  await expect.poll(() => later.text()).toBe("by a guest and the owner");
});

test("a change of a role, and the deletion of an ancestor, reach the user's connections", async () => {
  const root = await newDocument();
  const room = (await api<{ id: string }>("POST", `documents/${root}/children/`, { title: "Child" })).json.id;
  const cleo = await newUser("cleo");
  const access = await api<{ id: string }>("POST", `documents/${root}/accesses/`, {
    user_id: cleo.id,
    role: "editor",
  });
  expect(access.status).toBe(201);
  const editor = connect(room, () => ticketFor(room, cleo.token));
  const owner = connect(room, weft.token);
  await Promise.all([editor.saved(), owner.saved()]);
  await api("PATCH", `documents/${root}/accesses/${access.json.id}/`, { role: "reader" });
  await expect.poll(() => editor.provider.authorizedScope).toBe("readonly");
  await api("PATCH", `documents/${root}/accesses/${access.json.id}/`, { role: "editor" });
  await expect.poll(() => editor.provider.authorizedScope).toBe("read-write");
  editor.write("again");
  await editor.saved();
  await expect.poll(() => owner.text()).toBe("again");
  await api("DELETE", `documents/${root}/`);
  await expect.poll(() => editor.closes[0]).toBe("4403 Access lost");
  await expect.poll(() => owner.provider.authorizedScope).toBe("readonly");
});

test("wrong keys of the API are limited", async () => {
  const limited = await startTestServer({
    env: { Y_PROVIDER_API_KEY: PROVIDER_KEY, FAILED_AUTHENTICATION_THROTTLE_RATE: "3/minute" },
  });
  try {
    const ask = async (authorization: string): Promise<number> => {
      const path = "//collaboration/api/reset-connections/?room=x";
      return (await limited.call("POST", path, { token: null, headers: { authorization } })).status;
    };
    const statuses: number[] = [];
    for (let guess = 0; guess < 5; guess += 1) statuses.push(await ask(`guess ${guess}`));
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
    expect(await ask(PROVIDER_KEY)).toBe(200);
  } finally {
    await limited[Symbol.asyncDispose]();
  }
});

test("the API of the reference's backend counts and resets connections", async () => {
  const room = await newDocument();
  const ann = connect(room, weft.token, { cookie: "docs_sessionid=abc" });
  await ann.saved();
  const call = (method: string, path: string, headers: Record<string, string>) =>
    weft.call(method, `//collaboration/api/${path}`, { token: null, headers });
  const key = { authorization: PROVIDER_KEY };
  const counted = await call("GET", `get-connections/?room=${room}&sessionKey=abc`, key);
  expect(counted).toMatchObject({ status: 200, json: { count: 1, exists: true } });
  const reset = await call("POST", `reset-connections/?room=${room}`, {
    authorization: `Bearer ${PROVIDER_KEY}`,
  });
  expect(reset).toMatchObject({ status: 200, json: { message: "Connections reset" } });
  await expect.poll(() => ann.closes).toEqual(["4205 Reset Connection"]);
  ann.write("after the reset");
  await ann.saved();
  expect(await call("GET", `get-connections/?room=${room}&sessionKey=abc`, {})).toMatchObject({
    status: 401,
  });
  expect(await call("GET", "other/", key)).toMatchObject({ status: 403, json: { error: "Forbidden" } });
});
