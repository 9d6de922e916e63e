import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Page, waitUntil } from "../../lib/testing/test-server.ts";
import type { RunRecord } from "../../lib/workflows/runs/read.ts";
import { startAwsProxy } from "./test-aws-proxy.ts";
import {
  allRuns,
  emitRelay,
  relayFaults,
  STEPS,
  startBehind,
  type Told,
  WORKFLOW,
} from "./test-cloud-server.ts";

const RUNS = 20;
const EMITTED_AT_ONCE = 5;
/** Where a run is not over, its first step is at work nearly all of the time. */
const SLOW = WORKFLOW.replace("sleep 0.2", "sleep 2");
/** Runs that are over when the server is killed; many of the others are then under way. */
const OVER_MIN = 3;

test("kill -9 amid 20 runs: after a restart all of them complete, each step with one result", async () => {
  const stack = `kill-${randomUUID().slice(0, 8)}`;
  const dataDir = await mkdtemp(join(tmpdir(), "weft-kill-cloud-"));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true, maxRetries: 5 }));
  await using proxy = await startAwsProxy(1);
  const told: Told = { acknowledged: [], refusals: [] };
  {
    await using first = await startBehind(proxy, stack, dataDir);
    await first.storeWorkflow(SLOW);
    for (let n = 0; n < RUNS; n += EMITTED_AT_ONCE) {
      const some = Array.from({ length: EMITTED_AT_ONCE }, (_, at) => n + at);
      await Promise.all(some.map((number) => emitRelay(first, told, `run-${number}`)));
    }
    const count = async (status: string): Promise<number> =>
      (await first.get<Page<RunRecord>>(`/runs?limit=1&status=${status}`)).pagination.total;
    await waitUntil("some runs to be over", async () => (await count("completed")) >= OVER_MIN, 60_000);
    await first.kill();
  }
  expect(told.acknowledged).toHaveLength(RUNS);
  await using second = await startBehind(proxy, stack, dataDir);
  const { pagination } = await second.get<Page<RunRecord>>("/runs?limit=1&status=completed");
  expect(pagination.total).toBeLessThan(RUNS);
  const runs = await allRuns(second, stack, told);
  expect(runs).toHaveLength(RUNS);
  expect(await relayFaults(second, told, runs)).toEqual([]);
  const attempts = await Promise.all(
    runs.map(async ({ run_id }) => Object.values(await second.steps(run_id)).map(({ attempt }) => attempt)),
  );
  expect(attempts.flat()).toHaveLength(RUNS * STEPS.length);
  // The kill met some of them at work.
  expect(attempts.flat().some((attempt) => attempt > 1)).toBe(true);
}, 200_000);
