import { afterEach, beforeEach, expect, it } from "vitest";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { onTopic, storeWorkflow } from "../../testing/test-workflows.ts";
import { emitEvents } from "../publish.ts";
import { RecentEvents } from "./recent-events.ts";
import type { StoredEvent } from "./table.ts";

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps();
});
afterEach(() => test.close());

const emit = async (topic: string): Promise<StoredEvent> => {
  const [record] = await emitEvents(test.deps, [{ topic, source: "api", data: { large: "x" } }]);
  if (record === undefined) throw new Error("nothing was recorded");
  return record;
};

it("remembers records that will not change, until they are taken, once something takes them", async () => {
  await storeWorkflow(test.deps, onTopic("heard", "custom.heard"));
  const { recentEvents } = test.deps;
  const before = await emit("custom.x");
  expect(recentEvents.take(before.event_id)).toBeUndefined();
  const { event_id } = await emit("custom.x");
  const matched = await emit("custom.heard");
  expect(recentEvents.take(event_id)).toMatchObject({ event_id, topic: "custom.x", processed: true });
  expect(recentEvents.take(event_id)).toBeUndefined();
  expect(recentEvents.take(matched.event_id)).toBeUndefined();
});

it("forgets the oldest records", async () => {
  const record = await emit("custom.x");
  const recent = new RecentEvents();
  recent.take("");
  const ids = Array.from({ length: 20_000 }, (_, n) => `id${n}`);
  for (const event_id of ids) recent.add([{ ...record, event_id }]);
  expect(ids.slice(0, 12_000).flatMap((id) => recent.take(id) ?? [])).toEqual([]);
  expect(ids.slice(-4_000).flatMap((id) => recent.take(id) ?? [])).toHaveLength(4_000);
});
