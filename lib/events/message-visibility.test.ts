import { afterEach, describe, expect, it, vi } from "vitest";
import type { Log } from "../platform/log.ts";
import { type Consumer, defineConsumer, type QueueEvent, toConsumerHandler } from "./consumer.ts";

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent };

type Change = readonly [queue: string, receipt: string, seconds: number];

function openHandler(run: Consumer["run"], more: { readonly broken?: boolean } = {}) {
  const changes: Change[] = [];
  const consumer = defineConsumer({
    name: "jobs",
    summary: "Of a test",
    queue: { maxReceiveCount: 5, batchSize: 10, concurrency: 2 },
    timeoutSeconds: 900,
    run,
  });
  const queues = {
    changeVisibility: async (queue: string, receipt: string, seconds: number) => {
      changes.push([queue, receipt, seconds]);
      if (more.broken === true) throw new Error("SQS does not answer");
    },
  };
  const deps = { log: silent, queues, queueNamePrefix: "home-", noteLastFailure: async () => {} };
  const handler = toConsumerHandler(consumer, async () => deps as never);
  return { changes, handler, deps };
}

const batch = (...messages: readonly { readonly id: string; readonly receives?: number }[]): QueueEvent => ({
  Records: messages.map(({ id, receives = 1 }) => ({
    messageId: id,
    receiptHandle: `receipt-${id}`,
    body: "{}",
    attributes: { ApproximateReceiveCount: String(receives), SentTimestamp: "0" },
    eventSourceARN: "arn:aws:sqs:eu-west-1:123456789012:home-jobs.fifo",
  })),
});

describe("the visibility of messages in Lambda", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it("is short from the start and is renewed while the function works, so that a crash is noticed", async () => {
    vi.useFakeTimers();
    const finished = Promise.withResolvers<undefined>();
    const { handler, changes } = openHandler(() => finished.promise);
    const result = handler(batch({ id: "a" }, { id: "b" }));
    await vi.advanceTimersByTimeAsync(0);
    const [first] = changes;
    expect(changes.map(([queue, receipt]) => [queue, receipt])).toEqual([
      ["jobs", "receipt-a"],
      ["jobs", "receipt-b"],
    ]);
    expect(first![2]).toBeLessThan(60);
    await vi.advanceTimersByTimeAsync(5 * 60_000);
    const renewals = changes.length / 2;
    expect(renewals * first![2]).toBeGreaterThan(2 * 5 * 60);
    finished.resolve(undefined);
    expect(await result).toEqual({ batchItemFailures: [] });
    await vi.advanceTimersByTimeAsync(5 * 60_000);
    expect(changes.length / 2).toBe(renewals);
  });

  it("ends with a backoff for each failed message, except for the last delivery", async () => {
    const { handler, changes } = openHandler(
      async (messages) => new Map(messages.filter(({ id }) => id !== "b").map(({ id }) => [id, "broken"])),
    );
    await handler(batch({ id: "a" }, { id: "b" }, { id: "c", receives: 4 }, { id: "d", receives: 5 }));
    expect(changes.slice(4)).toEqual([
      ["jobs", "receipt-a", 1],
      ["jobs", "receipt-c", 27],
      ["jobs", "receipt-d", 0],
    ]);
  });

  it("ends with a backoff for all messages if the handler itself fails", async () => {
    const { handler, changes, deps } = openHandler(async () => {
      throw new Error("no tables");
    });
    deps.noteLastFailure = () => Promise.reject(new Error("no tables for the reason either"));
    await expect(handler(batch({ id: "a" }, { id: "b", receives: 5 }))).rejects.toThrow("either");
    expect(changes.slice(2)).toEqual([
      ["jobs", "receipt-a", 1],
      ["jobs", "receipt-b", 0],
    ]);
  });

  it("never fails a batch if SQS does not respond", async () => {
    const { handler } = openHandler(async () => undefined, { broken: true });
    expect(await handler(batch({ id: "a" }))).toEqual({ batchItemFailures: [] });
  });

  it("is managed by the poller of a server or a worker", async () => {
    const { handler, changes, deps } = openHandler(async () => new Map([["a", "broken"]]));
    await handler(batch({ id: "a" }), { weft: deps });
    expect(changes).toEqual([]);
  });
});
