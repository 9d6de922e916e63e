import { setImmediate as nextTurn } from "node:timers/promises";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Log } from "../../platform/log.ts";
import type { AccessChanges, AccessFeed } from "./access-feed.ts";
import { AccessWatch, type AccessWatchOptions } from "./access-watch.ts";

const NOTHING: AccessChanges = { isReset: false, documents: [], relations: [], users: [] };
const LIMITS = { changesMs: 1, recheckMs: 3_600_000 };
const silent = (): void => {};
const log: Log = { debug: silent, info: silent, warn: silent, error: silent, with: () => log };

const watching = (feed: AccessFeed, limits: AccessWatchOptions["limits"] = LIMITS): AccessWatch =>
  new AccessWatch({ feed, limits, log });

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await nextTurn();
}

/** A pause: until the feed has been read so many times, and turns of the event loop. */
interface Pause {
  readonly reads: number;
  readonly turns: number;
}

/** Documents of a tree, who may edit them, and the feed of its changes. Document 0 is the root of the others at first. */
class World implements AccessFeed {
  readonly lagMs: number;
  readonly parents = new Map<number, number>();
  readonly links = new Set<number>();
  readonly roles = new Set<string>();
  readonly ended = new Set<string>();
  /** What the next read does. */
  next: "normal" | "fail" | "reset" = "normal";
  /** Turns before and after the moment at which a read takes place. */
  turns: readonly [number, number] = [0, 0];
  reads = 0;
  /** Returns what the read before has found, as a feed does that asks another process. */
  readonly #isDelayed: boolean;
  #unread: AccessChanges = NOTHING;
  #found: AccessChanges = NOTHING;

  constructor(isDelayed: boolean, documents: number, lagMs = 0) {
    this.#isDelayed = isDelayed;
    this.lagMs = lagMs;
    for (let id = 1; id < documents; id += 1) this.parents.set(id, id - 1);
  }

  line(document: number): number[] {
    const parent = this.parents.get(document);
    return parent === undefined ? [document] : [...this.line(parent), document];
  }

  mayEdit(user: string, document: number): boolean {
    if (this.ended.has(user)) return false;
    return this.line(document).some((id) => this.links.has(id) || this.roles.has(`${user} ${id}`));
  }

  note(changes: Partial<AccessChanges>): void {
    this.#unread = merge(this.#unread, { ...NOTHING, ...changes });
  }

  async pause({ reads, turns: count }: Pause): Promise<void> {
    const until = this.reads + reads;
    while (this.reads < until) await nextTurn();
    await turns(count);
  }

  async read(): Promise<AccessChanges> {
    const [before, after] = this.turns;
    await turns(before);
    const { next } = this;
    this.next = "normal";
    const found = { ...this.#unread, isReset: next === "reset" };
    this.#unread = NOTHING;
    await turns(after);
    this.reads += 1;
    if (next === "fail") throw new Error("down");
    const last = this.#found;
    this.#found = found;
    return this.#isDelayed ? last : found;
  }

  async linesOf(documents: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
    const [before, after] = this.turns;
    await turns(before);
    const lines = documents.map((id) => [id, this.line(Number(id)).map(String)] as const);
    await turns(after);
    return new Map(lines);
  }
}

const merge = (one: AccessChanges, other: AccessChanges): AccessChanges => ({
  isReset: one.isReset || other.isReset,
  documents: [...one.documents, ...other.documents],
  relations: [...one.relations, ...other.relations],
  users: [...one.users, ...other.users],
});

const DOCUMENTS = 4;
const USERS = ["ann", "ben"] as const;
const document = fc.nat({ max: DOCUMENTS - 1 });
const user = fc.constantFrom(...USERS);
const pause = fc.record({ reads: fc.nat({ max: 4 }), turns: fc.nat({ max: 20 }) });
const event = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      is: fc.constant("connect"),
      user,
      document,
      pauses: fc.tuple(pause, pause, pause),
    }),
  },
  { weight: 8, arbitrary: fc.record({ is: fc.constant("link"), document }) },
  { weight: 3, arbitrary: fc.record({ is: fc.constant("role"), user, document }) },
  { weight: 6, arbitrary: fc.record({ is: fc.constant("move"), document, parent: document }) },
  { weight: 1, arbitrary: fc.record({ is: fc.constant("end"), user }) },
  { weight: 2, arbitrary: fc.record({ is: fc.constantFrom("fail", "reset") }) },
  { weight: 8, arbitrary: fc.record({ is: fc.constant("wait"), pause }) },
);
type Event = typeof event extends fc.Arbitrary<infer Value> ? Value : never;

interface Connection {
  readonly user: string;
  readonly document: number;
  mayEdit: boolean;
}

function change(world: World, one: Exclude<Event, { pauses: unknown }>): void {
  if ("parent" in one) {
    if (world.line(one.parent).includes(one.document)) return;
    world.parents.set(one.document, one.parent);
    world.note({ documents: [`${one.document}`] });
  } else if ("user" in one && "document" in one) {
    toggle(world.roles, `${one.user} ${one.document}`);
    world.note({ relations: [[one.user, `${one.document}`]] });
  } else if ("user" in one) {
    world.ended.add(one.user);
    world.note({ users: [one.user] });
  } else if ("document" in one) {
    toggle(world.links, one.document);
    world.note({ documents: [`${one.document}`] });
  } else if (one.is === "fail" || one.is === "reset") world.next = one.is;
}

function toggle<Value>(values: Set<Value>, value: Value): void {
  if (!values.delete(value)) values.add(value);
}

it("leaves no connection with another access than it has, however changes, reads and authorizations overlap", async () => {
  const count = fc.nat({ max: 20 });
  const events = fc.array(event, { minLength: 5, maxLength: 25, size: "max" });
  const property = fc.asyncProperty(
    events,
    fc.boolean(),
    fc.tuple(count, count),
    async (all, isDelayed, count) => {
      const world = new World(isDelayed, DOCUMENTS);
      world.turns = count;
      const watch = watching(world);
      const connections: Connection[] = [];
      const connect = async (one: Extract<Event, { pauses: unknown }>): Promise<void> => {
        const authorizedAt = performance.now();
        await world.pause(one.pauses[0]);
        const connection = { ...one, mayEdit: world.mayEdit(one.user, one.document) };
        await world.pause(one.pauses[1]);
        connections.push(connection);
        const check = async (): Promise<void> => {
          const now = world.mayEdit(one.user, one.document);
          await turns(one.pauses[2].turns);
          connection.mayEdit = now;
        };
        watch.watch({ document: `${one.document}`, user: one.user, authorizedAt, check });
      };
      const none = { reads: 0, turns: 0 };
      for (let at = 0; at < DOCUMENTS; at += 1)
        await connect({ is: "connect", user: "ann", document: at, pauses: [none, none, none] });
      await world.pause({ reads: 2, turns: 0 });
      const connecting: Promise<void>[] = [];
      for (const one of all) {
        if ("pauses" in one) connecting.push(connect(one));
        else if ("pause" in one) await world.pause(one.pause);
        else change(world, one);
      }
      await Promise.all(connecting);
      const wrong = (): Connection[] =>
        connections.filter((one) => one.mayEdit !== world.mayEdit(one.user, one.document));
      try {
        await expect.poll(wrong, { interval: 1, timeout: 20_000 }).toEqual([]);
      } finally {
        watch.close();
      }
    },
  );
  await fc.assert(property, { numRuns: 100 });
}, 60_000);

/** A watch with a feed that has been read without a gap. */
async function reading(lagMs = 0) {
  const world = new World(false, DOCUMENTS, lagMs);
  const watch = watching(world);
  const checked: string[] = [];
  const connect = (name: string, authorizedAt = performance.now()): void => {
    watch.watch({ document: "1", user: name, authorizedAt, check: async () => void checked.push(name) });
  };
  const settled = async (): Promise<void> => {
    // The second one begins later, and what follows from it is done before the third one.
    const before = world.reads;
    await expect.poll(() => world.reads, { interval: 1 }).toBeGreaterThan(before + 2);
  };
  connect("first");
  await expect.poll(() => checked).toEqual(["first"]);
  await settled();
  return { world, watch, checked, connect, settled };
}

it("checks a new connection only if something has changed since it was authorized", async () => {
  const { world, watch, checked, connect, settled } = await reading();
  world.note({ documents: ["0"] });
  await settled();
  expect(checked.splice(0)).toEqual(["first", "first"]);
  connect("second");
  await settled();
  expect(checked).toEqual([]);
  const authorizedAt = performance.now();
  world.note({
    relations: [
      ["third", "0"],
      ["fourth", "3"],
    ],
  });
  await settled();
  connect("third", authorizedAt);
  connect("fourth", authorizedAt);
  connect("fifth", performance.now());
  await settled();
  expect(checked).toEqual(["third"]);
  watch.close();
});

it("checks connections when something changes above the place to which their document was moved", async () => {
  const { world, watch, checked, settled } = await reading();
  for (const [moved, parent] of [
    [2, 0],
    [1, 2],
  ] as const) {
    world.parents.set(moved, parent);
    world.note({ documents: [`${moved}`] });
    await settled();
  }
  expect(checked.splice(0)).toEqual(["first", "first"]);
  world.note({ documents: ["2"] });
  await settled();
  expect(checked).toEqual(["first"]);
  watch.close();
});

it("checks a connection that was authorized before the feed was read, or before it was read again", async () => {
  const { world, watch, checked, connect, settled } = await reading();
  connect("early", 0);
  await settled();
  expect(checked.splice(0)).toEqual(["first", "early"]);
  const authorizedAt = performance.now();
  world.next = "fail";
  await settled();
  await settled();
  checked.splice(0);
  connect("late", authorizedAt);
  await settled();
  expect(checked).toEqual(["late"]);
  watch.close();
});

it("checks a connection that was authorized so soon after a change that it may not have seen all of it", async () => {
  const { watch, checked, connect, settled } = await reading(60_000);
  connect("soon");
  await settled();
  expect(checked).toEqual(["first", "soon"]);
  watch.close();
});

it("checks every connection from time to time, whether it was checked at first or not", async () => {
  const world = new World(false, DOCUMENTS);
  const watch = watching(world, { changesMs: 1, recheckMs: 20 });
  const checked = { first: 0, second: 0 };
  const connect = (user: keyof typeof checked, at: string): void => {
    const check = async (): Promise<void> => {
      checked[user] += 1;
    };
    watch.watch({ document: at, user, authorizedAt: performance.now(), check });
  };
  connect("first", "1");
  await expect.poll(() => checked.first, { interval: 1 }).toBeGreaterThan(0);
  connect("second", "2");
  await expect.poll(() => Math.min(checked.first, checked.second), { interval: 1 }).toBeGreaterThan(2);
  watch.close();
});
