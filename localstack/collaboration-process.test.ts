import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { HocuspocusProvider, HocuspocusProviderWebsocket } from "@hocuspocus/provider";
import { afterEach, beforeEach, expect, it } from "vitest";
import WebSocket from "ws";
import { Doc } from "yjs";
import { FORWARDED_HEADER, signForwarded } from "../lib/collaboration/forwarding.ts";
import { createDocument } from "../lib/documents/records/create.ts";
import { NODES, nodeKey, nodesTable, roomKey, roomsTable } from "../lib/documents/tables/room-leases.ts";
import { getOrCreateOwner } from "../lib/documents/users/users.ts";
import { TEST_TOKEN, type TestDeps, testDeps } from "../lib/testing/test-deps.ts";
import { type TestGateway, testGateway } from "../lib/testing/test-gateway.ts";
import { type CollaborationProcess, startCollaboration } from "./collaboration-process.ts";

const KEY = "a-provider-key-for-tests";
const PATIENCE = { timeout: 20_000 };

let test: TestDeps;
let gateway: TestGateway;
let room: string;
let first: CollaborationProcess;
let second: CollaborationProcess;
const clients: { close(): void }[] = [];

beforeEach(async () => {
  test = await testDeps({ settings: { Y_PROVIDER_API_KEY: KEY } });
  gateway = await testGateway(test);
  const owner = await getOrCreateOwner(test.deps, "owner@weft.local");
  room = (await createDocument(test.deps, owner, { title: "Notes" })).document.id;
  [first, second] = await Promise.all([start(), start()]);
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await Promise.all([first.close(), second.close()]);
  await gateway.close();
  await test.close();
});

const start = (): Promise<CollaborationProcess> =>
  startCollaboration({
    environment: {
      PORT: "0",
      HOST: "127.0.0.1",
      COLLABORATION_BACKEND_BASE_URL: gateway.url,
      Y_PROVIDER_API_KEY: KEY,
      COLLABORATION_TRUSTED_PROXIES: "1",
    },
    writeLog: () => {},
  });

const urlOf = ({ port }: CollaborationProcess): string =>
  `ws://127.0.0.1:${port}/collaboration/ws/?room=${room}`;

/** The stock provider. It connects again to the next process, as behind a load balancer. */
function connect(processes: readonly CollaborationProcess[], name: string) {
  let connections = 0;
  class BalancedSocket extends WebSocket {
    constructor() {
      super(urlOf(processes[connections % processes.length] as CollaborationProcess));
      // A socket that is closed while it connects has an error.
      this.on("error", () => {});
      connections += 1;
    }
  }
  const websocketProvider = new HocuspocusProviderWebsocket({
    url: urlOf(first),
    preserveTrailingSlash: true,
    WebSocketPolyfill: BalancedSocket,
    delay: 50,
    minDelay: 50,
    maxDelay: 200,
    jitter: false,
  });
  const document = new Doc();
  const provider = new HocuspocusProvider({ websocketProvider, name: room, document, token: TEST_TOKEN });
  provider.attach();
  provider.setAwarenessField("cursor", name);
  const text = document.getText("text");
  const client = {
    write: (added: string) => text.insert(text.length, added),
    text: () => text.toString(),
    saved: () => expect.poll(() => provider.isSynced && provider.unsyncedChanges === 0, PATIENCE).toBe(true),
    cursors: () => [...(provider.awareness?.getStates().values() ?? [])].map(({ cursor }) => cursor),
    close: () => {
      provider.destroy();
      websocketProvider.destroy();
    },
  };
  clients.push(client);
  return client;
}

const api = async (process: CollaborationProcess, path: string, method = "GET") => {
  const response = await fetch(`http://127.0.0.1:${process.port}/collaboration/api/${path}`, {
    method,
    headers: { authorization: KEY },
  });
  return { status: response.status, body: (await response.json()) as unknown };
};

/** Status of a handshake that is refused. */
const refusal = (process: CollaborationProcess, header: string): Promise<number | undefined> =>
  new Promise((resolve) => {
    const socket = new WebSocket(urlOf(process), { headers: { [FORWARDED_HEADER]: header } });
    socket.on("unexpected-response", (_, { statusCode }) => resolve(statusCode));
    socket.on("open", () => {
      socket.terminate();
      resolve(101);
    });
    socket.on("error", () => {});
  });

it("clients of two processes are in one room: they see each other's edits and cursors", async () => {
  const ann = connect([first], "ann");
  await ann.saved();
  const bob = connect([second], "bob");
  await bob.saved();
  ann.write("from ann. ");
  bob.write("from bob. ");
  await Promise.all([ann.saved(), bob.saved()]);
  await expect.poll(() => ann.text() === bob.text() && ann.text().length, PATIENCE).toBe(20);
  for (const { cursors } of [ann, bob])
    await expect.poll(() => cursors().toSorted(), PATIENCE).toEqual(["ann", "bob"]);
  // Every process answers for the room.
  const query = `get-connections/?room=${room}&sessionKey=none`;
  for (const process of [first, second])
    expect(await api(process, query)).toEqual({ status: 200, body: { count: 2, exists: false } });
  expect((await api(second, `reset-connections/?room=${room}`, "POST")).status).toBe(200);
  ann.write("again");
  await Promise.all([ann.saved(), bob.saved()]);
  await expect.poll(() => bob.text(), PATIENCE).toBe(ann.text());
});

it("a process that stops gives its rooms back, and its clients continue at the other one", async () => {
  const ann = connect([first, second], "ann");
  await ann.saved();
  const bob = connect([second], "bob");
  await bob.saved();
  ann.write("before ");
  await first.close();
  ann.write("after ");
  await Promise.all([ann.saved(), bob.saved()]);
  await expect.poll(() => bob.text(), PATIENCE).toBe("before after ");
  expect((await api(second, `get-connections/?room=${room}&sessionKey=none`)).body).toMatchObject({
    count: 2,
  });
});

it("a client waits while the owner of its room does not respond, until the lease has ended", async () => {
  const dead = createServer();
  await new Promise<void>((resolve) => dead.listen(0, "127.0.0.1", resolve));
  const { port } = dead.address() as AddressInfo;
  await new Promise((resolve) => dead.close(resolve));
  const node = crypto.randomUUID();
  const expires_at = new Date(test.clock.now() + 10_000).toISOString();
  await test.deps.tables.write([
    {
      op: "put",
      table: nodesTable,
      item: { ...nodeKey(node), address: `127.0.0.1:${port}`, expires_at, expires: NODES },
    },
    { op: "put", table: roomsTable, item: { ...roomKey(room), node, fence: 1 } },
  ]);
  const socket = new WebSocket(urlOf(second));
  const opened = new Promise<string>((resolve) => socket.on("open", () => resolve("opened")));
  await expect.poll(() => test.deps.tables.get(roomsTable, roomKey(room))).toMatchObject({ node });
  expect(socket.readyState).toBe(WebSocket.CONNECTING);
  test.clock.advance(10_000);
  expect(await opened).toBe("opened");
  socket.terminate();
  const ann = connect([second], "ann");
  ann.write("taken");
  await ann.saved();
});

it("a process that was paused for too long begins again, and the clients of its rooms connect again", async () => {
  const [ann, bob] = [connect([first], "ann"), connect([second], "bob")];
  await Promise.all([ann.saved(), bob.saved()]);
  const { node } = (await test.deps.tables.get(roomsTable, roomKey(room))) ?? {};
  // As if another process had taken one of its rooms meanwhile.
  await test.deps.tables.update(nodesTable, nodeKey(node ?? ""), { set: { ended: true } });
  await expect
    .poll(() => test.deps.tables.get(roomsTable, roomKey(room)), PATIENCE)
    .not.toMatchObject({ node });
  ann.write("from ann. ");
  bob.write("from bob. ");
  await Promise.all([ann.saved(), bob.saved()]);
  await expect.poll(() => ann.text() === bob.text() && ann.text().length, PATIENCE).toBe(20);
});

it("only the signature of a process with the key makes a request a forwarded one", async () => {
  const now = Date.now();
  const forged = signForwarded("another key", { address: "10.0.0.1" }, now);
  const old = signForwarded(KEY, { address: "10.0.0.1" }, now - 120_000);
  const valid = signForwarded(KEY, { address: "10.0.0.1" }, now);
  for (const header of [forged, old, "x", `${valid.split(".")[0]}.`])
    expect(await refusal(first, header)).toBe(403);
  expect(await refusal(first, valid)).toBe(101);
});
