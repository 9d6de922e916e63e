import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type AwsClients, awsClients, servicesOf } from "../../platform/aws/clients.ts";
import { type AwsPlatform, blobsBucketOf } from "../../platform/aws/platform.ts";
import { provision } from "../../platform/aws/provision/provision.ts";
import { openAwsForTest } from "../../platform/contract/aws-subject.ts";
import { blueprintOf } from "../../platform/contract/blueprint.ts";
import { timersTable } from "../../platform/timers-table.ts";
import { rankedIndexTable } from "../../ranked-index/table.ts";
import { eventLogTable, eventTailTable } from "./table.ts";
import { type ReadCount, SizedLog } from "./test-log-size.ts";

const RESOURCES = {
  tables: [eventLogTable, eventTailTable, rankedIndexTable, timersTable],
  queues: [],
  rules: [],
  schedules: [],
};
/** `WEFT_LOG_SIZE` requests a larger log, which takes an emulator minutes. */
const LARGE = Number(process.env.WEFT_LOG_SIZE ?? 0);
const RECORDED = { unindexed: 30, atOnce: 4 };
/** Twice the tail's partitions and the head, then deltas with sets, keys and records of two segments. */
const CALLS_MAX = 138;
/** The deltas since the last merge, if any, and the sets of one more segment. */
const MORE_ITEMS = 48 + 7;
const MINUTES = 60_000;

let clients: AwsClients;
let platform: AwsPlatform;
let log: SizedLog;
let small: { readonly cold: ReadCount; readonly warm: ReadCount };
beforeAll(async () => {
  const stack = `log-size-${randomUUID().slice(0, 8)}`;
  clients = awsClients(process.env);
  await provision(blueprintOf(stack, blobsBucketOf(stack), RESOURCES), { clients });
  platform = await openAwsForTest(stack, { services: servicesOf(clients), resources: RESOURCES });
  log = new SizedLog(platform.ports);
});
afterAll(() => clients.close());

it(
  "returns the same as a plain array for any filter at any offset of 10,000 records",
  async () => {
    await log.growTo(10_000, RECORDED);
    small = await log.expectExact();
    expect(small.cold.calls).toBeLessThanOrEqual(CALLS_MAX);
  },
  5 * MINUTES,
);

it.skipIf(LARGE === 0)(
  `answers them of ${LARGE} records as well, and reads no more for it`,
  async () => {
    await log.growTo(LARGE, RECORDED);
    const { cold, warm } = await log.expectExact();
    expect(cold.calls).toBeLessThanOrEqual(small.cold.calls);
    expect(warm.calls).toBeLessThanOrEqual(small.warm.calls);
    expect(cold.items).toBeLessThanOrEqual(small.cold.items + MORE_ITEMS);
    expect(warm.items).toBeLessThanOrEqual(small.warm.items + MORE_ITEMS);
  },
  15 * MINUTES,
);
