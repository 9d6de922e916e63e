import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { indexInTurn } from "#lib/events/log/indexer-lease.ts";
import { type EventFilters, type EventRecord, listEvents } from "#lib/events/log/list.ts";
import { failEvent, processedWrite, resendPending, reviveEvent } from "#lib/events/log/process.ts";
import { EVENT_INDEX } from "#lib/events/log/table.ts";
import { readUnindexedIds } from "#lib/events/log/tail.ts";
import { emitEvents } from "#lib/events/publish.ts";
import type { Tables } from "#lib/platform/tables.ts";
import { RankedIndex } from "#lib/ranked-index/ranked-index.ts";
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

describe("where partitions have limits, as on AWS", () => {
  /** Another process of the same installation. */
  const limited = () => {
    const tables: Tables = { ...test.deps.tables, partitionLimits: true };
    return { ...test.deps, tables, eventIndex: new RankedIndex({ tables }, EVENT_INDEX) };
  };
  const recordIn = (deps: ReturnType<typeof limited>, topic: string) =>
    emitEvents(deps, [{ topic, source: "api", data: {} }]);
  const indexIn = (deps: ReturnType<typeof limited>, ids: readonly string[]) =>
    consumer.run(
      ids.map((event_id) => ({
        id: event_id,
        queue: "index-events",
        body: { "detail-type": "event.recorded", detail: { event_id } } as never,
        receiveCount: 1,
        sentAt: 0,
      })),
      deps,
      { signal: new AbortController().signal },
    );

  it("one process indexes at a time, and does what others leave to it meanwhile", async () => {
    const deps = limited();
    const others = limited();
    const [event] = await recordIn(others, "a");
    const turns: boolean[] = [];
    await indexInTurn(
      deps,
      async ({ isForOthers }) => {
        turns.push(isForOthers);
        if (!isForOthers) await indexIn(others, [event?.event_id ?? ""]);
      },
      neverWoken,
    );
    expect(turns).toEqual([false, true]);
    expect(await deps.eventIndex.last()).toBe(0);
    await indexIn(others, [event?.event_id ?? ""]);
    expect(await deps.eventIndex.last()).toBe(1);
  });

  it("takes the lease of a process that died, and then looks for all records", async () => {
    const deps = limited();
    const [event] = await recordIn(deps, "a");
    await new Promise<void>((resolve) => {
      const dying = () => {
        resolve();
        return new Promise<void>(() => undefined);
      };
      void indexInTurn(deps, dying, neverWoken);
    });
    await indexIn(deps, ["0".repeat(36)]);
    expect(await deps.eventIndex.last()).toBe(0);
    test.clock.advance(60_000);
    await indexIn(deps, ["0".repeat(36)]);
    expect(await deps.eventIndex.last()).toBe(1);
    expect((await readLog(deps)).map(({ event_id }) => event_id)).toEqual([event?.event_id]);
  });

  it("a failing process leaves the work of others, too, to the next one", async () => {
    const deps = limited();
    const others = limited();
    const [event] = await recordIn(others, "a");
    const failing = async () => {
      await indexIn(others, [event?.event_id ?? ""]);
      throw new Error("no index");
    };
    await expect(indexInTurn(deps, failing, neverWoken)).rejects.toThrow("no index");
    expect(await deps.eventIndex.last()).toBe(0);
    await indexIn(deps, ["0".repeat(36)]);
    expect(await deps.eventIndex.last()).toBe(1);
  });

  it("a process whose work does not end wakes another one, which looks for all records", async () => {
    const deps = limited();
    const others = limited();
    const [event] = await recordIn(others, "a");
    let turns = 0;
    const index = async () => {
      turns += 1;
      if (turns > 2) return;
      test.clock.advance(9_000);
      await indexIn(others, [event?.event_id ?? ""]);
    };
    let woken = 0;
    const wake = async () => {
      woken += 1;
      await indexIn(others, ["0".repeat(36)]);
      expect(await deps.eventIndex.last()).toBe(1);
    };
    expect(await indexInTurn(deps, index, wake)).toBe(true);
    expect([turns, woken]).toEqual([2, 1]);
  });

  it("an event whose runs are being started is indexed once, when it is processed", async () => {
    const deps = limited();
    const also = [{ workflow: "w", trigger: "t", revision: 1 }];
    const [event] = await emitEvents(deps, [{ topic: "a", source: "api", data: {}, also }]);
    const id = event?.event_id ?? "";
    await indexIn(deps, [id]);
    expect(await deps.eventIndex.last()).toBe(0);
    expect((await readLog(deps)).map(({ processed }) => processed)).toEqual([false]);
    await deps.tables.write([processedWrite(id, test.clock.now())]);
    await indexIn(deps, [id]);
    expect(await deps.eventIndex.last()).toBe(1);
    expect((await readLog(deps)).map(({ processed }) => processed)).toEqual([true]);
  });

  it("one that is not processed in time is indexed before, and again", async () => {
    const deps = limited();
    const also = [{ workflow: "w", trigger: "t", revision: 1 }];
    const [event] = await emitEvents(deps, [{ topic: "a", source: "api", data: {}, also }]);
    const id = event?.event_id ?? "";
    test.clock.advance(60_000);
    await indexIn(deps, [id]);
    expect(await deps.eventIndex.last()).toBe(1);
    expect((await readLog(deps, { processed: false })).length).toBe(1);
    await deps.tables.write([processedWrite(id, test.clock.now())]);
    await indexIn(deps, [id]);
    expect((await readLog(deps, { processed: false })).length).toBe(0);
  });

  it("the sweep moves items of earlier releases, which had fewer partitions", async () => {
    const [event] = await record(["a"]);
    const id = event?.event_id ?? "";
    const deps = limited();
    test.clock.advance(10 * 60_000);
    await resendPending(deps, 10);
    await indexIn(deps, [id]);
    expect(await deps.eventIndex.last()).toBe(1);
    expect(await readUnindexedIds(deps)).toEqual([]);
    expect(await readUnindexedIds(test.deps)).toEqual([]);
  });

  it("the sweep moves parked items of earlier releases, too, but does not resend them until they are redriven", async () => {
    const also = [{ workflow: "w", trigger: "t", revision: 1 }];
    const [event] = await emitEvents(test.deps, [{ topic: "a", source: "api", data: {}, also }]);
    const id = event?.event_id ?? "";
    await index(await receive());
    await failEvent(test.deps, id, "it broke");
    const deps = limited();
    test.clock.advance(10 * 60_000);
    expect(await resendPending(deps, 10)).toBe(0);
    await reviveEvent(deps, id);
    expect(await resendPending(deps, 10)).toBe(1);
    await deps.tables.write([processedWrite(id, test.clock.now())]);
    await indexIn(deps, [id]);
    expect((await readLog(deps, { processed: true })).map(({ event_id }) => event_id)).toEqual([id]);
  });

  const neverWoken = () => Promise.reject(new Error("no other process is needed"));

  async function readLog(
    deps: ReturnType<typeof limited>,
    filters: EventFilters = {},
  ): Promise<EventRecord[]> {
    const { items } = await listEvents(deps, filters, { offset: 0, limit: 10 });
    const records: EventRecord[] = [];
    for await (const part of items) records.push(...part);
    return records;
  }
});
