import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { emitEvents } from "#lib/events/publish.ts";
import { type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { consumer } from "./index-events.ts";

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps();
});
afterEach(() => test.close());

const record = (topics: readonly string[]) =>
  emitEvents(
    test.deps,
    topics.map((topic) => ({ topic, source: "api", data: {} })),
  );
const receive = () =>
  test.deps.queues.receive("index-events", { max: 10, visibilitySeconds: 30, waitSeconds: 0 });
const index = (messages: Awaited<ReturnType<typeof receive>>) =>
  consumer.run(
    messages.map((message) => ({ ...message, queue: "index-events", body: JSON.parse(message.body) })),
    test.deps,
    { signal: new AbortController().signal },
  );

it("indexes all events recorded before its message was delivered, which represents all of them", async () => {
  await record(Array.from({ length: 40 }, (_, n) => `t${n}`));
  for (let n = 0; n < 120; n += 1) await record([`u${n}`]);
  const messages = await receive();
  expect(messages).toHaveLength(1);
  await index(messages);
  expect(await test.deps.eventIndex.last()).toBe(160);
});

it("sends a message for the rest when its time is over, and finishes by these", async () => {
  for (let n = 0; n < 150; n += 1) await record([`u${n}`]);
  const clock = vi.spyOn(performance, "now");
  try {
    // Each reading of the clock advances it by one turn.
    let now = 0;
    clock.mockImplementation(() => {
      now += 11_000;
      return now;
    });
    for (let turns = 0; turns < 10; turns += 1) {
      const messages = await receive();
      if (messages.length === 0) break;
      expect(messages).toHaveLength(1);
      await index(messages);
      await test.deps.queues.delete(
        "index-events",
        messages.map(({ receipt }) => receipt),
      );
    }
  } finally {
    clock.mockRestore();
  }
  expect(await test.deps.eventIndex.last()).toBe(150);
  expect((await test.deps.queues.depth("index-events")).visible).toBe(0);
});

it("gets another message for events recorded after its message was delivered", async () => {
  await record(["a"]);
  const first = await receive();
  await record(["b"]);
  await record(["c"]);
  await index(first);
  await test.deps.queues.delete(
    "index-events",
    first.map(({ receipt }) => receipt),
  );
  const second = await receive();
  expect(second).toHaveLength(1);
  await index(second);
  expect(await test.deps.eventIndex.last()).toBe(3);
});

it("gets all messages in one group, so that one indexer runs at a time", async () => {
  await emitEvents(test.deps, [{ topic: "a", source: "api", data: {} }]);
  await emitEvents(test.deps, [{ topic: "b", source: "api", data: {} }]);
  const wanted = { max: 1, visibilitySeconds: 30, waitSeconds: 0 };
  const [first] = await test.deps.queues.receive("index-events", wanted);
  expect(first?.groupId).toBe("index-events");
  expect(await test.deps.queues.receive("index-events", wanted)).toEqual([]);
});
