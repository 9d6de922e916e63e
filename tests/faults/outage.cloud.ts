import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestResponse, type TestServer, waitUntil } from "../../lib/testing/test-server.ts";
import { type AwsProxy, startAwsProxy } from "./test-aws-proxy.ts";
import { allRuns, emitRelay, relayFaults, startBehind, type Told, WORKFLOW } from "./test-cloud-server.ts";

const OUTAGE_MS = 30_000;
/** From the start of the outage: the tables refuse, then so does the rest, then the tables accept and say nothing. */
const REST_GONE_MS = 20_000;
const HANGING_MS = 22_000;
/** No request to the server takes longer, whatever is below it. */
const ANSWER_MS = 30_000;
const EVENTS = 6;

const stack = `outage-${randomUUID().slice(0, 8)}`;
let proxy: AwsProxy;
let weft: TestServer;
beforeAll(async () => {
  proxy = await startAwsProxy(1);
  weft = await startBehind(proxy, stack);
  await weft.storeWorkflow(WORKFLOW);
});
afterAll(async () => {
  await weft?.[Symbol.asyncDispose]();
  await proxy?.[Symbol.asyncDispose]();
});

/** Asks the server for what it has to ask its tables for. */
async function timed(path: string): Promise<TestResponse & { readonly ms: number }> {
  const begun = performance.now();
  const answer = await weft.call("GET", path);
  return { ...answer, ms: performance.now() - begun };
}

test("services that vanish for 30 s amid runs cost time and nothing else, and no restart", async () => {
  const told: Told = { acknowledged: [], refusals: [] };
  for (let n = 0; n < EVENTS; n += 1) await emitRelay(weft, told, `before-${n}`);
  await waitUntil("runs under way", async () => (await weft.events({ topic: "step.completed" })).length > 0);
  // Some are met on their way to a run.
  await Promise.all(Array.from({ length: EVENTS }, (_, n) => emitRelay(weft, told, `just-before-${n}`)));
  expect(told.acknowledged).toHaveLength(2 * EVENTS);

  const begun = performance.now();
  const at = (ms: number): Promise<void> => sleep(Math.max(0, begun + ms - performance.now()));
  await proxy.vanish("tables");
  const refused = timed("/runs?limit=1");
  const ready = timed("//health/ready");
  await emitRelay(weft, told, "amid the outage");
  expect(await timed("//health")).toMatchObject({ status: 200, json: { status: "ok" } });
  for (const { status, ms, message } of await Promise.all([refused, ready])) {
    expect([status, message]).toEqual([503, expect.stringMatching(/answer/)]);
    expect(ms).toBeLessThan(ANSWER_MS);
  }
  expect(told.refusals).toEqual([[503, expect.any(String)]]);

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
  for (let n = 0; n < EVENTS; n += 1) await emitRelay(weft, told, `after-${n}`);
  expect(told.acknowledged).toHaveLength(3 * EVENTS);
  const runs = await allRuns(weft, stack, told);
  expect(await relayFaults(weft, told, runs)).toEqual([]);
  expect(runs.length).toBe(3 * EVENTS);
  expect(weft.child.exitCode).toBe(null);
  expect(await weft.stop()).toBe(0);
}, 200_000);
