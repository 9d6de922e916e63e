import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import type { Deps } from "../../app/compose.ts";
import { seededRandom } from "../../platform/embedded/random.ts";
import type { Outbox } from "../../platform/outbox.ts";
import type { Tables } from "../../platform/tables.ts";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { readRuns, storeWorkflow } from "../../testing/test-workflows.ts";
import { conduct } from "./conduct.ts";
import { runSlots } from "./slots.ts";
import { startBody, startRun } from "./start.ts";

const CONTAINERS = 16;
const STARTS = 10;

let test: TestDeps;
afterEach(() => test.close());

/** One of several functions that start runs concurrently, over tables with the latency of DynamoDB. */
function container(deps: Deps, max: number, seed: number, onRefused: () => void): Deps {
  const random = seededRandom(seed);
  const late = <Args extends unknown[], Result>(call: (...args: Args) => Promise<Result>) => {
    return async (...args: Args): Promise<Result> => {
      await sleep(1 + random() * 4);
      const result = await call(...args);
      await sleep(1 + random() * 4);
      return result;
    };
  };
  const { tables } = deps;
  const lateTables = {
    ...tables,
    get: late(tables.get),
    query: late(tables.query),
    write: late(tables.write),
    update: late(tables.update),
  } as Tables;
  const outbox: Outbox = {
    commit: async ({ writes, publish = [], send = [] }) => {
      const outcome = await lateTables.write(writes);
      if (!outcome.ok) {
        onRefused();
        return outcome;
      }
      await deps.bus.publish(publish);
      for (const { queue, messages } of send) await deps.queues.send(queue, messages);
      return outcome;
    },
  };
  const ports = { ...deps, tables: lateTables, outbox };
  return { ...ports, runSlots: runSlots(ports, max) };
}

/** Starts 160 runs in 16 containers, ten concurrently in each; returns the number of rejected transactions. */
async function startAll(max: number, running: number): Promise<number> {
  test = await testDeps({ settings: { RUNS_CONCURRENCY_MAX: String(max) } });
  await storeWorkflow(test.deps, "name: one\nsteps: [{name: s, type: bash, command: echo}]\n");
  let rejectedCount = 0;
  const starts: (() => Promise<unknown>)[] = [];
  const containers = Array.from({ length: CONTAINERS }, (_, seed) =>
    container(test.deps, max, seed + 1, () => {
      rejectedCount += 1;
    }),
  );
  for (let count = 0; count < running + CONTAINERS * STARTS; count += 1) {
    const { run_id } = await startRun(test.deps, startBody.parse({ module: "one" }));
    const deps = containers[count % CONTAINERS]!;
    starts.push(() => conduct(deps, { run_id, input: { type: "start" } }));
  }
  for (const start of starts.splice(0, running)) await start();
  rejectedCount = 0;
  await Promise.all(starts.map((start) => start()));
  return rejectedCount;
}

const running = async (): Promise<number> =>
  (await readRuns(test.deps)).filter(({ status }) => status === "running").length;

describe("run slots taken by many functions concurrently", () => {
  it.each([
    { max: 1000, before: 0 },
    { max: 200, before: 0 },
    { max: 200, before: 30 },
    { max: 160, before: 0 },
  ])("rarely conflict: $max slots, $before taken before", async ({ max, before }) => {
    const rejectedCount = await startAll(max, before);
    expect(await running()).toBe(CONTAINERS * STARTS + before);
    expect(rejectedCount / (CONTAINERS * STARTS)).toBeLessThan(0.2);
  });

  it("are all taken, and further runs wait, if there are fewer slots than runs", async () => {
    const rejectedCount = await startAll(100, 0);
    expect(await running()).toBe(100);
    expect(rejectedCount / (CONTAINERS * STARTS)).toBeLessThan(0.5);
  });
});
