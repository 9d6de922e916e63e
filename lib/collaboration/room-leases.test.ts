import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { applyUpdate, Doc, encodeStateAsUpdate } from "yjs";
import { createDocument } from "../documents/records/create.ts";
import { nodesTable, roomsTable } from "../documents/tables/room-leases.ts";
import { getOrCreateOwner } from "../documents/users/users.ts";
import { type TestDeps, testDeps } from "../testing/test-deps.ts";
import { type TestGateway, testGateway } from "../testing/test-gateway.ts";
import { CollaborationNode } from "./collaboration-node.ts";
import { httpRequests } from "./http-requests.ts";
import { httpRoomStorage } from "./http-room-storage.ts";
import type { RoomLogSource, RoomStorage } from "./room-storage.ts";
import { TestCollaboration } from "./test-collaboration.ts";

const KEY = "a-provider-key-for-tests";
const LEASE_MS = 10_000;
/** The leases follow the clock of the test, so a busy machine may take its time. */
const REQUEST_MS = 60_000;

let test: TestDeps;
let gateway: TestGateway;
let room: string;
const nodes: TestNode[] = [];
const servers: TestCollaboration[] = [];

/** A process of the collaboration server; it renews its lease when the test says so. */
interface TestNode {
  readonly node: CollaborationNode;
  readonly storage: RoomStorage;
}

beforeEach(async () => {
  test = await testDeps({ settings: { Y_PROVIDER_API_KEY: KEY } });
  gateway = await testGateway(test);
  room = await newDocument();
});
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
  await Promise.all(nodes.splice(0).map(({ node }) => node.close()));
  await gateway.close();
  await test.close();
});

async function newDocument(): Promise<string> {
  const owner = await getOrCreateOwner(test.deps, "owner@weft.local");
  return (await createDocument(test.deps, owner, { title: "Notes" })).document.id;
}

function newNode(address: string): TestNode {
  const options = { request: httpRequests(gateway.url, REQUEST_MS), key: KEY, log: test.deps.log };
  const node = new CollaborationNode({ ...options, address, requestMs: REQUEST_MS });
  const created = { node, storage: httpRoomStorage({ ...options, node }) };
  nodes.push(created);
  return created;
}

function updateOf(text: string): Uint8Array {
  const doc = new Doc();
  doc.getText("text").insert(0, text);
  return encodeStateAsUpdate(doc);
}
const append = (log: RoomLogSource, text: string): Promise<unknown> =>
  log.append(updateOf(text), { author: null });
async function storedText(): Promise<string> {
  const doc = new Doc();
  applyUpdate(doc, (await test.deps.updateLogs.use(room, (log) => log.read())).state);
  return doc.getText("text").toString();
}

describe("the lease of a room", () => {
  it("belongs to one node, which others can find", async () => {
    const [ann, bob] = [newNode("10.0.0.1:4444"), newNode("10.0.0.2:4444")];
    expect(await bob.node.find(room)).toBeUndefined();
    const log = await ann.storage.open(room);
    expect(await bob.node.find(room)).toMatchObject({ address: "10.0.0.1:4444" });
    expect(await ann.node.find(room)).toBeUndefined();
    await expect(bob.storage.open(room)).rejects.toMatchObject({ code: "unavailable" });
    await append(log, "by ann");
    expect(await storedText()).toBe("by ann");
    log.close();
  });

  it("is taken by one of several nodes that want it at the same time", async () => {
    const all = Array.from({ length: 5 }, (_, n) => newNode(`10.0.0.${n}:4444`));
    await Promise.all(all.map(({ node }) => node.renew()));
    const opened = await Promise.allSettled(all.map(({ storage }) => storage.open(room)));
    expect(opened.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const one of opened) if (one.status === "fulfilled") one.value.close();
  });

  it("lasts while its node renews it, in one request for all rooms", async () => {
    const [ann, bob] = [newNode("10.0.0.1:4444"), newNode("10.0.0.2:4444")];
    const other = await newDocument();
    const logs = await Promise.all([ann.storage.open(room), ann.storage.open(other)]);
    for (let second = 0; second < 30; second += 3) {
      test.clock.advance(3_000);
      await ann.node.renew();
    }
    for (const document of [room, other])
      await expect(bob.storage.open(document)).rejects.toMatchObject({ code: "unavailable" });
    await append(logs[0] as RoomLogSource, "still here");
    for (const log of logs) log.close();
  });

  it("is given back when the last client has left, and when the node stops", async () => {
    const [ann, bob, eve] = [newNode("10.0.0.1:4444"), newNode("10.0.0.2:4444"), newNode("10.0.0.3:4444")];
    const [one, two] = await Promise.all([ann.storage.open(room), ann.storage.open(room)]);
    one?.close();
    await ann.node.renew();
    await expect(bob.storage.open(room)).rejects.toMatchObject({ code: "unavailable" });
    two?.close();
    await ann.node.renew();
    const log = await bob.storage.open(room);
    await bob.node.close();
    const next = await eve.storage.open(room);
    await expect(append(log, "late")).rejects.toMatchObject({ code: "unavailable" });
    await append(next, "in time");
    expect(await storedText()).toBe("in time");
    next.close();
  });

  it("moves when it expires: the paused owner cannot append any more, and learns of it", async () => {
    const [paused, next] = [newNode("10.0.0.1:4444"), newNode("10.0.0.2:4444")];
    const log = await paused.storage.open(room);
    await append(log, "before");
    test.clock.advance(LEASE_MS - 1);
    await expect(next.storage.open(room)).rejects.toMatchObject({ code: "unavailable" });
    test.clock.advance(1);
    // Nobody has taken the room yet, so the owner may still write.
    await append(log, "still ");
    const taken = await next.storage.open(room);
    let why: string | undefined;
    log.subscribe({
      onEntry: () => {},
      onEnd: (reason) => {
        why = reason;
      },
    });
    await expect(append(log, "too late")).rejects.toMatchObject({ code: "unavailable" });
    expect(why).toBe("moved");
    await append(taken, "after");
    expect(await storedText()).not.toContain("too late");
    log.close();
    taken.close();
  });

  it("increases its fence with each change of owner, also after the room was deleted", async () => {
    const fences: number[] = [];
    for (let n = 0; n < 4; n += 1) {
      const { node } = newNode(`10.0.0.${n}:4444`);
      const held = await node.take(room);
      fences.push(held.lease.fence);
      held.release();
      if (n % 2 === 0) await node.close();
      test.clock.advance(n % 2 === 0 ? 1 : LEASE_MS);
    }
    expect(fences).toEqual([...new Set(fences)].toSorted((one, other) => one - other));
  });

  it("is lost with all other rooms of a node whose lease others have ended", async () => {
    const [paused, next] = [newNode("10.0.0.1:4444"), newNode("10.0.0.2:4444")];
    const other = await newDocument();
    const held = await Promise.all([paused.node.take(room), paused.node.take(other)]);
    test.clock.advance(LEASE_MS);
    const taken = await next.node.take(room);
    await paused.node.renew();
    expect(held.map(({ isLost }) => isLost)).toEqual([true, true]);
    // It continues as a new node.
    const again = await paused.node.take(other);
    expect(again.lease.fence).toBeGreaterThan(held[1]?.lease.fence ?? Number.NaN);
    for (const one of [taken, again]) one.release();
  });

  it("ends when another process starts at the same address, because the first one has died", async () => {
    const [killed, restarted] = [newNode("10.0.0.1:4444"), newNode("10.0.0.1:4444")];
    const log = await killed.storage.open(room);
    const next = await restarted.storage.open(room);
    await expect(append(log, "late")).rejects.toMatchObject({ code: "unavailable" });
    await append(next, "at once");
    for (const one of [log, next]) one.close();
  });

  it("leaves no rows of ended nodes behind", async () => {
    for (let n = 0; n < 3; n += 1) await newNode(`10.0.0.${n}:4444`).node.take(await newDocument());
    test.clock.advance(LEASE_MS + 60_001);
    await newNode("10.0.0.9:4444").node.renew();
    const rows = await Promise.all(
      [nodesTable, roomsTable].map((table) => test.deps.tables.scan<never>(table as never, { limit: 100 })),
    );
    expect(rows.map(({ items }) => items.length)).toEqual([1, 0]);
  });

  it.each([
    ["nodes", { node: crypto.randomUUID(), address: "no port", state: "starting" }, "address"],
    ["nodes", { node: "x", address: "10.0.0.1:4444", state: "starting" }, "node"],
    ["rooms", { document: "x" }, "document"],
  ])("refuses an invalid request to %s", async (path, body, field) => {
    const { status, body: error } = await gateway.request("POST", `/collaboration/${path}/`, {
      token: KEY,
      body,
    });
    expect([status, Object.keys(error)]).toEqual([400, [field]]);
  });

  it("is for the collaboration server only", async () => {
    for (const path of ["nodes", "rooms"])
      expect((await gateway.request("POST", `/collaboration/${path}/`, { body: {} })).status).toBe(403);
  });
});

it("a paused process whose rooms moved acknowledges nothing, and its clients are sent to the new owner", async () => {
  const [paused, next] = [newNode("10.0.0.1:4444"), newNode("10.0.0.2:4444")];
  const server = await TestCollaboration.start({ storage: paused.storage });
  servers.push(server);
  server.backend.add("ann");
  const ann = server.connect("ann", { room });
  ann.write("saved");
  await ann.saved();
  test.clock.advance(LEASE_MS);
  const taken = await next.storage.open(room);
  ann.write(" unsaved");
  await expect
    .poll(() => ann.closes)
    .toContainEqual({ code: 1012, reason: "Another server has the document open" });
  expect(ann.provider.unsyncedChanges).toBeGreaterThan(0);
  expect(await storedText()).toBe("saved");
  taken.close();
});
