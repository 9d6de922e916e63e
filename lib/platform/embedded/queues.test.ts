import { join } from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Queues } from "../queues.ts";
import type { QueueResource } from "../resources.ts";
import { INTERRUPTED_MAX } from "./queue.ts";
import { type EmbeddedQueues, embeddedQueues } from "./queues.ts";
import { Store } from "./store.ts";
import { silentLog, temporaryFolder } from "./test-platform.ts";

/** An aborted wait ends long before its 20 s have passed. */
const ENDS_MS = 10_000;

const QUEUES: readonly QueueResource[] = [
  { name: "dead", fifo: false, visibilitySeconds: 30, retentionSeconds: 60 },
  {
    name: "twice",
    fifo: false,
    visibilitySeconds: 30,
    retentionSeconds: 60,
    deadLetter: { queue: "dead", maxReceiveCount: 2 },
  },
  { name: "standard", fifo: false, visibilitySeconds: 30, retentionSeconds: 60 },
  { name: "fifo", fifo: true, visibilitySeconds: 30, retentionSeconds: 60 },
];

async function until(check: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await check())) await new Promise(setImmediate);
}

describe("embedded queues", () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let store: Store;
  let embedded: EmbeddedQueues;
  let queues: Queues;
  let now = Date.now();
  beforeEach(async () => {
    folder = await temporaryFolder();
    store = new Store(join(folder.path, "weft.db"));
    embedded = embeddedQueues({ store, clock: { now: () => now }, log: silentLog, resources: QUEUES });
    queues = embedded.port;
  });
  afterEach(async () => {
    embedded.close();
    store.close();
    await folder.remove();
  });
  const receive = (queue: string, max = 10) =>
    queues.receive(queue, { max, visibilitySeconds: 30, waitSeconds: 0 });

  it.each(["standard", "fifo"])(
    "goes through a backlog larger than memory holds once and in order (%s)",
    async (queue) => {
      const count = 5000;
      const sent = Array.from({ length: count }, (_, n) => ({
        body: `${n}`.padEnd(1000, "."),
        groupId: `g${n}`,
      }));
      for (let at = 0; at < count; at += 1000) await queues.send(queue, sent.slice(at, at + 1000));
      expect(await queues.depth(queue)).toEqual({ visible: count, inFlight: 0, delayed: 0 });
      const bodies: string[] = [];
      const deletions: Promise<void>[] = [];
      for (let batch = await receive(queue); batch.length > 0; batch = await receive(queue)) {
        bodies.push(...batch.map(({ body }) => body));
        const receipts = batch.map(({ receipt }) => receipt);
        // A queue deletes messages only every 20 ms.
        deletions.push(queues.delete(queue, receipts));
        if (deletions.length === 20) await Promise.all(deletions.splice(0));
        if (bodies.length === 1000) await queues.send(queue, [{ body: "last", groupId: "last" }]);
      }
      await Promise.all(deletions);
      expect(bodies).toEqual([...sent.map(({ body }) => body), "last"]);
      expect(await queues.depth(queue)).toEqual({ visible: 0, inFlight: 0, delayed: 0 });
    },
  );

  const restart = (): void => {
    embedded.close();
    embedded = embeddedQueues({ store, clock: { now: () => now }, log: silentLog, resources: QUEUES });
    queues = embedded.port;
  };

  it("counts the delivery of messages from before the start on disk before it delivers them", async () => {
    await queues.send("standard", [{ body: "old" }]);
    await receive("standard");
    restart();
    const waiting = queues.receive("fifo", { max: 1, visibilitySeconds: 30, waitSeconds: 1 });
    // The previous process may have received it too, and died before it could count that.
    expect(await receive("standard")).toMatchObject([{ body: "old", receiveCount: 1, interrupted: 1 }]);
    expect(store.get('SELECT receives, interrupted FROM "q.standard"')).toEqual({
      receives: 0,
      interrupted: 2,
    });
    expect(await waiting).toEqual([]);
  });

  it("does not count a delivery that ended with the process, and counts those that failed", async () => {
    await queues.send("twice", [{ body: "x" }]);
    for (let ends = 1; ends <= 5; ends += 1) {
      expect(await receive("twice")).toMatchObject([{ body: "x", receiveCount: 1 }]);
      restart();
    }
    const [first] = await receive("twice");
    expect(first).toMatchObject({ receiveCount: 1, interrupted: 5 });
    await queues.changeVisibility("twice", first!.receipt, 0);
    expect(await receive("twice")).toMatchObject([{ receiveCount: 2, interrupted: 5 }]);
    await until(() => store.get('SELECT receives FROM "q.twice"')?.receives === 1);
    restart();
    const [second] = await receive("twice");
    expect(second).toMatchObject({ receiveCount: 2, interrupted: 6 });
    await queues.changeVisibility("twice", second!.receipt, 0);
    expect(await receive("twice")).toEqual([]);
    await until(async () => (await queues.depth("dead")).visible === 1);
  });

  it("does not count messages after the last delivered one as interrupted", async () => {
    const bodies = Array.from({ length: 200 }, (_, n) => ({ body: `${n}` }));
    await queues.send("standard", bodies);
    for (const { body } of await receive("standard", 3)) expect(Number(body)).toBeLessThan(3);
    for (let ends = 1; ends <= 3; ends += 1) {
      restart();
      const seen = new Map<string, number>();
      for (let batch = await receive("standard"); batch.length > 0; batch = await receive("standard")) {
        for (const { body, interrupted = 0 } of batch) seen.set(body, interrupted);
        if (seen.size >= 200) break;
        // A process that ends early has not delivered most of them.
        if (ends < 3) break;
      }
      expect(seen.get("0")).toBe(ends);
      if (ends === 3) expect([...seen.values()].filter((count) => count === 0).length).toBeGreaterThan(100);
    }
  });

  it("remembers what a process had delivered when the next one ends before it reaches that", async () => {
    const bodies = Array.from({ length: 40 }, (_, n) => ({ body: `${n}` }));
    await queues.send("standard", bodies);
    const delivered = new Set<string>();
    while (delivered.size < 40) for (const { body } of await receive("standard")) delivered.add(body);
    const counted = (): unknown => store.get('SELECT sum(interrupted) AS n FROM "q.standard"')?.n;
    await until(() => counted() === 40);
    // As if it ended before the counts of its deliveries were on disk.
    await store.write((tx) => tx.run('UPDATE "q.standard" SET receives = 0, interrupted = 0'));
    restart();
    await receive("standard", 1);
    restart();
    const interrupted = new Map<string, number>();
    while (interrupted.size < 40)
      for (const message of await receive("standard"))
        interrupted.set(message.body, message.interrupted ?? 0);
    expect([...interrupted.values()].filter((count) => count === 0)).toEqual([]);
  });

  it("dead-letters a message after a thousand interrupted deliveries", { timeout: 60_000 }, async () => {
    await queues.send("twice", [{ body: "x" }]);
    for (let ends = 0; ends < INTERRUPTED_MAX; ends += 1) {
      expect(await receive("twice")).toHaveLength(1);
      restart();
    }
    expect(await receive("twice")).toEqual([]);
    await until(async () => (await queues.depth("dead")).visible === 1);
  });

  it("opens a queue of an earlier release", async () => {
    embedded.close();
    store.define('DROP TABLE "q.twice"');
    store.define(
      'CREATE TABLE "q.twice" (seq INTEGER PRIMARY KEY, id TEXT NOT NULL, receives INTEGER NOT NULL, sent_at INTEGER NOT NULL, group_id TEXT, body TEXT NOT NULL)',
    );
    store.define(`INSERT INTO "q.twice" VALUES (7, 'i', 1, ${now}, NULL, 'old')`);
    store.define("DROP TABLE queue_deliveries");
    embedded = embeddedQueues({ store, clock: { now: () => now }, log: silentLog, resources: QUEUES });
    queues = embedded.port;
    expect(await receive("twice")).toMatchObject([{ body: "old", receiveCount: 2, interrupted: 1 }]);
  });

  it("delivers nothing of a send whose commit failed", async () => {
    store.define("PRAGMA query_only = 1");
    await expect(queues.send("standard", [{ body: "lost" }])).rejects.toMatchObject({
      code: "storage_read_only",
    });
    store.define("PRAGMA query_only = 0");
    expect(await receive("standard")).toEqual([]);
    await queues.send("standard", [{ body: "held" }]);
    expect(await receive("standard")).toMatchObject([{ body: "held" }]);
  });

  it("keeps a message whose delete failed", async () => {
    await queues.send("standard", [{ body: "x" }]);
    const [message] = await receive("standard");
    store.define("PRAGMA query_only = 1");
    await expect(queues.delete("standard", [message!.receipt])).rejects.toMatchObject({
      code: "storage_read_only",
    });
    store.define("PRAGMA query_only = 0");
    expect(await queues.depth("standard")).toMatchObject({ inFlight: 1 });
    await queues.delete("standard", [message!.receipt]);
    expect(await queues.depth("standard")).toMatchObject({ inFlight: 0, visible: 0 });
  });

  it("ignores a receipt of an earlier delivery", async () => {
    await queues.send("standard", [{ body: "x" }]);
    const [first] = await receive("standard");
    await queues.changeVisibility("standard", first!.receipt, 0);
    const [second] = await receive("standard");
    await queues.delete("standard", [first!.receipt]);
    await queues.changeVisibility("standard", first!.receipt, 0);
    expect(await queues.depth("standard")).toMatchObject({ inFlight: 1 });
    await queues.delete("standard", [second!.receipt]);
    expect(await queues.depth("standard")).toMatchObject({ inFlight: 0, visible: 0 });
  });

  it("does not deliver messages beyond the retention period", async () => {
    await queues.send("standard", [{ body: "old" }]);
    now += 61_000;
    await queues.send("standard", [{ body: "new" }]);
    expect((await receive("standard")).map(({ body }) => body)).toEqual(["new"]);
  });

  it("distributes messages among waiting receivers", async () => {
    const waiting = [1, 2, 3].map(() =>
      queues.receive("standard", { max: 1, visibilitySeconds: 30, waitSeconds: 10 }),
    );
    await queues.send(
      "standard",
      ["a", "b", "c"].map((body) => ({ body })),
    );
    expect((await Promise.all(waiting)).flat().map(({ body }) => body)).toEqual(["a", "b", "c"]);
  });

  it(
    "ends waits when it is closed",
    async () => {
      const waiting = queues.receive("standard", { max: 1, visibilitySeconds: 30, waitSeconds: 20 });
      embedded.close();
      expect(await waiting).toEqual([]);
    },
    ENDS_MS,
  );

  it(
    "serves a wait that begins while the deliveries of a restart are counted",
    async () => {
      await queues.send("standard", [{ body: "before" }]);
      restart();
      const first = receive("standard");
      const waiting = queues.receive("standard", { max: 1, visibilitySeconds: 30, waitSeconds: 20 });
      await queues.send("standard", [{ body: "after" }]);
      expect((await waiting).map(({ body }) => body)).toEqual(["after"]);
      expect((await first).map(({ body }) => body)).toEqual(["before"]);
    },
    ENDS_MS,
  );

  it("delivers waiting messages of one FIFO group together, and later ones after all of those are deleted or released", async () => {
    await queues.send(
      "fifo",
      ["1", "2", "3", "4"].map((body) => ({ body, groupId: "g" })),
    );
    const [first, second, third] = await receive("fifo", 3);
    expect([first, second, third].map((message) => message?.body)).toEqual(["1", "2", "3"]);
    await queues.delete("fifo", [first!.receipt, third!.receipt]);
    expect(await receive("fifo")).toEqual([]);
    await queues.changeVisibility("fifo", second!.receipt, 0);
    expect((await receive("fifo")).map(({ body }) => body)).toEqual(["2", "4"]);
  });

  it("keeps the order of every FIFO group under any interleaving of sends, failures and deletes", async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant("send" as const), group: fc.integer({ min: 0, max: 3 }) }),
      fc.record({
        kind: fc.constantFrom("delete" as const, "fail" as const),
        max: fc.integer({ min: 1, max: 4 }),
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        let sent = 0;
        const waiting = new Map<string, string[]>();
        const take = async (max: number, fails: boolean): Promise<number> => {
          const messages = await receive("fifo", max);
          for (const [groupId = "", together] of Map.groupBy(messages, (message) => message.groupId)) {
            const bodies = together.map(({ body }) => body);
            expect(bodies).toEqual(waiting.get(groupId)?.slice(0, bodies.length));
          }
          // The group stays blocked until all its delivered messages are deleted or released.
          for (const [at, { groupId = "", body, receipt }] of messages.entries()) {
            const held = new Set(messages.slice(at).map((message) => message.groupId));
            const others = await receive("fifo", 1);
            expect(others.filter((other) => held.has(other.groupId))).toEqual([]);
            for (const other of others) await queues.changeVisibility("fifo", other.receipt, 0);
            if (fails) {
              await queues.changeVisibility("fifo", receipt, 0);
            } else {
              waiting.set(groupId, waiting.get(groupId)?.filter((one) => one !== body) ?? []);
              await queues.delete("fifo", [receipt]);
            }
          }
          return messages.length;
        };
        for (const action of steps) {
          if (action.kind === "send") {
            const groupId = `g${action.group}`;
            const body = `${sent++}`;
            waiting.set(groupId, [...(waiting.get(groupId) ?? []), body]);
            await queues.send("fifo", [{ body, groupId }]);
          } else {
            await take(action.max, action.kind === "fail");
          }
        }
        while ((await take(4, false)) > 0);
        expect([...waiting.values()].flat()).toEqual([]);
      }),
      { numRuns: 40, endOnFailure: true },
    );
  });
});
