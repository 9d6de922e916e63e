import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { BusEntry, BusEnvelope } from "../bus.ts";
import type { ReceivedMessage } from "../queues.ts";
import { type Differences, ITEMS, onlyMessage, receiveMessages, type Subject } from "./resources.ts";

const detailsOf = (messages: readonly ReceivedMessage[]): unknown[] =>
  messages.map(({ body }) => (JSON.parse(body) as BusEnvelope).detail);

export function messagesContract(subject: Subject, differences: Differences): void {
  // Counts are approximate on AWS: they become exact once nothing changes.
  const eventually = (queue: string) => expect.poll(() => subject().queues.depth(queue), { timeout: 10_000 });
  const event = (detail: Record<string, unknown>): BusEntry => ({
    source: "weft.events",
    detailType: "run.started",
    detail,
  });
  const command = (type: string): BusEntry => ({
    source: "weft.commands",
    detailType: "step.requested",
    detail: { type },
  });

  describe("bus", () => {
    it("sends an envelope to the queue of every matching rule, and to no other", async () => {
      const detail = { id: randomUUID(), text: "é🙂" };
      await subject().bus.publish([event(detail)]);
      const message = onlyMessage(await receiveMessages(subject(), "contract-events", 1));
      expect(JSON.parse(message.body)).toMatchObject({
        version: "0",
        "detail-type": "run.started",
        source: "weft.events",
        resources: [],
        detail,
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      });
      expect(detailsOf(await receiveMessages(subject(), "contract-everything", 1))).toEqual([detail]);
      await eventually("contract-commands").toMatchObject({ visible: 0 });
    });

    it("matches nested fields of the detail", async () => {
      await subject().bus.publish([command("bash"), command("llm"), command("http")]);
      const messages = await receiveMessages(subject(), "contract-commands", 2);
      expect(detailsOf(messages)).toEqual(expect.arrayContaining([{ type: "bash" }, { type: "http" }]));
      expect(await receiveMessages(subject(), "contract-everything", 3)).toHaveLength(3);
      await eventually("contract-commands").toMatchObject({ visible: 0 });
    });

    it("accepts more entries than one AWS request", async () => {
      await subject().bus.publish(Array.from({ length: 25 }, (_, n) => event({ n })));
      expect(await receiveMessages(subject(), "contract-events", 25)).toHaveLength(25);
      expect(await receiveMessages(subject(), "contract-everything", 25)).toHaveLength(25);
    });

    it("rejects an entry above 1 MB", async () => {
      const publishing = subject().bus.publish([event({ text: "x".repeat(1_100_000) })]);
      await expect(publishing).rejects.toMatchObject({ code: "limit_exceeded" });
    });
  });

  describe("outbox", () => {
    const commit = (pk: string, missing: boolean) =>
      subject().outbox.commit({
        writes: [
          { op: "put", table: ITEMS, item: { pk, sk: "a" }, when: [["pk", missing ? "missing" : "exists"]] },
        ],
        publish: [event({ pk })],
        send: [{ queue: "contract-standard", messages: [{ body: pk }] }],
      });

    it("writes, publishes and sends if the conditions hold", async () => {
      const pk = randomUUID();
      expect(await commit(pk, true)).toEqual({ ok: true });
      expect(await subject().tables.get(ITEMS, { pk, sk: "a" })).toEqual({ pk, sk: "a" });
      expect(detailsOf(await receiveMessages(subject(), "contract-events", 1))).toEqual([{ pk }]);
      expect((await receiveMessages(subject(), "contract-standard", 1)).map(({ body }) => body)).toEqual([
        pk,
      ]);
      await receiveMessages(subject(), "contract-everything", 1);
    });

    it("does nothing if one condition does not hold", async () => {
      const pk = randomUUID();
      expect(await commit(pk, false)).toEqual({ ok: false, failed: [0] });
      expect(await subject().tables.get(ITEMS, { pk, sk: "a" })).toBeUndefined();
      expect(await subject().queues.depth("contract-events")).toMatchObject({ visible: 0 });
      expect(await subject().queues.depth("contract-standard")).toMatchObject({ visible: 0 });
    });
  });

  describe("scheduler", () => {
    it("accepts expressions repeatedly, including those that it cannot express", async () => {
      const { scheduler } = subject();
      const expressions = ["0 9 * * *", "0 9 * * 0-6", "0 0 13 * 5", "0 0 31 2 *"];
      await scheduler.ensure(expressions);
      await Promise.all([scheduler.ensure(expressions), scheduler.ensure([])]);
      await scheduler.reconcile(expressions);
      await scheduler.reconcile([]);
      await scheduler.reconcile([]);
      await scheduler.ensure(expressions);
      await scheduler.reconcile([]);
    });
  });

  describe("timers", () => {
    const QUEUE = "contract-standard";

    it("sends the message when it is due, and at once if the time has passed", async () => {
      const due = Date.now() + 1000;
      await subject().timers.set(randomUUID(), due, QUEUE, { body: "soon" });
      await subject().timers.set(randomUUID(), Date.now() - 1000, QUEUE, { body: "over" });
      // In any order: on a busy machine, the second call may take longer than the delay of the first.
      const messages = await receiveMessages(subject(), QUEUE, 2);
      expect(messages.map(({ body }) => body).toSorted()).toEqual(["over", "soon"]);
      expect(Date.now()).toBeGreaterThan(due - 100);
    });

    it("moves a distant timer that is set again, and drops one that is cancelled", async () => {
      const [moved, cancelled] = [randomUUID(), randomUUID()];
      await subject().timers.set(moved, Date.now() + 3_600_000, QUEUE, { body: "before" });
      await subject().timers.set(cancelled, Date.now() + 3_600_000, QUEUE, { body: "cancelled" });
      await subject().timers.cancel(cancelled);
      await subject().timers.cancel(randomUUID());
      await subject().timers.set(moved, Date.now() + 1000, QUEUE, { body: "after" });
      const messages = await receiveMessages(subject(), QUEUE, 1);
      expect(messages.map(({ body }) => body)).toEqual(["after"]);
      await eventually(QUEUE).toEqual({ visible: 0, inFlight: 0, delayed: 0 });
    });

    it.skipIf(differences.timersCannotBeRecalled)("drops a cancelled timer that is almost due", async () => {
      const [moved, cancelled] = [randomUUID(), randomUUID()];
      await subject().timers.set(moved, Date.now() + 1000, QUEUE, { body: "before" });
      await subject().timers.set(cancelled, Date.now() + 1000, QUEUE, { body: "cancelled" });
      await subject().timers.cancel(cancelled);
      await subject().timers.set(moved, Date.now() + 2000, QUEUE, { body: "after" });
      const messages = await receiveMessages(subject(), QUEUE, 1);
      expect(messages.map(({ body }) => body)).toEqual(["after"]);
      await eventually(QUEUE).toEqual({ visible: 0, inFlight: 0, delayed: 0 });
    });
  });
}
