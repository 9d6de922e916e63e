import { afterEach, beforeEach, expect, it } from "vitest";
import { emitEvents } from "#lib/events/publish.ts";
import { type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { consumer } from "./index-events.ts";

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps();
});
afterEach(() => test.close());

/** Emits so many events, hands the first messages over, and answers how many records the index holds then. */
async function indexedAfter(events: number, messages: number): Promise<number> {
  const drafts = Array.from({ length: events }, (_, n) => ({ topic: `t${n}`, source: "api", data: {} }));
  await emitEvents(test.deps, drafts);
  const wanted = { max: messages, visibilitySeconds: 30, waitSeconds: 0 };
  const received = await test.deps.queues.receive("index-events", wanted);
  expect(received).toHaveLength(messages);
  await consumer.run(
    received.map((message) => ({ ...message, queue: "index-events", body: JSON.parse(message.body) })),
    test.deps,
    { signal: new AbortController().signal },
  );
  return test.deps.eventIndex.last();
}

it("indexes what its messages tell of", async () => {
  expect(await indexedAfter(30, 9)).toBe(9);
});

it("indexes what else waits along with a full batch, whose messages then find it done", async () => {
  expect(await indexedAfter(30, 10)).toBe(30);
  await test.drain();
  expect(await test.deps.eventIndex.last()).toBe(30);
});

it("gets all messages in one group, so that one indexer is at work at a time", async () => {
  await emitEvents(test.deps, [{ topic: "a", source: "api", data: {} }]);
  await emitEvents(test.deps, [{ topic: "b", source: "api", data: {} }]);
  const wanted = { max: 1, visibilitySeconds: 30, waitSeconds: 0 };
  const [first] = await test.deps.queues.receive("index-events", wanted);
  expect(first?.groupId).toBe("index-events");
  expect(await test.deps.queues.receive("index-events", wanted)).toEqual([]);
});
