import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { emitEvent } from "../../events/emit.ts";
import { resendPending } from "../../events/log/process.ts";
import type { HostileOptions } from "../../platform/embedded/hostile.ts";
import { isCrash, type TestDeps, testClock, testDeps } from "../../testing/test-deps.ts";
import { readLog, readRuns, storeWorkflow } from "../../testing/test-workflows.ts";
import { resendStalledRuns } from "../runs/resend-stalled.ts";
import { fireDueSchedules } from "../schedules/fire-due-schedules.ts";
import { schedulesOf } from "../store/trigger-rows.ts";

const WORKFLOW = `
name: w
triggers:
  - {name: heard, type: event, topic: custom.x, dedupe_key: "{{event.data.key}}", dedupe_window: 1d}
  - {name: clock, type: cron, schedule: "*/10 * * * *", misfire: all}
steps: [{name: a, type: bash, command: echo}]
`;

async function recover(test: TestDeps): Promise<void> {
  for (let round = 0; round < 12; round += 1) {
    await test.drain();
    test.clock.advance(5 * 60_000);
    if ((await resendPending(test.deps, 100)) + (await resendStalledRuns(test.deps)) === 0) return;
  }
  throw new Error("the sweeps find no end");
}

/**
 * Emits, fires and processes on a platform that may crash, then on one that does not; acknowledged events must have
 * effect.
 */
async function withMishap(hostile: HostileOptions): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "weft-hostile-"));
  const clock = testClock();
  try {
    const before = await testDeps({ folder, clock });
    await storeWorkflow(before.deps, WORKFLOW);
    await before.close();
    const rough = await testDeps({ folder, clock, hostile });
    const told: string[] = [];
    try {
      for (const key of ["a", "b", "a"]) {
        const { triggered_workflows } = await emitEvent(rough.deps, { topic: "custom.x", data: { key } });
        if (triggered_workflows.length > 0) told.push(key);
      }
      clock.advance(30 * 60_000);
      await fireDueSchedules(rough.deps);
      await rough.drain();
    } catch (error) {
      if (!isCrash(error)) throw error;
    }
    await rough.close().catch(() => undefined);

    const calm = await testDeps({ folder, clock });
    for (const key of ["a", "b"]) await emitEvent(calm.deps, { topic: "custom.x", data: { key } });
    clock.advance(20 * 60_000);
    await fireDueSchedules(calm.deps);
    await recover(calm);
    expect(new Set(told).size).toBe(told.length);
    // Whatever happened, each key and each slot started one run.
    const runs = await readRuns(calm.deps);
    const of = (name: string) => runs.filter(({ trigger_name }) => trigger_name === name);
    expect(of("heard")).toHaveLength(2);
    const { records } = await readLog(calm.deps, { topic: "schedule.triggered" });
    const slots = records.map(({ data }) => (JSON.parse(data) as { slot: string }).slot);
    expect(new Set(slots).size).toBe(slots.length);
    expect(of("clock")).toHaveLength(slots.length);
    const rows = await schedulesOf(calm.deps, "w");
    const counts = Object.fromEntries(rows.map(({ trigger, run_count }) => [trigger, run_count]));
    expect(counts).toEqual({ heard: 2, clock: slots.length });
    await calm.close();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

it.each(Array.from({ length: 14 }, (_, index) => index + 1))(
  "a crash at commit %i loses no fire, wastes no key and counts no fire twice",
  (crashAtCommit) => withMishap({ seed: crashAtCommit, crashAtCommit }),
);

it.each([1, 2, 3, 4])("duplicate and late messages start and count nothing twice (%i)", (seed) =>
  withMishap({ seed, indexLagMs: 50, duplicates: 0.4, reorders: 0.4 }),
);
