import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type Differences, onlyMessage, receiveMessages, type Subject } from "./resources.ts";

/** An aborted wait ends long before its 20 s have passed. */
const ENDS_MS = 10_000;

const STANDARD = "contract-standard";
const FIFO = "contract-fifo";

export function queuesContract(subject: Subject, differences: Differences): void {
  // Counts are approximate on AWS: they become exact once nothing changes.
  const eventually = (queue: string) => expect.poll(() => subject().queues.depth(queue), { timeout: 10_000 });
  const receive = (
    queue: string,
    options: { max?: number; visibilitySeconds?: number; waitSeconds?: number } = {},
  ) => subject().queues.receive(queue, { max: 10, visibilitySeconds: 30, waitSeconds: 1, ...options });

  describe("queues: standard", () => {
    it("delivers a message, and never again after its deletion", async () => {
      const body = JSON.stringify({ text: "é🙂\u0000\n" });
      await subject().queues.send(STANDARD, [{ body }]);
      const message = onlyMessage(await receive(STANDARD));
      expect(message).toMatchObject({ body, receiveCount: 1 });
      expect(Math.abs(message.sentAt - Date.now())).toBeLessThan(60_000);
      await subject().queues.delete(STANDARD, [message.receipt]);
      expect(await receive(STANDARD, { waitSeconds: 0 })).toEqual([]);
      await eventually(STANDARD).toEqual({ visible: 0, inFlight: 0, delayed: 0 });
    });

    it("delivers each of many messages", async () => {
      const bodies = Array.from({ length: 35 }, (_, index) => `${index}`);
      await subject().queues.send(
        STANDARD,
        bodies.map((body) => ({ body })),
      );
      const messages = await receiveMessages(subject(), STANDARD, bodies.length);
      expect(messages.map(({ body }) => body).sort()).toEqual([...bodies].sort());
    });

    it("hides a delivered message until its visibility timeout ends, then counts the next delivery", async () => {
      await subject().queues.send(STANDARD, [{ body: "hidden" }]);
      const first = onlyMessage(await receive(STANDARD, { visibilitySeconds: 1 }));
      expect(await receive(STANDARD, { waitSeconds: 0 })).toEqual([]);
      const second = onlyMessage(await receive(STANDARD, { waitSeconds: 5 }));
      expect(second).toMatchObject({ id: first.id, receiveCount: 2 });
      await subject().queues.delete(STANDARD, [second.receipt]);
    });

    it("makes a message visible at once, and extends its visibility timeout", async () => {
      await subject().queues.send(STANDARD, [{ body: "back" }]);
      const first = onlyMessage(await receive(STANDARD));
      await subject().queues.changeVisibility(STANDARD, first.receipt, 0);
      const second = onlyMessage(await receive(STANDARD, { visibilitySeconds: 1, waitSeconds: 5 }));
      await subject().queues.changeVisibility(STANDARD, second.receipt, 30);
      await sleep(1500);
      expect(await receive(STANDARD, { waitSeconds: 0 })).toEqual([]);
      await subject().queues.delete(STANDARD, [second.receipt]);
    });

    it("wakes a waiting receiver", async () => {
      const waiting = receive(STANDARD, { waitSeconds: 10 });
      await subject().queues.send(STANDARD, [{ body: "wake" }]);
      const message = onlyMessage(await waiting);
      await subject().queues.delete(STANDARD, [message.receipt]);
    });

    it(
      "ends an aborted wait with an empty list",
      async () => {
        const abort = new AbortController();
        const options = { max: 1, visibilitySeconds: 30, waitSeconds: 20, signal: abort.signal };
        const waiting = subject().queues.receive(STANDARD, options);
        abort.abort();
        expect(await waiting).toEqual([]);
      },
      ENDS_MS,
    );

    it("delays a message", async () => {
      await subject().queues.send(STANDARD, [{ body: "later", delaySeconds: 1 }]);
      expect(await receive(STANDARD, { waitSeconds: 0 })).toEqual([]);
      await eventually(STANDARD).toMatchObject({ delayed: 1 });
      const message = onlyMessage(await receive(STANDARD, { waitSeconds: 5 }));
      expect(message.body).toBe("later");
      await subject().queues.delete(STANDARD, [message.receipt]);
    });

    it("counts waiting messages and messages in flight", async () => {
      await subject().queues.send(STANDARD, [{ body: "a" }, { body: "b" }, { body: "c" }]);
      const out = onlyMessage(await receive(STANDARD, { max: 1 }));
      await eventually(STANDARD).toEqual({ visible: 2, inFlight: 1, delayed: 0 });
      await subject().queues.delete(STANDARD, [out.receipt]);
      await receiveMessages(subject(), STANDARD, 2);
    });

    it.each([
      ["a message above 1 MB", { body: "é".repeat(600_000) }],
      ["an empty message", { body: "" }],
      ["a delay above 15 minutes", { body: "x", delaySeconds: 901 }],
    ])("refuses %s", async (_, message) => {
      await expect(subject().queues.send(STANDARD, [message])).rejects.toMatchObject({
        code: "limit_exceeded",
      });
    });
  });

  describe("queues: dead letters", () => {
    it("moves a message that was delivered too often, with its body", async () => {
      const body = randomUUID();
      await subject().queues.send("contract-poison", [{ body }]);
      for (const count of [1, 2]) {
        const message = onlyMessage(await receive("contract-poison", { waitSeconds: 5 }));
        expect(message.receiveCount).toBe(count);
        await subject().queues.changeVisibility("contract-poison", message.receipt, 0);
      }
      expect(await receive("contract-poison")).toEqual([]);
      const dead = onlyMessage(await receive("contract-dead", { waitSeconds: 5 }));
      expect(dead.body).toBe(body);
      await subject().queues.delete("contract-dead", [dead.receipt]);
    });
  });

  describe("queues: FIFO", () => {
    const send = (groupId: string, body: string, deduplicationId: string = randomUUID()): Promise<void> =>
      subject().queues.send(FIFO, [{ body, groupId, deduplicationId }]);

    it("delivers the messages of a group in order, and those of other groups meanwhile", async () => {
      const [one, two] = [randomUUID(), randomUUID()];
      for (const body of ["1", "2", "3"]) await send(one, body);
      const first = onlyMessage(await receive(FIFO, { max: 1 }));
      expect(first).toMatchObject({ body: "1", groupId: one });
      await send(two, "other");
      const other = onlyMessage(await receive(FIFO, { max: 1 }));
      expect(other).toMatchObject({ body: "other", groupId: two });
      expect(await receive(FIFO, { max: 1, waitSeconds: 0 })).toEqual([]);
      await subject().queues.delete(FIFO, [first.receipt, other.receipt]);
      const rest = await receiveMessages(subject(), FIFO, 2);
      expect(rest.map(({ body }) => body)).toEqual(["2", "3"]);
    });

    it("redelivers a message of a group before the next one", async () => {
      const group = randomUUID();
      await send(group, "1");
      await send(group, "2");
      const first = onlyMessage(await receive(FIFO, { max: 1 }));
      await subject().queues.changeVisibility(FIFO, first.receipt, 0);
      const again = onlyMessage(await receive(FIFO, { max: 1 }));
      expect(again).toMatchObject({ body: "1", receiveCount: 2 });
      await subject().queues.delete(FIFO, [again.receipt]);
      expect((await receiveMessages(subject(), FIFO, 1)).map(({ body }) => body)).toEqual(["2"]);
    });

    it("drops a second message with the same deduplication id", async () => {
      const [group, id] = [randomUUID(), randomUUID()];
      await send(group, "once", id);
      await send(group, "twice", id);
      expect((await receiveMessages(subject(), FIFO, 1)).map(({ body }) => body)).toEqual(["once"]);
      expect(await receive(FIFO, { waitSeconds: 0 })).toEqual([]);
    });

    it.skipIf(differences.deduplicationEndsWithDelete)(
      "drops a second message also after the first was deleted",
      async () => {
        const [group, id] = [randomUUID(), randomUUID()];
        await send(group, "once", id);
        expect(await receiveMessages(subject(), FIFO, 1)).toHaveLength(1);
        await send(group, "twice", id);
        expect(await receive(FIFO, { waitSeconds: 0 })).toEqual([]);
      },
    );
  });
}
