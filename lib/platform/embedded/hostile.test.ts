import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Clock } from "../clock.ts";
import { CONTRACT_RESOURCES, ITEMS } from "../contract/resources.ts";
import type { HostileOptions } from "./hostile.ts";
import type { EmbeddedPlatform } from "./platform.ts";
import { openForTest, temporaryFolder } from "./test-platform.ts";

describe("the hostile platform", () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let platform: EmbeddedPlatform | undefined;
  const open = async (hostile?: HostileOptions, clock?: Clock): Promise<EmbeddedPlatform["ports"]> => {
    await platform?.close();
    platform = await openForTest(folder.path, CONTRACT_RESOURCES, {
      ...(hostile === undefined ? {} : { hostile }),
      ...(clock === undefined ? {} : { clock }),
    });
    return platform.ports;
  };
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(async () => {
    await platform?.close();
    platform = undefined;
    await folder.remove();
  });

  /** Bodies in the order of delivery; deletes every message at its delivery. */
  const consume = async (ports: EmbeddedPlatform["ports"], queue: string): Promise<string[]> => {
    const bodies: string[] = [];
    for (let empty = 0; empty < 2; ) {
      const messages = await ports.queues.receive(queue, { max: 5, visibilitySeconds: 30, waitSeconds: 0 });
      empty = messages.length === 0 ? empty + 1 : 0;
      bodies.push(...messages.map(({ body }) => body));
      await ports.queues.delete(
        queue,
        messages.map(({ receipt }) => receipt),
      );
    }
    return bodies;
  };
  const numbers = Array.from({ length: 60 }, (_, n) => `${n}`);

  it("delivers every message of a standard queue at least once, some twice, and out of order", async () => {
    const ports = await open({ seed: 7, duplicates: 0.3, reorders: 0.3 });
    await ports.queues.send(
      "contract-standard",
      numbers.map((body) => ({ body })),
    );
    const bodies = await consume(ports, "contract-standard");
    expect([...new Set(bodies)].sort()).toEqual([...numbers].sort());
    expect(bodies.length).toBeGreaterThan(numbers.length);
    expect([...new Set(bodies)]).not.toEqual(numbers);
    expect(await ports.queues.depth("contract-standard")).toMatchObject({ visible: 0, inFlight: 0 });
  });

  it("delivers some messages of a FIFO queue twice, and never out of order", async () => {
    const ports = await open({ seed: 7, duplicates: 0.3, reorders: 0.9 });
    await ports.queues.send(
      "contract-fifo",
      numbers.map((body) => ({ body, groupId: "g" })),
    );
    const bodies = await consume(ports, "contract-fifo");
    expect(bodies.length).toBeGreaterThan(numbers.length);
    // A second delivery follows the messages that were delivered with the first.
    expect([...new Set(bodies)]).toEqual(numbers);
  });

  it("misbehaves the same way for the same seed", async () => {
    const orders: string[][] = [];
    for (const seed of [1, 1, 2]) {
      const ports = await open({ seed, duplicates: 0.3, reorders: 0.3 });
      await ports.queues.send(
        "contract-standard",
        numbers.map((body) => ({ body })),
      );
      orders.push(await consume(ports, "contract-standard"));
    }
    expect(orders[0]).toEqual(orders[1]);
    expect(orders[0]).not.toEqual(orders[2]);
  });

  const commitAll = async (ports: EmbeddedPlatform["ports"]): Promise<void> => {
    await ports.outbox.commit({
      writes: [{ op: "put", table: ITEMS, item: { pk: "p", sk: "1" } }],
      publish: [{ source: "weft.events", detailType: "x", detail: {} }],
      send: [{ queue: "contract-standard", messages: [{ body: "x" }] }],
    });
  };

  it("can crash at each commit of an outbox, before or after it, in order and with nothing in between", async () => {
    const left = new Set<string>();
    for (const crashAtCommit of [1, 2, 3]) {
      for (const seed of [0, 1, 2, 3]) {
        await platform?.close();
        platform = undefined;
        await folder.remove();
        let crashes = 0;
        const onCrash = (): void => {
          crashes += 1;
        };
        await expect(commitAll(await open({ seed, crashAtCommit, onCrash }))).rejects.toMatchObject({
          code: "crashed",
        });
        expect(crashes).toBe(1);
        const { tables, queues } = await open();
        const item = await tables.get(ITEMS, { pk: "p", sk: "1" });
        const event = (await queues.depth("contract-events")).visible;
        const message = (await queues.depth("contract-standard")).visible;
        left.add([item === undefined ? 0 : 1, event, message].join(""));
      }
    }
    expect([...left].sort()).toEqual(["000", "100", "110", "111"]);
  });

  it("rejects every pending and later call after a crash", async () => {
    const ports = await open({ seed: 1, crashAtCommit: 2 });
    await ports.queues.send("contract-standard", [{ body: "acknowledged" }]);
    const waiting = ports.queues.receive("contract-fifo", { max: 1, visibilitySeconds: 30, waitSeconds: 20 });
    const crashed = { code: "crashed" };
    await Promise.all([
      expect(waiting).rejects.toMatchObject(crashed),
      expect(ports.blobs.put("a", "x")).rejects.toMatchObject(crashed),
    ]);
    await expect(ports.tables.get(ITEMS, { pk: "p", sk: "1" })).rejects.toMatchObject(crashed);
    await expect(commitAll(ports)).rejects.toMatchObject(crashed);
    const after = await open();
    expect(await after.queues.depth("contract-standard")).toMatchObject({ visible: 1 });
  });

  it("delivers some messages late, and loses none", async () => {
    let now = 1_000_000;
    const clock = { now: () => now };
    for (const queue of ["contract-standard", "contract-fifo"]) {
      const ports = await open({ seed: 5, delays: 0.4, delayMs: 20_000 }, clock);
      for (const body of numbers) await ports.queues.send(queue, [{ body, groupId: body }]);
      const [before, after] = [await consume(ports, queue), [] as string[]];
      expect(before.length).toBeGreaterThan(0);
      expect(before.length).toBeLessThan(numbers.length);
      for (let round = 0; round < 10; round += 1) {
        now += 20_000;
        after.push(...(await consume(ports, queue)));
      }
      expect([...before, ...after].toSorted()).toEqual(numbers.toSorted());
    }
  });

  it("shows writes in an index only after a delay, each item in its previous state, and in the table at once", async () => {
    let now = 1_000_000;
    const ports = await open({ seed: 1, indexLagMs: 10_000 }, { now: () => now });
    const { tables } = ports;
    const put = (sk: string, status: string, n: number) =>
      tables.write([{ op: "put", table: ITEMS, item: { pk: "p", sk, status, at: sk, n } }]);
    const found = async (status: string) => {
      const list: [string, number | undefined][] = [];
      let cursor: string | undefined;
      do {
        const page = await tables.query(ITEMS, {
          index: "byStatus",
          pk: status,
          reverse: true,
          limit: 2,
          ...(cursor === undefined ? {} : { cursor }),
        });
        list.push(...page.items.map(({ sk, n }): [string, number | undefined] => [sk, n]));
        cursor = page.cursor;
      } while (cursor !== undefined);
      return list;
    };
    for (const sk of ["a", "b", "c", "d", "e"]) await put(sk, "open", 1);
    expect(await found("open")).toEqual([]);
    expect((await tables.query(ITEMS, { pk: "p" })).items).toHaveLength(5);
    now += 10_000;
    const all = ["e", "d", "c", "b", "a"].map((sk) => [sk, 1]);
    expect(await found("open")).toEqual(all);
    await put("b", "closed", 2);
    await tables.update(ITEMS, { pk: "p", sk: "c" }, { set: { n: 2 } });
    await tables.write([{ op: "delete", table: ITEMS, key: { pk: "p", sk: "d" } }]);
    expect(await found("open")).toEqual(all);
    expect(await found("closed")).toEqual([]);
    now += 10_000;
    expect(await found("open")).toEqual([
      ["e", 1],
      ["c", 2],
      ["a", 1],
    ]);
    expect(await found("closed")).toEqual([["b", 2]]);
  });

  it("never shows an older state of an item in an index after a newer one", async () => {
    let now = 1_000_000;
    const { tables } = await open({ seed: 3, indexLagMs: 1_000 }, { now: () => now });
    let shown = 0;
    for (let n = 1; n <= 60; n += 1) {
      await tables.update(ITEMS, { pk: "p", sk: "x" }, { set: { status: "s", at: "x", n } });
      now += 150;
      const { items } = await tables.query(ITEMS, { index: "byStatus", pk: "s" });
      const seen = items[0]?.n ?? 0;
      expect(seen).toBeGreaterThanOrEqual(shown);
      shown = seen;
    }
    expect(shown).toBeGreaterThan(45);
  });

  it("rejects throttled calls without effect, and loses responses of calls that took effect", async () => {
    const outcomes = async (options: Omit<HostileOptions, "seed">) => {
      await platform?.close();
      platform = undefined;
      await folder.remove();
      const ports = await open({ seed: 11, ...options });
      const codes = await Promise.all(
        numbers.map((sk) =>
          ports.tables.write([{ op: "put", table: ITEMS, item: { pk: "p", sk } }]).then(
            () => "done",
            (error) => String(error.code),
          ),
        ),
      );
      const after = await open();
      const { items } = await after.tables.query(ITEMS, { pk: "p" });
      return { there: items.length, count: (code: string) => codes.filter((one) => one === code).length };
    };
    const throttled = await outcomes({ throttles: 0.2, conflicts: 0.2 });
    expect(throttled.count("throttled")).toBeGreaterThan(5);
    expect(throttled.there).toBe(throttled.count("done"));
    const lost = await outcomes({ lostAnswers: 0.3 });
    expect(lost.count("unavailable")).toBeGreaterThan(5);
    expect(lost.there).toBe(numbers.length);
  });

  it("also rejects reads and sends", async () => {
    const ports = await open({ seed: 2, throttles: 1 });
    const throttled = { code: "throttled" };
    await expect(ports.tables.get(ITEMS, { pk: "p", sk: "1" })).rejects.toMatchObject(throttled);
    await expect(ports.queues.send("contract-standard", [{ body: "x" }])).rejects.toMatchObject(throttled);
    await expect(ports.blobs.get("a")).rejects.toMatchObject(throttled);
    await expect(commitAll(ports)).rejects.toMatchObject(throttled);
    expect((await (await open()).queues.depth("contract-standard")).visible).toBe(0);
  });
});
