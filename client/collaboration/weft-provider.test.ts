import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Awareness } from "y-protocols/awareness";
import * as Y from "yjs";
import { startTestServer, type TestServer } from "../../lib/testing/test-server.ts";
import { HttpConnection } from "./http-connection.ts";
import { WeftProvider, type WeftProviderOptions } from "./weft-provider.ts";

const MIB = 1024 * 1024;

let dataDir: string;
let server: TestServer;
let id: string;
let clients: Client[];
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "weft-provider-"));
  server = await startTestServer({ dataDir });
  clients = [];
  const created = await server.call("POST", "//api/v1.0/documents/", { body: { title: "Notes" } });
  id = (created.json as { id: string }).id;
});
afterEach(async () => {
  for (const client of clients) client.provider.destroy();
  await server[Symbol.asyncDispose]();
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

/** Addresses stay the same over restarts. */
const restart = async (): Promise<void> => {
  const port = new URL(server.url).port;
  server = await startTestServer({ dataDir, env: { PORT: port } });
};

/** A WebSocket behind a proxy that does not let it through. */
class BlockedSocket extends EventTarget {
  static isBlocked = true;
  readonly readyState = 0;
  constructor() {
    super();
    setTimeout(() => this.dispatchEvent(new Event("error")), 1);
  }
  close(): void {}
}

/** A socket that can be blocked for a while. */
function switchableSocket(): { isBlocked: boolean; readonly open: WebSocket[]; readonly WebSocket: unknown } {
  const state = {
    isBlocked: false,
    open: [] as WebSocket[],
    WebSocket: function open(url: string) {
      if (state.isBlocked) return new BlockedSocket();
      const socket = new WebSocket(url);
      state.open.push(socket);
      return socket;
    },
  };
  return state;
}

class Client {
  readonly doc = new Y.Doc();
  readonly provider: WeftProvider;
  readonly statuses: string[] = [];
  isOffline = false;

  constructor(options: Partial<WeftProviderOptions> = {}) {
    this.provider = new WeftProvider({
      origin: server.url,
      id,
      document: this.doc,
      headers: () => ({ authorization: `Bearer ${server.token}` }),
      fetch: (...call) => (this.isOffline ? Promise.reject(new Error("offline")) : fetch(...call)),
      socketMs: 500,
      probeMs: 200,
      ...options,
    });
    this.provider.on("status", (status) => this.statuses.push(status));
    clients.push(this);
  }

  type(text: string): void {
    this.doc.getText("t").insert(0, text);
  }

  get text(): string {
    return this.doc.getText("t").toString();
  }

  async saved(): Promise<void> {
    await expect.poll(() => this.provider.unsyncedChanges).toBe(0);
  }

  async is(status: string): Promise<void> {
    await expect.poll(() => this.provider.status).toBe(status);
  }
}

const overHttp = (options: Partial<WeftProviderOptions> = {}): Client =>
  new Client({ WebSocket: BlockedSocket, ...options });

const stored = async (): Promise<string> => {
  const { json } = await server.call("GET", `//api/v1.0/documents/${id}/updates/`);
  const doc = new Y.Doc();
  for (const update of (json as { updates: string[] }).updates)
    Y.applyUpdate(doc, new Uint8Array(Buffer.from(update, "base64")));
  return doc.getText("t").toString();
};

describe("a provider", () => {
  it("uses the WebSocket if that works, and HTTP otherwise, and both see each other's edits", async () => {
    const socket = new Client();
    const http = overHttp();
    await socket.is("socket");
    await http.is("http");
    socket.type("a");
    http.type("b");
    await Promise.all([socket.saved(), http.saved()]);
    expect([...(await stored())].toSorted().join("")).toBe("ab");
    await expect.poll(() => socket.text.length + http.text.length).toBe(4);
    expect(socket.text).toBe(http.text);
  });

  it("sends what was typed before it was connected", async () => {
    const [socket, http] = [new Client(), overHttp()];
    socket.type("a");
    http.type("b");
    expect([socket.provider.unsyncedChanges, http.provider.unsyncedChanges]).toEqual([1, 1]);
    await Promise.all([socket.saved(), http.saved()]);
    expect([...(await stored())].toSorted().join("")).toBe("ab");
  });

  it("falls back to HTTP when the socket breaks, and returns to it, without losing an edit", async () => {
    const switched = switchableSocket();
    const client = new Client({ WebSocket: switched.WebSocket });
    await client.is("socket");
    client.type("a");
    await client.saved();
    switched.isBlocked = true;
    for (const socket of switched.open) socket.close();
    client.type("b");
    await client.is("http");
    client.type("c");
    await client.saved();
    expect(await stored()).toBe("cba");
    switched.isBlocked = false;
    client.type("d");
    await client.is("socket");
    client.type("e");
    await client.saved();
    expect(await stored()).toBe("edcba");
    expect(client.statuses.filter((status) => status !== "connecting")).toEqual(["socket", "http", "socket"]);
  });

  it("keeps what was typed while the server was killed, and sends it afterwards", async () => {
    const [socket, http] = [new Client(), overHttp()];
    await Promise.all([socket.is("socket"), http.is("http")]);
    await server.kill();
    await Promise.all([socket.is("offline"), http.is("offline")]);
    socket.type("a");
    http.type("b");
    await restart();
    await Promise.all([socket.saved(), http.saved()]);
    expect([...(await stored())].toSorted().join("")).toBe("ab");
    await expect.poll(() => [socket.text, http.text].map((text) => text.length)).toEqual([2, 2]);
  });

  it("is offline as soon as it is told that the network has changed, and connected as soon as it is back", async () => {
    const client = new Client({ probeMs: 600_000, socketMs: 20_000 });
    await client.is("socket");
    client.isOffline = true;
    client.provider.reconnect();
    await client.is("offline");
    client.type("a");
    client.isOffline = false;
    client.provider.reconnect();
    await client.is("socket");
    await client.saved();
    expect(await stored()).toBe("a");
  });

  it("stays disconnected until it is told to connect again, and then sends what was typed", async () => {
    const [client, other] = [new Client({ probeMs: 1, socketMs: 20_000 }), new Client()];
    await Promise.all([client.is("socket"), other.is("socket")]);
    client.provider.disconnect();
    client.type("a");
    other.type("b");
    await other.saved();
    expect([client.provider.status, client.text, await stored()]).toEqual(["offline", "a", "b"]);
    client.provider.reconnect();
    await client.saved();
    expect((await stored()).length).toBe(2);
  });

  /** Holds event streams back, as some proxies do. */
  const withoutStreams: typeof fetch = (url, init) => {
    if (new Headers(init?.headers).get("accept") !== "text/event-stream") return fetch(url, init);
    const start = (controller: ReadableStreamDefaultController): void =>
      init?.signal?.addEventListener("abort", () => controller.error(new Error("aborted")));
    return Promise.resolve(new Response(new ReadableStream({ start })));
  };

  it("polls if a proxy holds streams back", async () => {
    const [polling, streaming] = [overHttp({ fetch: withoutStreams, streamMs: 200 }), overHttp()];
    polling.type("a");
    await Promise.all([polling.is("http"), streaming.is("http")]);
    streaming.type("b");
    await Promise.all([polling.saved(), streaming.saved()]);
    await expect.poll(() => [polling.text.length, streaming.text.length]).toEqual([2, 2]);
  });

  it.each(["socket", "http"])(
    "says why a change is not saved that is too large for %s, and saves the rest once it is undone",
    async (status) => {
      const client = status === "socket" ? new Client() : overHttp();
      await client.is(status);
      const reasons: unknown[] = [];
      client.provider.on("refused", (reason) => reasons.push(reason));
      client.type("x".repeat(9 * MIB));
      await expect.poll(() => client.provider.refusal).toBe("A change is larger than 8 MiB.");
      client.type("a");
      expect(client.provider.unsyncedChanges).toBeGreaterThan(0);
      expect(await stored()).toBe("");
      client.doc.getText("t").delete(1, 9 * MIB);
      await client.saved();
      expect(await stored()).toBe("a");
      expect(reasons).toEqual(["A change is larger than 8 MiB.", undefined]);
      await client.is(status);
    },
  );

  it("gets no reports from an HTTP connection that is closed, such as that a change is too large", async () => {
    const document = new Y.Doc();
    const reports: string[] = [];
    const synced = Promise.withResolvers<unknown>();
    const report = (name: string) => () => void reports.push(name);
    const connection: HttpConnection = new HttpConnection({
      url: `${server.url}/api/v1.0/documents/${id}/updates/`,
      fetch,
      headers: () => ({ authorization: `Bearer ${server.token}` }),
      document,
      awareness: new Awareness(document),
      generation: undefined,
      isRemote: (origin) => origin === connection,
      hasUnsaved: () => false,
      onConnected: report("connected"),
      onSynced: synced.resolve,
      onSaved: report("saved"),
      onPermissions: report("permissions"),
      onReplaced: report("replaced"),
      onRefused: report("refused"),
    });
    await synced.promise;
    document.getText("t").insert(0, "x".repeat(9 * MIB));
    reports.length = 0;
    connection.close();
    await setImmediate();
    expect(reports).toEqual([]);
  });

  it("sends more than fits into one request", async () => {
    const client = overHttp();
    await client.is("http");
    client.isOffline = true;
    for (const letter of "abc") client.type(letter.repeat(3 * MIB));
    client.isOffline = false;
    await client.saved();
    expect((await stored()).length).toBe(9 * MIB);
  });

  it("says why a change is not saved that makes the document too large", async () => {
    const client = new Client({ probeMs: 60_000, socketMs: 20_000 });
    await client.is("socket");
    for (const letter of "ab") {
      client.type(letter.repeat(7 * MIB));
      await client.saved();
    }
    client.type("x".repeat(7 * MIB));
    await expect.poll(() => client.provider.refusal).toMatch(/20 MiB/);
    client.doc.getText("t").delete(0, 7 * MIB);
    await client.saved();
    expect(client.provider.refusal).toBeUndefined();
    expect((await stored()).length).toBe(14 * MIB);
  });

  it("shows the cursors of others by WebSocket, event stream and polling", async () => {
    const ways = [new Client(), overHttp(), overHttp({ fetch: withoutStreams, streamMs: 200 })];
    await Promise.all([ways[0]?.is("socket"), ways[1]?.is("http"), ways[2]?.is("http")]);
    for (const { provider } of ways)
      provider.awareness.setLocalState({ user: { name: "somebody else" }, cursor: 1 });
    const seenBy = (one: Client) =>
      ways
        .filter((other) => other !== one)
        .map(({ doc }) => one.provider.awareness.getStates().get(doc.clientID));
    const shown = { user: { name: "owner" }, cursor: 1 };
    for (const one of ways) await expect.poll(() => seenBy(one)).toMatchObject([shown, shown]);
    for (const { provider } of ways) provider.awareness.setLocalStateField("cursor", 2);
    for (const one of ways)
      await expect.poll(() => seenBy(one).map((state) => state?.cursor)).toEqual([2, 2]);
    for (const leaving of ways.splice(0, 2)) {
      leaving.provider.destroy();
      for (const { provider } of ways)
        await expect.poll(() => provider.awareness.getStates().has(leaving.doc.clientID)).toBe(false);
    }
  });

  it("shows its cursor again after it has returned to the socket", async () => {
    const switched = switchableSocket();
    switched.isBlocked = true;
    const [client, other] = [new Client({ WebSocket: switched.WebSocket }), new Client()];
    await Promise.all([client.is("http"), other.is("socket")]);
    client.provider.awareness.setLocalState({ cursor: 1 });
    const seen = () => other.provider.awareness.getStates().get(client.doc.clientID)?.cursor;
    await expect.poll(seen).toBe(1);
    switched.isBlocked = false;
    await client.is("socket");
    client.provider.awareness.setLocalStateField("cursor", 2);
    await expect.poll(seen).toBe(2);
  });

  it("is told when its rights change, and when they end", async () => {
    const created = await server.call("PUT", `//api/v1.0/documents/${id}/link-configuration/`, {
      body: { link_reach: "public", link_role: "editor" },
    });
    expect(created.status).toBe(200);
    const client = overHttp({ headers: () => ({}) });
    const seen: unknown[] = [];
    client.provider.on("permissions", (permissions) => seen.push(permissions));
    await client.is("http");
    const link = (body: object) =>
      server.call("PUT", `//api/v1.0/documents/${id}/link-configuration/`, { body });
    await link({ link_reach: "public", link_role: "reader" });
    await expect.poll(() => client.provider.readOnly).toBe(true);
    client.type("kept");
    await link({ link_reach: "public", link_role: "editor" });
    await client.saved();
    expect(await stored()).toBe("kept");
    await link({ link_reach: "restricted" });
    await expect.poll(() => seen.at(-1)).toEqual({ canRead: false, canEdit: false });
    expect(client.provider.status).toBe("offline");
  });

  it("loses no edit whatever happens to its connections", async () => {
    const action = fc.oneof(
      fc.record({ kind: fc.constant("type" as const), client: fc.nat(2) }),
      fc.record({ kind: fc.constant("offline" as const), client: fc.nat(2) }),
      fc.record({ kind: fc.constant("online" as const), client: fc.nat(2) }),
      fc.record({ kind: fc.constant("kill" as const), client: fc.constant(0) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 25 }), async (actions) => {
        const created = await server.call("POST", "//api/v1.0/documents/", { body: {} });
        id = (created.json as { id: string }).id;
        const switched = switchableSocket();
        const own = [overHttp(), overHttp(), new Client({ WebSocket: switched.WebSocket })];
        const typed: string[] = [];
        for (const { kind, client: at } of actions) {
          const client = own[at] ?? own[0];
          if (client === undefined) continue;
          if (kind === "type") {
            const letter = String.fromCodePoint(0x4e00 + typed.length);
            typed.push(letter);
            client.type(letter);
          } else if (kind === "kill") {
            await server.kill();
            await restart();
          } else {
            client.isOffline = kind === "offline";
            if (at !== 2) continue;
            switched.isBlocked = client.isOffline;
            if (client.isOffline) for (const socket of switched.open.splice(0)) socket.close();
          }
        }
        switched.isBlocked = false;
        for (const client of own) client.isOffline = false;
        await Promise.all(own.map((client) => client.saved()));
        const text = await stored();
        expect([...text].toSorted()).toEqual(typed.toSorted());
        await expect.poll(() => own.map((client) => client.text)).toEqual([text, text, text]);
        for (const client of own) client.provider.destroy();
      }),
      { numRuns: 6 },
    );
  }, 300_000);
});
