import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestServer, waitUntil } from "../../lib/testing/test-server.ts";
import { type AwsProxy, type InjectedFailures, startAwsProxy } from "./test-aws-proxy.ts";
import {
  type Acknowledged,
  emitRelay,
  findRelayIssues,
  readAllRuns,
  startServerBehindProxy,
  WORKFLOW,
  waitForRuns,
} from "./test-cloud-server.ts";

const EVENTS = 5;
/** Minimum number of injected failures per storm. */
const HARM_MIN = 10;
/** Above the size limit of an event's record, so that the data is stored in a blob. */
const LARGE = "x".repeat(300_000);
/** Maximum duration of a storm; it ends earlier when all runs have ended. */
const STORM_MS = 12_000;

const stack = `storm-${randomUUID().slice(0, 8)}`;
const responses: Acknowledged = { acknowledged: [], refusals: [] };
let proxy: AwsProxy;
let weft: TestServer;
beforeAll(async () => {
  proxy = await startAwsProxy(20_260_302);
  weft = await startServerBehindProxy(proxy, stack);
  await weft.storeWorkflow(WORKFLOW);
});
afterAll(async () => {
  await weft?.[Symbol.asyncDispose]();
  await proxy?.[Symbol.asyncDispose]();
});

const STORMS: readonly [string, InjectedFailures, keyof AwsProxy["harm"]][] = [
  ["requests and parts of batches are throttled", { throttles: 0.3 }, "throttled"],
  ["responses are lost after the request was carried out", { lostAnswers: 0.1 }, "lost"],
  ["messages are delivered twice", { duplicates: 1 }, "doubled"],
];

test.each(STORMS)(
  "neither loses nor duplicates a record when %s",
  async (name, misfortunes, harm) => {
    const before = proxy.harm[harm];
    proxy.misbehave(misfortunes);
    for (let n = 0; n < EVENTS; n += 1)
      await emitRelay(weft, responses, `${harm}-${n}`, n === 0 ? { large: LARGE } : {});
    await waitForRuns(weft, responses, STORM_MS);
    await waitUntil(`harm of ${name}`, () => proxy.harm[harm] - before > HARM_MIN);
    proxy.misbehave({});
    const runs = await readAllRuns(weft, stack, responses);
    expect(await findRelayIssues(weft, responses, runs)).toEqual([]);
    for (const [status] of responses.refusals) expect([429, 503]).toContain(status);
  },
  200_000,
);
