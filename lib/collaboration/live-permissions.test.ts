import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, it } from "vitest";
import type { AccessChanges, AccessFeed } from "../documents/live-requests/access-feed.ts";
import { TestCollaboration, watchAccess } from "./test-collaboration.ts";

const NOTHING: AccessChanges = { isReset: false, documents: [], relations: [], users: [] };

let test: TestCollaboration;
afterEach(() => test.close());

/** A feed that a test writes to; every document has one ancestor. */
class FakeFeed implements AccessFeed {
  readonly lagMs = 0;
  #changes: AccessChanges = NOTHING;
  #isFailing = false;
  reads = 0;

  async read(): Promise<AccessChanges> {
    const changes = this.#changes;
    this.#changes = NOTHING;
    this.reads += 1;
    if (!this.#isFailing) return changes;
    this.#isFailing = false;
    throw new Error("down");
  }

  async linesOf(documents: readonly string[]) {
    return new Map(documents.map((id) => [id, ["the-root", id]]));
  }

  change(changes: Partial<AccessChanges>): void {
    this.#changes = { ...NOTHING, ...changes };
  }

  /** Loses what the next read would have returned. */
  fail(): void {
    this.#isFailing = true;
  }

  /** Waits until all changes were read. */
  async settled(): Promise<void> {
    const before = this.reads;
    await expect.poll(() => this.reads).toBeGreaterThan(before + 1);
  }
}

async function start(recheckMs = 60_000) {
  const feed = new FakeFeed();
  test = await TestCollaboration.start({ accessWatch: watchAccess(feed, { changesMs: 10, recheckMs }) });
  const [ann, bob] = [test.backend.add("ann"), test.backend.add("bob")];
  const room = randomUUID();
  const clients = { ann: test.connect("ann", { room }), bob: test.connect("bob", { room }) };
  await Promise.all([clients.ann.saved(), clients.bob.saved()]);
  await feed.settled();
  return { feed, ann, bob, clients, room };
}

it("makes a client read-only that may no longer write, and lets it write again", async () => {
  const { feed, ann, clients, room } = await start();
  ann.update = false;
  feed.change({ documents: ["the-root"] });
  await expect.poll(() => clients.ann.provider.authorizedScope).toBe("readonly");
  expect(clients.ann.stateless).toEqual(['{"type":"rights","update":false}']);
  clients.ann.write("kept by the client");
  clients.bob.write("by Bob ");
  await clients.bob.saved();
  expect(test.storage.text(room)).toBe("by Bob ");
  ann.update = true;
  feed.change({ documents: ["the-root"] });
  await expect.poll(() => test.storage.text(room)).toContain("kept by the client");
  await clients.ann.saved();
  expect([clients.ann.closes, clients.bob.closes]).toEqual([[], []]);
});

it("shows several changes that were refused as saved once they are stored, and later ones not before they are", async () => {
  const { feed, ann, clients, room } = await start();
  test.storage.beforeAppend = () => sleep(20);
  const { provider, write, text, saved } = clients.ann;
  const isStored = (): boolean => test.storage.text(room) === text();
  let falselySaved = 0;
  provider.on("unsyncedChanges", ({ number }: { number: number }) => {
    if (number === 0 && provider.isSynced && !isStored()) falselySaved += 1;
  });
  for (const update of [false, true, false, true]) {
    ann.update = update;
    feed.change({ documents: ["the-root"] });
    await expect.poll(() => provider.authorizedScope).toBe(update ? "read-write" : "readonly");
    for (const word of ["one ", "two ", "three "]) write(word);
    if (!update) continue;
    await saved();
    expect(isStored()).toBe(true);
    write("later ");
    expect(provider.unsyncedChanges).toBe(1);
    await saved();
    expect(isStored()).toBe(true);
  }
  expect(falselySaved).toBe(0);
});

it("closes the socket of a client that may no longer read", async () => {
  const { feed, ann, clients } = await start();
  ann.retrieve = false;
  feed.change({ relations: [[ann.id, "the-root"]] });
  await expect.poll(() => clients.ann.closes[0]).toEqual({ code: 4403, reason: "Access lost" });
  await expect.poll(() => clients.ann.reasons).toContain("permission-denied");
  expect(clients.bob.closes).toEqual([]);
});

it("asks for nobody whom a change does not concern", async () => {
  const { feed, ann, room } = await start();
  const before = test.backend.requests.length;
  feed.change({
    documents: ["another"],
    relations: [
      ["somebody", room],
      [ann.id, "another"],
    ],
  });
  await feed.settled();
  expect(test.backend.requests.length).toBe(before);
  feed.change({ relations: [[ann.id, room]] });
  // Whether the session has ended is asked, too.
  await expect.poll(() => test.backend.requests.length).toBe(before + 2);
});

it("does not ask again for a new client, unless something has changed since it was authorized", async () => {
  const { feed, clients, room } = await start();
  const carol = test.backend.add("carol");
  const first = test.connect("carol", { room });
  await first.saved();
  // Whether she may read, and who she is.
  const asked = (): number =>
    test.backend.requests.filter(({ headers }) => headers.cookie === "user=carol").length;
  expect(asked()).toBe(2);
  await feed.settled();
  expect(asked()).toBe(2);
  feed.change({ documents: ["another"], relations: [[carol.id, "another"]] });
  await feed.settled();
  expect(asked()).toBe(2);
  carol.update = false;
  feed.change({ documents: ["the-root"] });
  await expect.poll(() => first.provider.authorizedScope).toBe("readonly");
  expect(clients.ann.provider.authorizedScope).toBe("read-write");
});

const BETWEEN: readonly {
  readonly what: string;
  changes(user: string, room: string): Partial<AccessChanges>;
}[] = [
  { what: "the link of an ancestor", changes: () => ({ documents: ["the-root"] }) },
  { what: "its role", changes: (user, room) => ({ relations: [[user, room]] }) },
  { what: "its session", changes: (user) => ({ users: [user] }) },
];
it.each(BETWEEN.flatMap((one) => [false, true].map((isLost) => ({ ...one, isLost }))))(
  "notices a change of $what between the authorization of a client and its entry, lost by the feed: $isLost",
  async ({ changes, isLost }) => {
    const { feed } = await start();
    const users = { reading: test.backend.add("dan"), leaving: test.backend.add("eve") };
    const room = randomUUID();
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const load = test.storage.open.bind(test.storage);
    test.storage.open = async (document) => {
      await gate;
      return load(document);
    };
    const clients = { dan: test.connect("dan", { room }), eve: test.connect("eve", { room }) };
    await expect
      .poll(() => Object.values(clients).every(({ provider }) => provider.isAuthenticated))
      .toBe(true);
    users.reading.update = false;
    users.leaving.retrieve = false;
    for (const { id } of Object.values(users)) {
      feed.change(changes(id, room));
      if (isLost) feed.fail();
      await feed.settled();
    }
    open();
    await expect.poll(() => clients.eve.closes[0]).toEqual({ code: 4403, reason: "Access lost" });
    await expect.poll(() => clients.dan.provider.authorizedScope).toBe("readonly");
    expect(clients.dan.closes).toEqual([]);
  },
);

it("closes the sockets of a user whose session has ended, though others may read without one", async () => {
  const { feed, clients } = await start();
  // An ended session is that of an anonymous user, who may read.
  test.backend.users.delete("ann");
  test.backend.anonymous = { retrieve: true, update: true };
  feed.change({ users: ["id-ann"] });
  await expect.poll(() => clients.ann.closes[0]).toEqual({ code: 4403, reason: "Access lost" });
  expect(clients.bob.closes).toEqual([]);
});

it("checks access from time to time, for revoked tokens", async () => {
  const { clients } = await start(50);
  test.backend.users.delete("ann");
  await expect.poll(() => clients.ann.closes[0]?.code).toBe(4403);
  expect(clients.bob.closes).toEqual([]);
});

it("disconnects nobody while the document service does not respond, and checks again later", async () => {
  const { feed, ann, clients } = await start();
  test.backend.isDown = true;
  ann.retrieve = false;
  feed.change({ documents: ["the-root"] });
  await feed.settled();
  expect([clients.ann.closes, clients.bob.closes]).toEqual([[], []]);
  test.backend.isDown = false;
  await expect.poll(() => clients.ann.closes[0]?.code).toBe(4403);
  expect(clients.bob.closes).toEqual([]);
});

it("closes a new client with an invitation to try again while the document service does not respond", async () => {
  const { room } = await start();
  test.backend.isDown = true;
  const client = test.connect("ann", { room });
  await expect.poll(() => client.closes[0]).toEqual({ code: 1013, reason: "Try again later" });
  test.backend.isDown = false;
  await client.saved();
});

it("reads no changes while no client is connected", async () => {
  const { feed, clients } = await start();
  clients.ann.close();
  clients.bob.close();
  await expect.poll(() => test.server.status.connections).toBe(0);
  // One check may be under way.
  let before = -1;
  const isSame = (): boolean => {
    const last = before;
    before = feed.reads;
    return last === before;
  };
  await expect.poll(isSame, { interval: 50 }).toBe(true);
});
