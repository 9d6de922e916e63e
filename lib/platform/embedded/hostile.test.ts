import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CONTRACT_RESOURCES, ITEMS } from "../contract/resources.ts";
import type { HostileOptions } from "./hostile.ts";
import type { EmbeddedPlatform } from "./platform.ts";
import { openForTest, temporaryFolder } from "./test-platform.ts";

describe("the hostile platform", () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let platform: EmbeddedPlatform | undefined;
  const open = async (hostile?: HostileOptions): Promise<EmbeddedPlatform["ports"]> => {
    await platform?.close();
    platform = await openForTest(folder.path, CONTRACT_RESOURCES, hostile === undefined ? {} : { hostile });
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

  /** Bodies in the order of delivery; every message is deleted when it comes. */
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
    expect(bodies.filter((body, at) => body !== bodies[at - 1])).toEqual(numbers);
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

  it("can die at each commit of an outbox, before or after it, in order and with nothing in between", async () => {
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

  it("rejects every call under way and every later one once it crashed", async () => {
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
});
