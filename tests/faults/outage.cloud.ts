import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestResponse, type TestServer, waitUntil } from "../../lib/testing/test-server.ts";
import { type AwsProxy, startAwsProxy } from "./test-aws-proxy.ts";
import {
  type Acknowledged,
  emitRelay,
  findRelayIssues,
  readAllRuns,
  startServerBehindProxy,
  WORKFLOW,
} from "./test-cloud-server.ts";

const OUTAGE_MS = 30_000;
/** Offsets from the start of the outage. First the tables refuse connections, then the other services do. */
const REST_GONE_MS = 20_000;
/** From here on the tables accept connections and never respond. */
const HANGING_MS = 22_000;
/** Limit for each response of the server during the outage. */
const ANSWER_MS = 30_000;
const EVENTS = 6;

const stack = `outage-${randomUUID().slice(0, 8)}`;
let proxy: AwsProxy;
let weft: TestServer;
beforeAll(async () => {
  proxy = await startAwsProxy(1);
  weft = await startServerBehindProxy(proxy, stack);
  await weft.storeWorkflow(WORKFLOW);
});
afterAll(async () => {
  await weft?.[Symbol.asyncDispose]();
  await proxy?.[Symbol.asyncDispose]();
});

/** Sends a GET request and measures the response time. */
async function timed(path: string): Promise<TestResponse & { readonly ms: number }> {
  const begun = performance.now();
  const answer = await weft.call("GET", path);
  return { ...answer, ms: performance.now() - begun };
}

test("an outage of 30 s during runs delays them, loses none and needs no restart", async () => {
  const responses: Acknowledged = { acknowledged: [], refusals: [] };
  for (let n = 0; n < EVENTS; n += 1) await emitRelay(weft, responses, `before-${n}`);
  await waitUntil("runs under way", async () => (await weft.events({ topic: "step.completed" })).length > 0);
  // The outage interrupts some of these events before their runs start.
  await Promise.all(Array.from({ length: EVENTS }, (_, n) => emitRelay(weft, responses, `just-before-${n}`)));
  expect(responses.acknowledged).toHaveLength(2 * EVENTS);

  const begun = performance.now();
  const at = (ms: number): Promise<void> => sleep(Math.max(0, begun + ms - performance.now()));
  await proxy.vanish("tables");
  const refused = timed("/runs?limit=1");
  const ready = timed("//health/ready");
  await emitRelay(weft, responses, "amid the outage");
  expect(await timed("//health")).toMatchObject({ status: 200, json: { status: "ok" } });
  for (const { status, ms, message } of await Promise.all([refused, ready])) {
    expect([status, message]).toEqual([503, expect.stringMatching(/answer|respond/)]);
    expect(ms).toBeLessThan(ANSWER_MS);
  }
  expect(responses.refusals).toEqual([[503, expect.any(String)]]);

  await at(REST_GONE_MS);
  await proxy.vanish("rest");
  await at(HANGING_MS);
  proxy.misbehave({ hangs: ({ side }) => side === "tables" });
  await proxy.appear("tables");
  const hung = timed("/runs?limit=1");
  await at(OUTAGE_MS);
  proxy.misbehave({});
  await proxy.appear("rest");

  expect([200, 503]).toContain((await hung).status);
  expect((await hung).ms).toBeLessThan(ANSWER_MS);
  expect(proxy.harm.hung).toBeGreaterThan(0);
  await waitUntil("readiness", async () => (await timed("//health/ready")).status === 200, ANSWER_MS);
  for (let n = 0; n < EVENTS; n += 1) await emitRelay(weft, responses, `after-${n}`);
  expect(responses.acknowledged).toHaveLength(3 * EVENTS);
  const runs = await readAllRuns(weft, stack, responses);
  expect(await findRelayIssues(weft, responses, runs)).toEqual([]);
  expect(runs.length).toBe(3 * EVENTS);
  expect(weft.child.exitCode).toBe(null);
  expect(await weft.stop()).toBe(0);
}, 200_000);
