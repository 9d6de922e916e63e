import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Doc, encodeStateAsUpdate } from "yjs";
import { AwarenessHub } from "../documents/updates/awareness-hub.ts";
import { decodeAwareness, encodeAwareness } from "../documents/updates/awareness-update.ts";
import { ApiError } from "../errors.ts";
import type { BackendResponse } from "./backend.ts";
import { closed, ORIGIN, TestCollaboration } from "./test-collaboration.ts";

let test: TestCollaboration;
let room: string;
beforeEach(async () => {
  test = await TestCollaboration.start();
  test.backend.add("ann");
  test.backend.add("bob");
  test.backend.add("reader", { update: false });
  test.backend.add("stranger", { retrieve: false });
  room = randomUUID();
});
afterEach(() => test.close());

it("brings the edits of one client to the other, and both to the log", async () => {
  const ann = test.connect("ann", { room });
  const bob = test.connect("bob", { room });
  await Promise.all([ann.saved(), bob.saved()]);
  ann.write("from Ann. ");
  await expect.poll(() => bob.text()).toBe("from Ann. ");
  bob.write("From Bob.");
  await expect.poll(() => ann.text()).toBe("from Ann. From Bob.");
  await Promise.all([ann.saved(), bob.saved()]);
  expect(test.storage.text(room)).toBe("from Ann. From Bob.");
  expect(test.storage.entries(room).map(({ author }) => author)).toEqual(["id-ann", "id-bob"]);
});

it("acknowledges and broadcasts an update only after it is in the log", async () => {
  const ann = test.connect("ann", { room });
  const bob = test.connect("bob", { room });
  await Promise.all([ann.saved(), bob.saved()]);
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  test.storage.beforeAppend = () => {
    reach();
    return gate;
  };
  ann.write("x");
  await reached;
  expect([ann.provider.unsyncedChanges, bob.text()]).toEqual([1, ""]);
  open();
  await ann.saved();
  await expect.poll(() => bob.text()).toBe("x");
});

it("loads the room from the log, and unloads it after the last client has left", async () => {
  const ann = test.connect("ann", { room });
  ann.write("kept");
  await ann.saved();
  ann.close();
  await expect.poll(() => test.server.status).toEqual({ rooms: 0, connections: 0 });
  expect(test.storage.opened).toBe(0);
  const bob = test.connect("bob", { room });
  await expect.poll(() => bob.text()).toBe("kept");
  await bob.saved();
});

it("lets all clients of a room that could not be loaded try again", async () => {
  const { promise: gate, resolve: fail } = Promise.withResolvers<void>();
  const open = test.storage.open.bind(test.storage);
  test.storage.open = async () => {
    await gate;
    throw new ApiError("unavailable", "The document service does not respond");
  };
  const clients = ["ann", "bob"].map((name) => test.connect(name, { room }));
  await expect.poll(() => clients.every(({ provider }) => provider.isAuthenticated)).toBe(true);
  test.storage.open = open;
  fail();
  clients[0]?.write("after all");
  await Promise.all(clients.map((client) => client.saved()));
  await expect.poll(() => clients.map((client) => client.text())).toEqual(["after all", "after all"]);
  expect(clients.map(({ reasons }) => reasons)).toEqual([[], []]);
});

it("applies updates of other writers to open rooms, and does not append them again", async () => {
  const ann = test.connect("ann", { room });
  await ann.saved();
  const other = new Doc();
  other.getText("text").insert(0, "by a script");
  test.storage.write(room, encodeStateAsUpdate(other));
  await expect.poll(() => ann.text()).toBe("by a script");
  expect(test.storage.entries(room)).toHaveLength(1);
});

it("appends nothing if a client connects again without new edits", async () => {
  const ann = test.connect("ann", { room });
  ann.write("some text");
  ann.document.getText("text").delete(0, 4);
  await ann.saved();
  const before = test.storage.entries(room).length;
  ann.provider.configuration.websocketProvider.webSocket?.close();
  await expect.poll(() => ann.closes.length).toBe(1);
  await ann.saved();
  expect(test.storage.entries(room)).toHaveLength(before);
});

it("sends edits that were made offline after the next connection", async () => {
  const ann = test.connect("ann", { room });
  await ann.saved();
  ann.provider.configuration.websocketProvider.disconnect();
  await expect.poll(() => ann.closes.length).toBe(1);
  ann.write("offline");
  await ann.provider.configuration.websocketProvider.connect();
  await expect.poll(() => test.storage.text(room)).toBe("offline");
});

it("does not acknowledge edits made before the connection until all of them are in the log", async () => {
  const ann = test.connect("ann", { room });
  for (let count = 0; count < 100; count += 1) ann.write(`${count} `);
  let isAcknowledged = false;
  ann.provider.on("unsyncedChanges", ({ number }: { number: number }) => {
    if (number > 0 || isAcknowledged) return;
    isAcknowledged = true;
    expect(test.storage.text(room)).toBe(ann.text());
  });
  await ann.saved();
  expect(test.storage.entries(room)).toHaveLength(1);
});

it("appends nothing of a reader, who receives the edits of others", async () => {
  const reader = test.connect("reader", { room });
  const ann = test.connect("ann", { room });
  await ann.saved();
  reader.write("refused");
  ann.write("accepted");
  await expect.poll(() => reader.text()).toContain("accepted");
  expect(reader.provider.authorizedScope).toBe("readonly");
  expect(reader.provider.unsyncedChanges).toBeGreaterThan(0);
  expect(test.storage.text(room)).toBe("accepted");
});

it("rejects clients that may not open the document", async () => {
  const stranger = test.connect("stranger", { room });
  const unknown = test.connect("nobody", { room });
  await expect
    .poll(() => [...stranger.reasons, ...unknown.reasons])
    .toEqual(["permission-denied", "permission-denied"]);
  expect(test.server.status.rooms).toBe(0);
});

it.each([
  ["an error", 404, { detail: "Not found." }],
  ["no abilities", 200, {}],
  ["no ability to retrieve", 200, { abilities: { retrieve: false, update: true } }],
  ["an ability that is not true", 200, { abilities: { retrieve: "true", update: true } }],
])("rejects a client for which the document service responds with %s", async (_case, status, body) => {
  const refusing = await TestCollaboration.start({ request: async () => ({ status, body }) });
  try {
    const client = refusing.connect("ann", { room });
    await expect.poll(() => client.reasons).toEqual(["permission-denied"]);
    expect(refusing.server.status.rooms).toBe(0);
  } finally {
    await refusing.close();
  }
});

it.each<[string, () => Promise<BackendResponse>]>([
  ["is refused", async () => ({ status: 401, body: {} })],
  ["fails", async () => ({ status: 500, body: {} })],
  ["does not end", () => Promise.reject(new Error("timeout"))],
])("takes a client for an anonymous one if the lookup of its user %s", async (_case, respond) => {
  const other: TestCollaboration = await TestCollaboration.start({
    request: (request) =>
      request.path === "/api/v1.0/users/me/" ? respond() : other.backend.request(request),
  });
  try {
    other.backend.add("ann");
    const ann = other.connect("ann", { room });
    ann.write("by somebody");
    await ann.saved();
    expect(other.storage.entries(room).map(({ author }) => author)).toEqual([null]);
    expect([...other.server.rooms.connections(room)].map(({ session }) => session.access.user)).toEqual([
      undefined,
    ]);
  } finally {
    await other.close();
  }
});

it("calls the document service with the client's cookie and origin and its own key", async () => {
  await test.connect("ann", { room }).saved();
  expect(test.backend.requests.map(({ method, path, headers }) => [method, path, headers])).toEqual(
    [`/api/v1.0/documents/${room}/`, "/api/v1.0/users/me/"].map((path) => [
      "GET",
      path,
      { cookie: "user=ann", origin: ORIGIN, "x-y-provider-key": "a-key-for-tests" },
    ]),
  );
});

it.each([
  ["another document", randomUUID(), randomUUID()],
  ["a document without a room", "", randomUUID()],
  ["a room that is not a version 4 UUID", "9b2a5f0c-1d8e-11ee-be56-0242ac120002", undefined],
  ["a room that is not a UUID", "not-a-uuid", undefined],
])("rejects %s", async (_case, asked, name) => {
  const client = test.connect("ann", { room: asked, ...(name === undefined ? {} : { name }) });
  await expect.poll(() => client.reasons).toEqual(["Wrong room name: Unauthorized"]);
});

it.each([
  ["another origin", { origin: "http://evil.example", cookie: "user=ann" }, "Origin not allowed"],
  ["no cookie", { origin: ORIGIN }, "No cookies"],
  ["no origin", { cookie: "user=ann" }, "Origin not allowed"],
])("closes a client without a token and with %s", async (_case, headers, reason) => {
  const client = test.connect(undefined, { room, headers });
  await expect.poll(() => client.closes[0]).toEqual({ code: 4001, reason });
});

it("closes sockets that do not authenticate in time", async () => {
  const fast = await TestCollaboration.start({ limits: { authenticationMs: 50 } });
  try {
    expect(await closed(fast.socket(room, { origin: ORIGIN }))).toEqual({ code: 4001, reason: "No cookies" });
    const socket = fast.socket(room, { origin: ORIGIN, cookie: "user=ann" });
    expect(await closed(socket)).toEqual({ code: 4408, reason: "Connection Timeout" });
  } finally {
    await fast.close();
  }
});

it("accepts a ticket once, without cookie and origin, and an access token", async () => {
  test.backend.tickets.set("weft-ticket_1", "ann");
  const ann = test.connect(undefined, { room, headers: {}, token: "1:weft-ticket_1" });
  ann.write("with a ticket");
  await ann.saved();
  const again = test.connect(undefined, { room, headers: {}, token: "1:weft-ticket_1" });
  await expect.poll(() => again.reasons).toEqual(["permission-denied"]);
  await test.connect(undefined, { room, headers: {}, token: "bob" }).saved();
  expect(test.storage.text(room)).toBe("with a ticket");
});

it("rejects a client with content of another generation, and says which is current", async () => {
  test.storage.replace(room);
  const stale = test.connect(undefined, { room, headers: {}, token: "1:ann" });
  await expect.poll(() => stale.reasons).toEqual(["generation:2"]);
  await test.connect(undefined, { room, headers: {}, token: "2:ann" }).saved();
});

it("closes the sockets of a room whose content is replaced; a new client gets the new content", async () => {
  const ann = test.connect(undefined, { room, headers: {}, token: "1:ann" });
  ann.write("old");
  await ann.saved();
  test.storage.replace(room);
  await expect.poll(() => ann.closes[0]).toEqual({ code: 4205, reason: "Document replaced" });
  await expect.poll(() => ann.reasons).toEqual(["generation:2"]);
  const bob = test.connect(undefined, { room, headers: {}, token: "2:bob" });
  await bob.saved();
  expect(bob.text()).toBe("");
});

it("sets names and colors, and lets a client set its own awareness state only", async () => {
  const ann = test.connect("ann", { room });
  const bob = test.connect("bob", { room });
  await Promise.all([ann.saved(), bob.saved()]);
  ann.provider.setAwarenessField("user", { name: "Bob", color: "red" });
  const seen = () => bob.provider.awareness?.getStates().get(ann.document.clientID)?.user;
  await expect.poll(seen).toMatchObject({ name: "ann" });
  expect(seen().color).toMatch(/^#/);
  // Bob claims Ann's state.
  const forged = bob.provider.awareness!;
  forged.states.set(ann.document.clientID, { user: { name: "forged" } });
  forged.meta.set(ann.document.clientID, { clock: 1_000, lastUpdated: 0 });
  forged.emit("update", [{ added: [], updated: [ann.document.clientID], removed: [] }, "local"]);
  ann.write("x");
  await ann.saved();
  await expect.poll(() => bob.text()).toBe("x");
  const watcher = test.connect("bob", { room });
  await expect
    .poll(() => watcher.provider.awareness?.getStates().get(ann.document.clientID)?.user)
    .toMatchObject({ name: "ann" });
});

it("shares one awareness state of each client, also an empty one", async () => {
  const ann = test.connect("ann", { room });
  const bob = test.connect("bob", { room });
  await Promise.all([ann.saved(), bob.saved()]);
  for (let cursor = 0; cursor < 10; cursor += 1) ann.provider.setAwarenessField("cursor", cursor);
  const seen = () => bob.provider.awareness?.getStates();
  await expect.poll(() => seen()?.get(ann.document.clientID)).toEqual({ cursor: 9 });
  expect([...(seen()?.keys() ?? [])].toSorted()).toEqual(
    [ann.document.clientID, bob.document.clientID].toSorted(),
  );
});

it("exchanges awareness with clients that are connected over HTTP", async () => {
  const awarenessHub = new AwarenessHub();
  const other = await TestCollaboration.start({ awarenessHub });
  try {
    other.backend.add("ann");
    const before = encodeAwareness([{ client: 1, clock: 1, state: { cursor: 1 } }]);
    await awarenessHub.publish({ document: room, update: before, owner: "bob" });
    const ann = other.connect("ann", { room });
    await ann.saved();
    const states = () => ann.provider.awareness?.getStates();
    await expect.poll(() => states()?.get(1)).toEqual({ cursor: 1 });
    const moved = encodeAwareness([{ client: 1, clock: 2, state: { cursor: 2 } }]);
    await awarenessHub.publish({ document: room, update: moved, owner: "bob" });
    await expect.poll(() => states()?.get(1)).toEqual({ cursor: 2 });
    ann.provider.setAwarenessField("user", { name: "chosen" });
    const seen = () =>
      decodeAwareness(awarenessHub.current(room) ?? new Uint8Array([0]))?.find(
        ({ client }) => client === ann.document.clientID,
      )?.state?.user;
    await expect.poll(seen).toMatchObject({ name: "ann" });
    const left = encodeAwareness([{ client: 1, clock: 2, state: null }]);
    await awarenessHub.publish({ document: room, update: left, owner: "bob" });
    await expect.poll(() => states()?.has(1)).toBe(false);
    ann.close();
    await expect.poll(() => awarenessHub.current(room)).toBeUndefined();
  } finally {
    await other.close();
  }
});

it("keeps every acknowledged update when it stops, and closes the sockets", async () => {
  const ann = test.connect("ann", { room });
  await ann.saved();
  for (let count = 0; count < 50; count += 1) ann.write(`${count} `);
  await ann.saved();
  await test.server.close();
  expect(ann.closes[0]?.code).toBe(1001);
  expect(test.storage.text(room)).toBe(ann.text());
});
