import { afterEach, expect, test } from "vitest";
import type { LastFailure, QueueEvent } from "../lib/events/consumer.ts";
import type { Log } from "../lib/platform/log.ts";
import type { Queues, ReceivedMessage } from "../lib/platform/queues.ts";
import { type AnyHandler, createFunctions } from "./functions.ts";
import { type Pollers, startPollers } from "./pollers.ts";
import { stepLimiter } from "./step-limiter.ts";
import type { TemplateFunction } from "./template.ts";

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent };

type Change = readonly [id: string, seconds: number];

/** A queue in memory that records what is done to it; messages that are given back do not return by themselves. */
class FakeQueue implements Pick<Queues, "receive" | "delete" | "changeVisibility"> {
  readonly waiting: ReceivedMessage[] = [];
  readonly deleted: string[] = [];
  readonly changes: Change[] = [];
  receives = 0;
  broken = 0;
  #wake = Promise.withResolvers<void>();
  readonly #listeners = new Set<() => void>();

  put(...messages: (Partial<ReceivedMessage> & { id: string })[]): void {
    for (const message of messages) {
      this.waiting.push({
        receipt: `receipt-${message.id}`,
        body: "{}",
        receiveCount: 1,
        sentAt: 1000,
        ...message,
      });
    }
    this.#wake.resolve();
  }

  async receive(_queue: string, options: { max: number; signal?: AbortSignal }): Promise<ReceivedMessage[]> {
    this.receives += 1;
    this.#changed();
    if (this.broken > 0) {
      this.broken -= 1;
      throw new Error("no answer");
    }
    const aborted = Promise.withResolvers<void>();
    options.signal?.addEventListener("abort", () => aborted.resolve());
    while (this.waiting.length === 0 && options.signal?.aborted !== true) {
      this.#wake = Promise.withResolvers();
      await Promise.race([this.#wake.promise, aborted.promise]);
    }
    return options.signal?.aborted === true ? [] : this.waiting.splice(0, options.max);
  }

  async delete(_queue: string, receipts: readonly string[]): Promise<void> {
    this.deleted.push(...receipts.map((receipt) => receipt.replace("receipt-", "")));
    this.#changed();
  }

  async changeVisibility(_queue: string, receipt: string, seconds: number): Promise<void> {
    this.changes.push([receipt.replace("receipt-", ""), seconds]);
    this.#changed();
  }

  async until(reached: () => boolean): Promise<void> {
    while (!reached()) await new Promise<void>((resolve) => this.#listeners.add(resolve));
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
  }
}

let pollers: Pollers | undefined;
afterEach(() => pollers?.drain(0));

interface Setup {
  readonly handler: (event: QueueEvent, context: { signal: AbortSignal }) => unknown;
  readonly batchSize?: number;
  readonly concurrency?: number;
  readonly worker?: boolean;
  readonly timeoutSeconds?: number;
  readonly visibilitySeconds?: number;
  readonly noteLastFailure?: (failure: LastFailure) => Promise<void>;
  readonly isUp?: () => Promise<boolean>;
  readonly stepsAtOnce?: number;
}

function start(queue: FakeQueue, setup: Setup): void {
  const fn: TemplateFunction = {
    logicalId: "Consumer",
    entry: "consumer.ts",
    handlerExport: "handler",
    timeoutSeconds: setup.timeoutSeconds ?? 5,
    memoryMb: 128,
    bodyLimitBytes: 0,
    worker: setup.worker ?? false,
    routes: [],
    sources: [
      {
        queue: "jobs",
        batchSize: setup.batchSize ?? 10,
        concurrency: setup.concurrency ?? 2,
        restMs: 0,
        maxReceiveCount: 5,
        visibilitySeconds: setup.visibilitySeconds ?? 30,
        fifo: false,
      },
    ],
  };
  const load = async () => setup.handler as unknown as AnyHandler;
  pollers = startPollers({
    functions: [fn],
    invoke: createFunctions({ root: "/", deps: {}, load }),
    queues: queue,
    log: silent,
    ...(setup.isUp === undefined ? {} : { isUp: setup.isUp }),
    ...(setup.stepsAtOnce === undefined
      ? {}
      : { steps: { gate: stepLimiter(setup.stepsAtOnce), queues: new Set(["jobs"]) } }),
    ...(setup.noteLastFailure === undefined ? {} : { noteLastFailure: setup.noteLastFailure }),
  });
}

const ids = (event: QueueEvent) => event.Records.map((record) => record.messageId);

test("passes a batch like SQS and deletes the handled messages", async () => {
  const queue = new FakeQueue();
  const events: QueueEvent[] = [];
  queue.put({ id: "a", body: '{"x":1}', groupId: "g", receiveCount: 3, sentAt: 42 }, { id: "b" });
  start(queue, { handler: (event) => void events.push(event) });
  await queue.until(() => queue.deleted.length === 2);
  expect(events).toHaveLength(1);
  expect(events[0]?.Records[0]).toMatchObject({
    messageId: "a",
    receiptHandle: "receipt-a",
    body: '{"x":1}',
    attributes: { ApproximateReceiveCount: "3", SentTimestamp: "42", MessageGroupId: "g" },
    eventSource: "aws:sqs",
    eventSourceARN: "arn:aws:sqs:local:000000000000:jobs",
  });
  expect(queue.deleted).toEqual(["a", "b"]);
  expect(queue.changes).toEqual([]);
});

test("releases the failed messages of a batch, with a growing delay, and deletes the others", async () => {
  const queue = new FakeQueue();
  queue.put(
    { id: "a", receiveCount: 1 },
    { id: "b" },
    { id: "c", receiveCount: 4 },
    { id: "d", receiveCount: 5 },
  );
  start(queue, {
    handler: () => ({ batchItemFailures: ["a", "c", "d"].map((itemIdentifier) => ({ itemIdentifier })) }),
  });
  await queue.until(() => queue.deleted.length === 1 && queue.changes.length === 3);
  expect(queue.deleted).toEqual(["b"]);
  expect(queue.changes).toEqual([
    ["a", 0.1],
    ["c", 0.8],
    ["d", 0],
  ]);
});

test("waits a minute at most before the next delivery", async () => {
  const queue = new FakeQueue();
  queue.put({ id: "a", receiveCount: 4 });
  start(queue, { handler: () => ({ batchItemFailures: [{ itemIdentifier: "unknown" }] }) });
  await queue.until(() => queue.changes.length === 1);
  expect(queue.changes[0]?.[1]).toBeLessThanOrEqual(60);
  expect(queue.deleted).toEqual([]);
});

test("fails the whole batch if the handler throws or times out, and records the error of a last delivery", async () => {
  for (const handler of [
    () => Promise.reject(new Error("no")),
    () => new Promise(() => {}),
  ] satisfies Setup["handler"][]) {
    const queue = new FakeQueue();
    const noted: LastFailure[] = [];
    queue.put({ id: "a" }, { id: "b", receiveCount: 5, body: '"b"' });
    start(queue, {
      handler,
      timeoutSeconds: 0.05,
      noteLastFailure: async (failure) => void noted.push(failure),
    });
    await queue.until(() => queue.changes.length === 2);
    expect(queue.changes).toEqual([
      ["a", 0.1],
      ["b", 0],
    ]);
    expect(queue.deleted).toEqual([]);
    expect(noted).toMatchObject([{ queue: "jobs", messageId: "b", body: '"b"', error: expect.any(Error) }]);
    await pollers?.drain(0);
  }
});

test("limits the concurrent invocations of a source", async () => {
  const queue = new FakeQueue();
  const gates: (() => void)[] = [];
  let most = 0;
  let now = 0;
  start(queue, {
    batchSize: 1,
    concurrency: 3,
    handler: () => {
      now += 1;
      most = Math.max(most, now);
      return new Promise<void>((resolve) =>
        gates.push(() => {
          now -= 1;
          resolve();
        }),
      );
    },
  });
  queue.put(...Array.from({ length: 8 }, (_, index) => ({ id: String(index) })));
  await queue.until(() => queue.receives === 3);
  while (queue.deleted.length < 8) {
    const before = queue.deleted.length;
    for (const open of gates.splice(0)) open();
    await queue.until(() => queue.deleted.length > before);
    await new Promise(setImmediate);
  }
  expect(most).toBe(3);
});

test("a worker has no timeout, and its messages stay invisible while it works", async () => {
  const queue = new FakeQueue();
  const done = Promise.withResolvers<void>();
  queue.put({ id: "a" }, { id: "b" });
  start(queue, {
    worker: true,
    timeoutSeconds: 0.01,
    visibilitySeconds: 0.06,
    handler: () => done.promise,
  });
  await queue.until(() => queue.changes.length >= 6);
  expect(new Set(queue.changes.map(String))).toEqual(new Set(["a,0.06", "b,0.06"]));
  done.resolve();
  await queue.until(() => queue.deleted.length === 2);
  const renewals = queue.changes.length;
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(queue.changes.length).toBe(renewals);
});

test("continues after failed receives, with growing delays", async () => {
  const queue = new FakeQueue();
  queue.broken = 3;
  queue.put({ id: "a" });
  const startedAt = performance.now();
  start(queue, { handler: () => undefined });
  await queue.until(() => queue.deleted.length === 1);
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(690);
  expect(queue.receives).toBeGreaterThanOrEqual(4);
});

test("receives no messages while the services do not respond, and continues when they do", async () => {
  const queue = new FakeQueue();
  let up = false;
  let asked = 0;
  let handled = 0;
  queue.put({ id: "a" });
  start(queue, {
    handler: () => {
      handled += 1;
      if (!up) throw new Error("the tables do not answer");
    },
    isUp: async () => {
      asked += 1;
      if (asked === 3) up = true;
      return up;
    },
  });
  const untilHandled = async (count: number): Promise<void> => {
    while (handled < count) await new Promise(setImmediate);
  };
  await untilHandled(1);
  // The receive that was under way takes it.
  queue.put({ id: "b" });
  await untilHandled(2);
  queue.put({ id: "c" });
  await queue.until(() => queue.deleted.length === 3);
  expect([asked, handled, queue.deleted.toSorted()]).toEqual([3, 5, ["a", "b", "c"]]);
});

test("an outage does not count as a delivery: failed messages wait for its end and are then tried again", async () => {
  const queue = new FakeQueue();
  let up = false;
  const tried: string[] = [];
  queue.put({ id: "a", receiveCount: 5 }, { id: "b" });
  start(queue, {
    handler: (event) => {
      for (const { messageId, attributes } of event.Records)
        tried.push(`${messageId} ${attributes.ApproximateReceiveCount} ${attributes.WeftInterrupted ?? 0}`);
      return up ? undefined : { batchItemFailures: [{ itemIdentifier: "a" }] };
    },
    isUp: async () => {
      const answer = up;
      up = true;
      return answer;
    },
  });
  await queue.until(() => queue.deleted.length === 2);
  expect(tried).toEqual(["a 5 0", "b 1 0", "a 5 1"]);
  expect(queue.deleted).toEqual(["b", "a"]);
  expect(queue.changes).toEqual([]);
});

test("stops at once while the services do not respond", async () => {
  const queue = new FakeQueue();
  queue.put({ id: "a" });
  const isUp = async () => false;
  const begun = Promise.withResolvers<void>();
  const handler = () => {
    begun.resolve();
    return Promise.reject(new Error("the tables do not answer"));
  };
  start(queue, { isUp, handler });
  await begun.promise;
  const startedAt = performance.now();
  await pollers?.drain(5_000);
  expect(performance.now() - startedAt).toBeLessThan(900);
});

test("polls a queue less often if it returns no messages immediately", async () => {
  const queue = new FakeQueue();
  let receives = 0;
  queue.receive = async () => {
    receives += 1;
    return [];
  };
  start(queue, { handler: () => undefined });
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(receives).toBeLessThan(20);
});

test("a drain receives no more messages and waits for those in progress", async () => {
  const queue = new FakeQueue();
  const begun = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  queue.put({ id: "a" });
  start(queue, {
    handler: async () => {
      begun.resolve();
      await release.promise;
    },
  });
  await begun.promise;
  const drained = pollers!.drain(5000);
  queue.put({ id: "b" });
  release.resolve();
  await drained;
  expect(queue.deleted).toEqual(["a"]);
  expect(queue.waiting.map(({ id }) => id)).toEqual(["b"]);
});

test("a drain aborts invocations that take too long and releases their messages at once", async () => {
  const queue = new FakeQueue();
  const begun = Promise.withResolvers<void>();
  const ends = Promise.withResolvers<string[]>();
  queue.put({ id: "a", receiveCount: 3 });
  start(queue, {
    worker: true,
    handler: (event, { signal }) => {
      begun.resolve();
      return new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          ends.resolve(ids(event));
          reject(signal.reason);
        });
      });
    },
  });
  await begun.promise;
  await pollers!.drain(20);
  expect(await ends.promise).toEqual(["a"]);
  expect(queue.changes).toEqual([["a", 0]]);
  expect(queue.deleted).toEqual([]);
});

test("a drain ends even if a handler does not, and releases its messages", async () => {
  const queue = new FakeQueue();
  const begun = Promise.withResolvers<void>();
  queue.put({ id: "a" });
  start(queue, {
    worker: true,
    handler: () => {
      begun.resolve();
      return new Promise(() => {});
    },
  });
  await begun.promise;
  await pollers!.drain(20);
  expect(queue.changes).toEqual([["a", 0]]);
});

test("limits concurrent steps, and starts waiting ones as others end", async () => {
  const queue = new FakeQueue();
  const ends: (() => void)[] = [];
  const begun: string[] = [];
  let most = 0;
  let now = 0;
  queue.put(...["a", "b", "c", "d", "e"].map((id) => ({ id })));
  start(queue, {
    batchSize: 1,
    concurrency: 5,
    stepsAtOnce: 2,
    handler: async (event) => {
      begun.push(...ids(event));
      now += 1;
      most = Math.max(most, now);
      await new Promise<void>((resolve) => ends.push(resolve));
      now -= 1;
    },
  });
  while (queue.deleted.length < 5) {
    ends.shift()?.();
    await new Promise(setImmediate);
  }
  expect(most).toBe(2);
  expect(begun.toSorted()).toEqual(["a", "b", "c", "d", "e"]);
});

test("a step that waits for room stops waiting when its signal aborts", async () => {
  const gate = stepLimiter(1);
  expect(gate.tryEnter()).toBe(true);
  const stopping = new AbortController();
  const entered = gate.acquire(stopping.signal);
  expect(gate.isFull).toBe(true);
  stopping.abort();
  expect(await entered).toBe(false);
  gate.release();
  expect(gate.isFull).toBe(false);
  expect(await gate.acquire(new AbortController().signal)).toBe(true);
});
