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
/** A slow first step, so that it is running in nearly every unfinished run. */
const SLOW = WORKFLOW.replace("sleep 0.2", "sleep 2");
/** Minimum number of completed runs at the kill; many of the others are running then. */
const COMPLETED_MIN = 3;

test("after kill -9 during 20 runs, all of them complete with one result for each step", async () => {
  const stack = `kill-${randomUUID().slice(0, 8)}`;
  const dataDir = await mkdtemp(join(tmpdir(), "weft-kill-cloud-"));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true, maxRetries: 5 }));
  await using proxy = await startAwsProxy(1);
  const responses: Told = { acknowledged: [], refusals: [] };
  {
    await using first = await startBehind(proxy, stack, dataDir);
    await first.storeWorkflow(SLOW);
    for (let n = 0; n < RUNS; n += EMITTED_AT_ONCE) {
      const some = Array.from({ length: EMITTED_AT_ONCE }, (_, at) => n + at);
      await Promise.all(some.map((number) => emitRelay(first, responses, `run-${number}`)));
    }
    const count = async (status: string): Promise<number> =>
      (await first.get<Page<RunRecord>>(`/runs?limit=1&status=${status}`)).pagination.total;
    await waitUntil("some runs to be over", async () => (await count("completed")) >= COMPLETED_MIN, 60_000);
    await first.kill();
  }
  expect(responses.acknowledged).toHaveLength(RUNS);
  await using second = await startBehind(proxy, stack, dataDir);
  const { pagination } = await second.get<Page<RunRecord>>("/runs?limit=1&status=completed");
  expect(pagination.total).toBeLessThan(RUNS);
  const runs = await allRuns(second, stack, responses);
  expect(runs).toHaveLength(RUNS);
  expect(await relayFaults(second, responses, runs)).toEqual([]);
  const attempts = await Promise.all(
    runs.map(async ({ run_id }) => Object.values(await second.steps(run_id)).map(({ attempt }) => attempt)),
  );
  expect(attempts.flat()).toHaveLength(RUNS * STEPS.length);
  // The kill interrupted some steps.
  expect(attempts.flat().some((attempt) => attempt > 1)).toBe(true);
}, 200_000);
