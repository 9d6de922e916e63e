import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Doc, encodeStateAsUpdate } from "yjs";
import { ApiError } from "../errors.ts";
import type { CollaborationLimits } from "./limits.ts";
import { closed, ORIGIN, TestCollaboration } from "./test-collaboration.ts";
import {
  authenticate,
  authMessage,
  awarenessMessage,
  message,
  opened,
  updateMessage,
  varBytes,
} from "./test-raw-client.ts";

let test: TestCollaboration;
let room: string;
beforeEach(() => {
  room = randomUUID();
});
afterEach(() => test.close());

async function start(limits: Partial<CollaborationLimits> = {}): Promise<void> {
  test = await TestCollaboration.start({ limits });
  for (const name of ["ann", "bob", "eve"]) test.backend.add(name);
}

const headers = (user: string) => ({ origin: ORIGIN, cookie: `user=${user}` });
const eve = () => test.socket(room, headers("eve"));

/** An update of one text insertion. */
function update(text: string): Uint8Array {
  const doc = new Doc();
  doc.getText("text").insert(0, text);
  return encodeStateAsUpdate(doc);
}

describe("malformed messages", () => {
  const valid = update("some text");
  it.each<[string, (name: string) => Uint8Array, number]>([
    ["no bytes", () => new Uint8Array(), 1007],
    ["a name that is longer than the message", () => new Uint8Array([200, 1, 97]), 1007],
    ["a sync message without content", (name) => message(name, 0), 1007],
    ["an update that is longer than the message", (name) => message(name, 0, 2, 200, 1, 1), 1007],
    ["a truncated update", (name) => updateMessage(name, valid.subarray(0, -3)), 1007],
    ["random bytes as an update", (name) => updateMessage(name, Buffer.from("not a Yjs update")), 1007],
    ["an unknown sync message", (name) => message(name, 0, 9, ...varBytes("x")), 4205],
    ["a broadcast, which only servers may send", (name) => message(name, 6, ...varBytes("x")), 4205],
    ["an awareness message that is no JSON", (name) => awarenessMessage(name, new Map([[1, "{"]])), 4205],
  ])("%s closes only their own socket", async (_case, bytes, code) => {
    await start();
    const ann = test.connect("ann", { room });
    await ann.saved();
    const socket = eve();
    await authenticate(socket, room);
    const end = closed(socket);
    socket.send(bytes(room));
    expect((await end).code).toBe(code);
    ann.write("unharmed");
    await ann.saved();
    expect([test.storage.text(room), ann.closes]).toEqual(["unharmed", []]);
  });

  it("closes a socket that sends text, and one that sends too much", async () => {
    await start({ messageBytes: 1_000 });
    for (const [sent, code] of [
      ["text", 1003],
      [updateMessage(room, new Uint8Array(2_000)), 1009],
    ] as const) {
      const socket = eve();
      await authenticate(socket, room);
      const end = closed(socket);
      socket.send(sent);
      expect((await end).code).toBe(code);
    }
  });
});

describe("before authentication", () => {
  it("closes a socket that sends too many messages, or too many bytes", async () => {
    await start({ unauthenticatedMessages: 20, unauthenticatedBytes: 10_000 });
    for (const [bytes, count] of [
      [10, 30],
      [6_000, 2],
    ] as const) {
      const socket = eve();
      await opened(socket);
      const end = closed(socket);
      for (let sent = 0; sent < count; sent += 1) socket.send(updateMessage(room, new Uint8Array(bytes)));
      expect(await end).toMatchObject({ code: 1008 });
    }
    expect(test.backend.requests).toEqual([]);
  });

  it("closes a socket that authenticates again and again", async () => {
    await start({ authentications: { perSecond: 0.01, burst: 3 } });
    const socket = eve();
    await opened(socket);
    const end = closed(socket);
    for (let sent = 0; sent < 10; sent += 1) socket.send(authMessage(randomUUID()));
    expect(await end).toEqual({ code: 1008, reason: "Too many messages" });
  });

  it("closes 1,000 half-open sockets after a moment, while others work", async () => {
    await start({ authenticationMs: 1_000 });
    const ann = test.connect("ann", { room });
    await ann.saved();
    const ends = await Promise.all(
      Array.from({ length: 1_000 }, async () => {
        const socket = eve();
        const end = closed(socket);
        await opened(socket);
        return end;
      }),
    );
    expect(new Set(ends.map(({ code }) => code))).toEqual(new Set([4408]));
    ann.write("x");
    await ann.saved();
    await expect.poll(() => test.server.status).toEqual({ rooms: 1, connections: 1 });
  }, 30_000);
});

describe("limits", () => {
  it("of rooms, and of connections per room, are told to the client", async () => {
    await start({ rooms: 1, connectionsPerRoom: 2 });
    await test.connect("ann", { room }).saved();
    await test.connect("bob", { room }).saved();
    const third = test.connect("eve", { room });
    await expect.poll(() => third.reasons).toEqual(["Too many connections to this document: at most 2"]);
    const other = test.connect("ann");
    await expect.poll(() => other.reasons).toEqual(["Too many open documents: at most 1"]);
  });

  it("of connections per user and of connections per address are told to the client", async () => {
    await start({ connectionsPerUser: 1, connectionsPerAddress: 2 });
    await test.connect("ann", { room }).saved();
    const second = test.connect("ann", { room });
    await expect.poll(() => second.reasons).toEqual(["Too many connections of this user: at most 1"]);
    expect(await closed(eve())).toEqual({ code: 1013, reason: "Too many connections from this address" });
  });

  it("of updates per second close the socket", async () => {
    await start({ updates: { perSecond: 1, burst: 5 } });
    const socket = eve();
    await authenticate(socket, room);
    const end = closed(socket);
    for (let sent = 0; sent < 20; sent += 1) socket.send(updateMessage(room, update(`${sent}`)));
    expect(await end).toEqual({ code: 1008, reason: "Too many updates per second" });
  });

  it("of awareness close the socket", async () => {
    await start({ awareness: { perSecond: 1, burst: 10 }, awarenessBytes: 1_000 });
    const flooding = eve();
    await authenticate(flooding, room);
    const end = closed(flooding);
    for (let clock = 1; clock < 30; clock += 1)
      flooding.send(awarenessMessage(room, new Map([[1, "{}"]]), clock));
    expect(await end).toEqual({ code: 1008, reason: "Too many awareness messages per second" });
    const large = eve();
    await authenticate(large, room);
    const largeEnd = closed(large);
    large.send(awarenessMessage(room, new Map([[1, `"${"x".repeat(2_000)}"`]])));
    expect((await largeEnd).code).toBe(1009);
  });

  it("keep only a few awareness states of one connection", async () => {
    await start({ awarenessClients: 3 });
    const ann = test.connect("ann", { room });
    await ann.saved();
    const socket = eve();
    await authenticate(socket, room);
    for (let first = 0; first < 100; first += 10)
      socket.send(
        awarenessMessage(
          room,
          new Map(Array.from({ length: 10 }, (_, at) => [1 + first + at, '{"user":{}}'])),
        ),
      );
    await expect.poll(() => ann.provider.awareness?.getStates().size).toBe(4);
    ann.write("x");
    await ann.saved();
    expect(ann.provider.awareness?.getStates().size).toBe(4);
  });

  it("do not read a client that writes faster than the disk", async () => {
    await start({ waitingMessages: 10 });
    const ann = test.connect("ann", { room });
    await ann.saved();
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    test.storage.beforeAppend = () => gate;
    const socket = eve();
    await authenticate(socket, room);
    for (let sent = 0; sent < 500; sent += 1) socket.send(updateMessage(room, update("x".repeat(20_000))));
    await expect.poll(() => socket.bufferedAmount).toBeGreaterThan(0);
    open();
    await expect.poll(() => test.storage.entries(room).length, { timeout: 10_000 }).toBe(500);
    expect(socket.readyState).toBe(socket.OPEN);
  });

  it("close a reader that receives nothing, without delaying others", async () => {
    await start({ unsentBytes: 1_000_000 });
    const ann = test.connect("ann", { room });
    const bob = test.connect("bob", { room });
    await Promise.all([ann.saved(), bob.saved()]);
    const socket = eve();
    await authenticate(socket, room);
    socket.pause();
    await expect
      .poll(
        async () => {
          ann.write("x".repeat(500_000));
          await ann.saved();
          return test.server.status.connections;
        },
        { timeout: 20_000, interval: 0 },
      )
      .toBe(2);
    await expect.poll(() => bob.text().length).toBe(ann.text().length);
  }, 30_000);
});

describe("a document that takes no more updates", () => {
  it("becomes read-only for the client, which is told why", async () => {
    await start();
    const ann = test.connect("ann", { room });
    await ann.saved();
    test.storage.beforeAppend = async () => {
      throw new ApiError("payload_too_large", "The document is larger than 20 MiB.");
    };
    ann.write("too much");
    await expect
      .poll(() => ann.stateless.map((payload) => JSON.parse(payload) as unknown))
      .toEqual([{ type: "rights", update: false, reason: "The document is larger than 20 MiB." }]);
    expect([ann.provider.unsyncedChanges, ann.closes]).toEqual([1, []]);
  });

  it("is tried again by the client if the storage is full", async () => {
    await start();
    const ann = test.connect("ann", { room });
    await ann.saved();
    const write = test.storage.beforeAppend;
    test.storage.beforeAppend = async () => {
      throw new ApiError("insufficient_storage", "The storage is full");
    };
    ann.write("kept by the client");
    await expect.poll(() => ann.closes[0]).toEqual({ code: 1013, reason: "The storage is full" });
    expect(ann.provider.unsyncedChanges).toBeGreaterThan(0);
    test.storage.beforeAppend = write;
    await ann.saved();
    expect(test.storage.text(room)).toBe("kept by the client");
  });
});

it("500 readers receive the edits of a writer", async () => {
  await start();
  test.backend.add("reader", { update: false });
  const ann = test.connect("ann", { room });
  await ann.saved();
  const sockets = Array.from({ length: 500 }, () => test.socket(room, headers("reader")));
  await Promise.all(sockets.map((socket) => authenticate(socket, room)));
  expect(test.server.status.connections).toBe(501);
  const counts = new Map(sockets.map((socket) => [socket, 0]));
  for (const socket of sockets) socket.on("message", () => counts.set(socket, (counts.get(socket) ?? 0) + 1));
  ann.write("x");
  await expect.poll(() => [...counts.values()].every((count) => count > 0)).toBe(true);
}, 30_000);
