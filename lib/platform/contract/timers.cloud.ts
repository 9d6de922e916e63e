import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CloudSubject, openCloudSubject } from "./aws-subject.ts";
import { receiveMessages } from "./resources.ts";

const QUEUE = "contract-standard";
const FIFO = "contract-fifo";
const HOUR_MS = 3_600_000;

describe("timers beyond the maximum delay of a message", () => {
  let subject: CloudSubject;
  beforeAll(async () => {
    subject = await openCloudSubject();
  });
  afterAll(() => subject.close());

  const empty = { visible: 0, inFlight: 0, delayed: 0 };

  it("wait for the first sweep at which they are due, and are sent once", async () => {
    const now = Date.now();
    await subject.ports.timers.set(randomUUID(), now + HOUR_MS, QUEUE, { body: "due" });
    await subject.ports.timers.set(randomUUID(), now + 3 * HOUR_MS, QUEUE, { body: "later" });
    expect(await subject.sweepTimers(now)).toBe(0);
    expect(await subject.ports.queues.depth(QUEUE)).toEqual(empty);
    expect(await subject.sweepTimers(now + HOUR_MS)).toBe(1);
    expect((await receiveMessages(subject.ports, QUEUE, 1)).map(({ body }) => body)).toEqual(["due"]);
    expect(await subject.sweepTimers(now + 2 * HOUR_MS)).toBe(0);
    expect(await subject.sweepTimers(now + 4 * HOUR_MS)).toBe(1);
    expect((await receiveMessages(subject.ports, QUEUE, 1)).map(({ body }) => body)).toEqual(["later"]);
  });

  it("are moved when set again, and dropped when cancelled", async () => {
    const now = Date.now();
    const [moved, cancelled] = [randomUUID(), randomUUID()];
    await subject.ports.timers.set(moved, now + HOUR_MS, QUEUE, { body: "before" });
    await subject.ports.timers.set(cancelled, now + HOUR_MS, QUEUE, { body: "cancelled" });
    await subject.ports.timers.set(moved, now + 2 * HOUR_MS, QUEUE, { body: "after" });
    await subject.ports.timers.cancel(cancelled);
    expect(await subject.sweepTimers(now + HOUR_MS)).toBe(0);
    expect(await subject.sweepTimers(now + 2 * HOUR_MS)).toBe(1);
    expect((await receiveMessages(subject.ports, QUEUE, 1)).map(({ body }) => body)).toEqual(["after"]);
  });

  it("of a FIFO queue, which cannot delay messages, are always swept and keep their group", async () => {
    const now = Date.now();
    const [groupId, deduplicationId] = [randomUUID(), randomUUID()];
    await subject.ports.timers.set(randomUUID(), now + 5000, FIFO, {
      body: "fifo",
      groupId,
      deduplicationId,
    });
    expect(await subject.sweepTimers(now)).toBe(0);
    expect(await subject.sweepTimers(now + 6000)).toBe(1);
    expect(await receiveMessages(subject.ports, FIFO, 1)).toMatchObject([{ body: "fifo", groupId }]);
  });

  it("are all sent if there are several pages of them", async () => {
    const now = Date.now();
    const bodies = Array.from({ length: 230 }, (_, n) => `${n}`);
    await Promise.all(
      bodies.map((body) =>
        subject.ports.timers.set(randomUUID(), now + HOUR_MS + Number(body), QUEUE, { body }),
      ),
    );
    expect(await subject.sweepTimers(now + HOUR_MS + 1000)).toBe(230);
    const sent = await receiveMessages(subject.ports, QUEUE, 230);
    expect(sent.map(({ body }) => Number(body)).sort((a, b) => a - b)).toEqual(bodies.map(Number));
  });
});
