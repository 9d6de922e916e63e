import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Page, waitUntil } from "../../lib/testing/test-server.ts";
import type { RunRecord } from "../../lib/workflows/runs/read.ts";
import { startAwsProxy } from "./test-aws-proxy.ts";
import {
  type Acknowledged,
  emitRelay,
  findRelayIssues,
  readAllRuns,
  STEPS,
  startServerBehindProxy,
  WORKFLOW,
} from "./test-cloud-server.ts";

const RUNS = 20;
const EMITTED_AT_ONCE = 5;
/** Runs whose first step waits for the restart, so that the kill interrupts it. */
const WAITING = [0, 1, 2];
/** Minimum number of completed runs at the kill. */
const COMPLETED_MIN = 3;
/** The first step of a waiting run writes a file and runs until the server has been restarted, at most 60 seconds. */
const waitingWorkflow = (signals: string): string =>
  WORKFLOW.replace(
    "sleep 0.2",
    `case {{Target}} in ${WAITING.map((n) => `run-${n}`).join("|")}) touch ${signals}/{{Target}}; ` +
      `for i in $(seq 600); do [ -e ${signals}/restarted ] && break; sleep 0.1; done;; *) sleep 0.2;; esac`,
  );

test("after kill -9 during 20 runs, all of them complete with one result for each step", async () => {
  const stack = `kill-${randomUUID().slice(0, 8)}`;
  const dataDir = await mkdtemp(join(tmpdir(), "weft-kill-cloud-"));
  const signals = await mkdtemp(join(tmpdir(), "weft-kill-signals-"));
  for (const dir of [dataDir, signals])
    onTestFinished(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));
  await using proxy = await startAwsProxy(1);
  const responses: Acknowledged = { acknowledged: [], refusals: [] };
  {
    await using first = await startServerBehindProxy(proxy, stack, dataDir);
    await first.storeWorkflow(waitingWorkflow(signals));
    for (let n = 0; n < RUNS; n += EMITTED_AT_ONCE) {
      const some = Array.from({ length: EMITTED_AT_ONCE }, (_, at) => n + at);
      await Promise.all(some.map((number) => emitRelay(first, responses, `run-${number}`)));
    }
    const count = async (status: string): Promise<number> =>
      (await first.get<Page<RunRecord>>(`/runs?limit=1&status=${status}`)).pagination.total;
    await waitUntil("some runs to be over", async () => (await count("completed")) >= COMPLETED_MIN, 60_000);
    await waitUntil(
      "the waiting steps to run",
      async () => (await readdir(signals)).length === WAITING.length,
      60_000,
    );
    await first.kill();
  }
  expect(responses.acknowledged).toHaveLength(RUNS);
  await using second = await startServerBehindProxy(proxy, stack, dataDir);
  const { pagination } = await second.get<Page<RunRecord>>("/runs?limit=1&status=completed");
  expect(pagination.total).toBeLessThan(RUNS);
  await writeFile(join(signals, "restarted"), "");
  const runs = await readAllRuns(second, stack, responses);
  expect(runs).toHaveLength(RUNS);
  expect(await findRelayIssues(second, responses, runs)).toEqual([]);
  const attempts = await Promise.all(
    runs.map(async ({ run_id }) => Object.values(await second.steps(run_id)).map(({ attempt }) => attempt)),
  );
  expect(attempts.flat()).toHaveLength(RUNS * STEPS.length);
  // The kill interrupted the waiting steps.
  expect(attempts.flat().filter((attempt) => attempt > 1).length).toBeGreaterThanOrEqual(WAITING.length);
}, 200_000);
