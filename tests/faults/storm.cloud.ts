import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestServer, waitUntil } from "../../lib/testing/test-server.ts";
import { type AwsProxy, type Misfortunes, startAwsProxy } from "./test-aws-proxy.ts";
import {
  allRuns,
  emitRelay,
  relayFaults,
  startBehind,
  type Told,
  WORKFLOW,
  workOn,
} from "./test-cloud-server.ts";

const EVENTS = 5;
/** A storm that did less harm proves nothing. */
const HARM_MIN = 10;
/** Above what an event's record holds itself, so that it goes to a blob. */
const LARGE = "x".repeat(300_000);
/** A storm ends when its work is done, or then. */
const STORM_MS = 12_000;

const stack = `storm-${randomUUID().slice(0, 8)}`;
const told: Told = { acknowledged: [], refusals: [] };
let proxy: AwsProxy;
let weft: TestServer;
beforeAll(async () => {
  proxy = await startAwsProxy(20_260_302);
  weft = await startBehind(proxy, stack);
  await weft.storeWorkflow(WORKFLOW);
});
afterAll(async () => {
  await weft?.[Symbol.asyncDispose]();
  await proxy?.[Symbol.asyncDispose]();
});

const STORMS: readonly [string, Misfortunes, keyof AwsProxy["harm"]][] = [
  ["a storm of throttles, of whole requests and of parts of batches", { throttles: 0.3 }, "throttled"],
  ["answers that get lost after the request was carried out", { lostAnswers: 0.1 }, "lost"],
  ["messages that are delivered twice", { duplicates: 1 }, "doubled"],
];

test.each(STORMS)(
  "nothing is lost and nothing doubled in %s",
  async (name, misfortunes, harm) => {
    const before = proxy.harm[harm];
    proxy.misbehave(misfortunes);
    for (let n = 0; n < EVENTS; n += 1)
      await emitRelay(weft, told, `${harm}-${n}`, n === 0 ? { large: LARGE } : {});
    await workOn(weft, told, STORM_MS);
    await waitUntil(`harm of ${name}`, () => proxy.harm[harm] - before > HARM_MIN);
    proxy.misbehave({});
    const runs = await allRuns(weft, stack, told);
    expect(await relayFaults(weft, told, runs)).toEqual([]);
    for (const [status] of told.refusals) expect([429, 503]).toContain(status);
  },
  200_000,
);
