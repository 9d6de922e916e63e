import { afterAll, beforeAll, expect, it } from "vitest";
import type { EmbeddedPlatform } from "../../platform/embedded/platform.ts";
import { openForTest, temporaryFolder } from "../../platform/embedded/test-platform.ts";
import { rankedIndexTable } from "../../ranked-index/table.ts";
import { eventLogTable, eventTailTable } from "./table.ts";
import { type ReadCount, SizedLog } from "./test-log-size.ts";

const RESOURCES = {
  tables: [eventLogTable, eventTailTable, rankedIndexTable],
  queues: [],
  rules: [],
  schedules: [],
};
const RECORDED = { unindexed: 30, atOnce: 4 };
/** Twice the tail's partitions and the head, then deltas with sets, keys and records of two segments. */
const CALLS_MAX = 18;
/** The deltas since the last merge, if any, and the sets of one more segment. */
const MORE_ITEMS = 48 + 7;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let platform: EmbeddedPlatform;
let log: SizedLog;
let small: { readonly cold: ReadCount; readonly warm: ReadCount };
beforeAll(async () => {
  folder = await temporaryFolder();
  platform = await openForTest(folder.path, RESOURCES);
  log = new SizedLog(platform.ports);
});
afterAll(async () => {
  await platform.close();
  await folder.remove();
});

it("returns the same as a plain array for any filter at any offset of 10,000 records", async () => {
  await log.growTo(10_000, RECORDED);
  small = await log.expectExact();
  expect(small.cold.calls).toBeLessThanOrEqual(CALLS_MAX);
});

it("does the same for 100,000 records, without more reads", async () => {
  await log.growTo(100_000, RECORDED);
  const { cold, warm } = await log.expectExact();
  expect(cold.calls).toBeLessThanOrEqual(small.cold.calls);
  expect(warm.calls).toBeLessThanOrEqual(small.warm.calls);
  expect(cold.items).toBeLessThanOrEqual(small.cold.items + MORE_ITEMS);
  expect(warm.items).toBeLessThanOrEqual(small.warm.items + MORE_ITEMS);
}, 300_000);
