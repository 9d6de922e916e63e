import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { onTopic, readLog, storeWorkflow } from "../../testing/test-workflows.ts";
import { dispatchEvent } from "../../workflows/triggers/dispatch-event.ts";
import { type EventDraft, emitEvents } from "../publish.ts";
import { indexEvents } from "./index-events.ts";
import type { EventFilters, EventRecord } from "./list.ts";
import { failEvent, processedEntry, processedWrite, resendPending, reviveEvent } from "./process.ts";

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps();
});
afterEach(() => test.close());

const draft = (topic: string, more: Partial<EventDraft> = {}): EventDraft => ({
  topic,
  source: "api",
  data: {},
  ...more,
});
const emit = async (...drafts: EventDraft[]): Promise<string[]> => {
  return (await emitEvents(test.deps, drafts)).map(({ event_id }) => event_id);
};
const ids = (records: readonly EventRecord[]): number[] => records.map(({ id }) => id);

describe("numbers", () => {
  it("follow the order of arrival, from 1, and are shown before the record is indexed", async () => {
    await emit(draft("a"), draft("b"));
    await emit(draft("c"));
    const before = (await readLog(test.deps)).records;
    expect(before.map(({ id, topic }) => [id, topic])).toEqual([
      [3, "c"],
      [2, "b"],
      [1, "a"],
    ]);
    await test.drain();
    expect((await readLog(test.deps)).records).toEqual(before);
  });

  it("stay in order while only some records are indexed", async () => {
    await emit(draft("a"), draft("b"));
    await test.drain();
    await emit(draft("c"), draft("d"));
    const { records } = await readLog(test.deps);
    expect(records.map(({ id, topic }) => [id, topic])).toEqual([
      [4, "d"],
      [3, "c"],
      [2, "b"],
      [1, "a"],
    ]);
  });

  it("stay in order if an event counts for more than still fits into the transaction", async () => {
    const events: string[] = [];
    for (const name of ["a,b", "c,d", "a", "c"]) events.push(...(await emit(draft("counted", { name }))));
    await indexEvents(test.deps, events, {
      count: { keysOf: ({ name }) => name.split(","), keysMax: 2, prepare: async () => () => [] },
    });
    const { records } = await readLog(test.deps);
    expect(records.map(({ id, name }) => [id, name])).toEqual([
      [4, "c"],
      [3, "a"],
      [2, "c,d"],
      [1, "a,b"],
    ]);
  });

  it("do not change if events are indexed again, concurrently and in any order", async () => {
    const events = await emit(...Array.from({ length: 25 }, (_, n) => draft(`t${n}`)));
    await Promise.all([
      indexEvents(test.deps, events.toReversed()),
      indexEvents(test.deps, events),
      indexEvents(test.deps, events),
    ]);
    const { records } = await readLog(test.deps);
    expect(ids(records)).toEqual(Array.from({ length: 25 }, (_, n) => 25 - n));
    await test.drain();
    expect((await readLog(test.deps)).records).toEqual(records);
  });
});

describe("filters", () => {
  const VALUES = ["", "x", "y"];
  const FIELDS = ["topic", "name", "source", "workspace", "run_id", "workflow_name"] as const;

  it("apply alone and combined, with exact totals at any offset and limit from either end, indexed or not", async () => {
    await storeWorkflow(test.deps, onTopic("listens", "x"));
    const drafts = Array.from({ length: 60 }, (_, n): EventDraft => {
      const value = (field: number): string => VALUES[Math.floor(n / 3 ** (field % 3) + field) % 3] ?? "";
      return {
        topic: value(0) || "z",
        name: value(1) || "n",
        source: value(2) || "api",
        workspace: value(3),
        run_id: value(4),
        workflow_name: value(5),
        data: {},
      };
    });
    await emit(...drafts.slice(0, 20));
    await emit(...drafts.slice(20, 40));
    // Some are indexed and processed, some only indexed, some only recorded.
    await test.drain(["dispatch"]);
    const half = (await readLog(test.deps, { topic: "x", processed: false })).records.slice(3);
    for (const { event_id } of half)
      await test.deps.outbox.commit({
        writes: [processedWrite(event_id, test.clock.now())],
        publish: [processedEntry(event_id)],
      });
    await test.drain(["dispatch"]);
    await emit(...drafts.slice(40));
    const all = (await readLog(test.deps)).records;
    expect(all).toHaveLength(60);
    expect(new Set(all.map(({ processed }) => processed)).size).toBe(2);

    const value = fc.option(fc.constantFrom("x", "y", "z", "api", "nothing"), { nil: undefined });
    const filters = fc.record({
      ...(Object.fromEntries(FIELDS.map((field) => [field, value])) as Record<
        (typeof FIELDS)[number],
        typeof value
      >),
      processed: fc.option(fc.boolean(), { nil: undefined }),
    });
    const pages = fc.record({
      offset: fc.nat({ max: 70 }),
      limit: fc.integer({ min: 1, max: 70 }),
      oldestFirst: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(filters, pages, async (wanted: EventFilters, page) => {
        const tests = Object.entries(wanted).filter(([, one]) => one !== undefined) as [
          keyof EventRecord,
          unknown,
        ][];
        const fitting = all.filter((record) => tests.every(([field, one]) => record[field] === one));
        const { total, records } = await readLog(test.deps, wanted, page);
        expect(total).toBe(fitting.length);
        const ordered = page.oldestFirst ? fitting.toReversed() : fitting;
        expect(records).toEqual(ordered.slice(page.offset, page.offset + page.limit));
      }),
      { numRuns: 150 },
    );
  });
});

describe("processing", () => {
  it("marks an event with matches as processed once its runs exist, and only once", async () => {
    await storeWorkflow(test.deps, onTopic("listens", "x"));
    const [id = ""] = await emit(draft("x"));
    expect((await readLog(test.deps, { processed: false })).total).toBe(1);
    test.clock.advance(1_000);
    await test.drain();
    const [record] = (await readLog(test.deps, { topic: "x", processed: true })).records;
    expect(record?.processed_at).toBe("2026-03-02T10:00:01.000Z");
    test.clock.advance(1_000);
    await dispatchEvent(test.deps, id);
    await test.drain();
    expect((await readLog(test.deps, { topic: "x" })).records).toEqual([record]);
  });

  it("is repeated by the sweep if messages were lost, after some minutes and less and less often", async () => {
    await storeWorkflow(test.deps, onTopic("listens", "x"));
    await emit(draft("x"));
    await loseMessages("dispatch", "index-events");
    expect(await resendPending(test.deps, 100)).toBe(0);
    test.clock.advance(3 * 60_000);
    expect(await resendPending(test.deps, 100)).toBe(1);
    // The claim postponed its next attempt: another sweep ignores it.
    expect(await resendPending(test.deps, 100)).toBe(0);
    await loseMessages("dispatch", "index-events");
    test.clock.advance(60_000);
    expect(await resendPending(test.deps, 100)).toBe(0);
    test.clock.advance(2 * 60_000);
    expect(await resendPending(test.deps, 100)).toBe(1);
    await test.drain();
    expect((await readLog(test.deps, { topic: "x", processed: true })).total).toBe(1);
    test.clock.advance(24 * 3_600_000);
    expect(await resendPending(test.deps, 100)).toBe(0);
  });

  it("is repeated by only one of two concurrent sweeps", async () => {
    await emit(draft("x"));
    await loseMessages("index-events");
    test.clock.advance(3 * 60_000);
    const sent = await Promise.all([resendPending(test.deps, 100), resendPending(test.deps, 100)]);
    expect(sent.toSorted()).toEqual([0, 1]);
  });

  it("excludes parked events from the sweep until they are revived", async () => {
    await storeWorkflow(test.deps, onTopic("listens", "x"));
    const [id = ""] = await emit(draft("x"));
    await test.drain(["dispatch"]);
    await loseMessages("dispatch");
    await failEvent(test.deps, id, "it broke");
    test.clock.advance(24 * 3_600_000);
    expect(await resendPending(test.deps, 100)).toBe(0);
    expect((await readLog(test.deps, { processed: false })).records).toMatchObject([
      { error: "it broke", processed_at: null },
    ]);
    await reviveEvent(test.deps, id);
    expect(await resendPending(test.deps, 100)).toBe(1);
    await test.drain();
    expect((await readLog(test.deps, { topic: "x" })).records).toMatchObject([
      { error: "", processed: true },
    ]);
  });

  it("accepts that a parked event was processed after all", async () => {
    await storeWorkflow(test.deps, onTopic("listens", "x"));
    const [id = ""] = await emit(draft("x"));
    await test.drain(["dispatch"]);
    await failEvent(test.deps, id, "it broke");
    await test.drain();
    test.clock.advance(24 * 3_600_000);
    expect(await resendPending(test.deps, 100)).toBe(0);
    expect((await readLog(test.deps, { topic: "x" })).records).toMatchObject([{ processed: true }]);
    expect((await readLog(test.deps, { topic: "x", processed: false })).total).toBe(0);
  });
});

async function loseMessages(...queues: string[]): Promise<void> {
  for (const queue of queues) {
    for (;;) {
      const messages = await test.deps.queues.receive(queue, {
        max: 10,
        visibilitySeconds: 30,
        waitSeconds: 0,
      });
      if (messages.length === 0) break;
      await test.deps.queues.delete(
        queue,
        messages.map(({ receipt }) => receipt),
      );
    }
  }
}
