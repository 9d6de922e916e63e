import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readAll } from "../../events/read-all.ts";
import { isCrash, type TestDeps, testClock, testDeps } from "../../testing/test-deps.ts";
import { readRuns, storeWorkflow } from "../../testing/test-workflows.ts";
import { sweepRunQueue } from "./admission.ts";
import { resendStalledRuns } from "./resend-stalled.ts";
import { startBody, startRun } from "./start.ts";
import { jobPartition, runQueueTable } from "./table.ts";

const TARGETS = ["a", "b", "c", "d", "e"];
const settings = { RUNS_CONCURRENCY_MAX: "2" };

/** Runs sweeps, as timers would, until nothing is left to resend. */
async function recover(test: TestDeps): Promise<void> {
  for (let round = 0; round < 12; round += 1) {
    await test.drain();
    test.clock.advance(5 * 60_000);
    await sweepRunQueue(test.deps);
    await resendStalledRuns(test.deps);
  }
  await test.drain();
}

const CRASHES = [1, 2, 3].flatMap((seed) =>
  Array.from({ length: 10 }, (_, n) => [seed, seed + n * 5] as const),
);

it.each(CRASHES)(
  "runs every run of a job and leaks no slot when the server crashes at a commit (seed %i, commit %i)",
  async (seed, crashAtCommit) => {
    const folder = await mkdtemp(join(tmpdir(), "weft-turns-"));
    const clock = testClock();
    try {
      const before = await testDeps({ folder, clock, settings });
      await storeWorkflow(
        before.deps,
        'name: one\nsteps: [{name: s, type: bash, command: "echo {{Target}}"}]\n',
      );
      const body = startBody.parse({ module: "one", targets: TARGETS, concurrency: 3 });
      const { job_id } = await startRun(before.deps, body);
      await before.close();
      const hostile = { seed, duplicates: 0.1, reorders: 0.1, crashAtCommit, onCrash: () => undefined };
      const dying = await testDeps({ folder, clock, settings, hostile });
      await dying.drain().catch((error: unknown) => {
        if (!isCrash(error)) throw error;
      });
      await dying.close();
      const after = await testDeps({ folder, clock, settings });
      await recover(after);
      const ended = (await readRuns(after.deps)).map(({ target, status }) => `${target} ${status}`);
      expect(ended.toSorted()).toEqual(TARGETS.map((target) => `${target} completed`));
      for (const pk of ["slots", "waiting", jobPartition(job_id)])
        expect(await readAll(after.deps, runQueueTable, { pk })).toEqual([]);
      await after.close();
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
);
