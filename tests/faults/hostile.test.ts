import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { emitEvent } from "../../lib/events/emit.ts";
import type { CommandRequest } from "../../lib/platform/commands.ts";
import type { HostileOptions } from "../../lib/platform/embedded/hostile.ts";
import { PlatformFault } from "../../lib/platform/faults.ts";
import { type TestDeps, testClock, testDeps } from "../../lib/testing/test-deps.ts";
import { waitUntil } from "../../lib/testing/test-server.ts";
import { readLog, readRuns, storeWorkflow } from "../../lib/testing/test-workflows.ts";
import { cancelRun } from "../../lib/workflows/runs/cancel.ts";
import { resendStalledRuns } from "../../lib/workflows/runs/resend-stalled.ts";
import { startRun } from "../../lib/workflows/runs/start.ts";
import { fireDueSchedules } from "../../lib/workflows/schedules/fire-due-schedules.ts";
import {
  advanceUntilIdle,
  advanceWithFailures,
  causeOf,
  findRecordIssues,
  isDoneBefore,
  JOB,
  JOB_STEPS,
  retryFaults,
  TWIN,
} from "./test-hostile-platform.ts";

/** Number of seeds per scenario. A failure names its seed; `WEFT_HOSTILE_SEED` runs that seed alone. */
const RUNS = Number(process.env.WEFT_HOSTILE_RUNS ?? 3);
const SEED = process.env.WEFT_HOSTILE_SEED;
const SEEDS = SEED === undefined ? fc.integer({ min: 1, max: 1_000_000 }) : fc.constant(Number(SEED));
/** Number of processes on a hostile platform that work on the same data, one after another. */
const PROCESSES = 3;
const MINUTE = 60_000;
/** Longer than a step takes to notice that its run has ended. */
const STOPPED_MS = 1_000;

const DISORDER = { duplicates: 0.2, reorders: 0.3, delays: 0.1, delayMs: MINUTE, indexLagMs: 30_000 };
/** A delivery makes about ten calls: low enough that five deliveries of a message do not all fail. */
const REFUSALS = { throttles: 0.006, conflicts: 0.006, lostAnswers: 0.006 };
const FAILURES: readonly [string, Omit<HostileOptions, "seed">][] = [
  ["messages are duplicated, delayed and reordered, and indexes lag", DISORDER],
  ["calls are rejected and responses are lost", REFUSALS],
  ["all failures are combined", { ...DISORDER, ...REFUSALS }],
];

interface Scenario<Outcome> {
  readonly workflows: readonly string[];
  readonly command?: (request: CommandRequest) => Promise<{ exitCode?: number; stdout?: string }>;
  /** Runs on the hostile platform. Returns what was acknowledged. */
  act(app: TestDeps): Promise<Outcome>;
  /** Checks the data on a platform without failures. */
  verify(app: TestDeps, outcome: Outcome): Promise<void>;
}

/** Runs a scenario on hostile platforms, one for each seed. */
async function runScenario<Outcome>(
  options: Omit<HostileOptions, "seed">,
  scenario: () => Scenario<Outcome>,
): Promise<void> {
  const once = async (seed: number): Promise<void> => {
    const { workflows, command, act, verify } = scenario();
    const folder = await mkdtemp(join(tmpdir(), "weft-hostile-"));
    const clock = testClock();
    const inside = async <Result>(
      hostile: HostileOptions | undefined,
      work: (app: TestDeps) => Promise<Result>,
    ): Promise<Result> => {
      const app = await testDeps({
        folder,
        clock,
        ...(hostile === undefined ? {} : { hostile }),
        ...(command === undefined ? {} : { command }),
      });
      return work(app).finally(() => app.close());
    };
    try {
      await inside(undefined, async ({ deps }) => {
        for (const yaml of workflows) await storeWorkflow(deps, yaml);
      });
      const outcome = await inside({ seed, ...options }, async (app) => {
        const acknowledged = await act(app);
        await advanceWithFailures(app);
        return acknowledged;
      });
      for (let next = 1; next < PROCESSES; next += 1)
        await inside({ seed: seed + next, ...options }, advanceWithFailures);
      await inside(undefined, async (app) => {
        await advanceUntilIdle(app);
        await verify(app, outcome);
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
  await fc.assert(fc.asyncProperty(SEEDS, once), {
    numRuns: SEED === undefined ? RUNS : 1,
    // Shrinking a seed does not make the failure simpler.
    endOnFailure: true,
  });
}

/** True if the call succeeded; false if the platform failed, which says nothing about whether it was carried out. */
const isAcknowledged = (work: () => Promise<unknown>): Promise<boolean> =>
  work().then(
    () => true,
    (error: unknown) => {
      if (error instanceof PlatformFault) return false;
      throw error;
    },
  );

test.each(FAILURES)("every event starts its runs and each step has one result when %s", (_name, failures) =>
  runScenario(failures, () => ({
    workflows: [JOB, TWIN],
    act: async (app) => {
      const acknowledged: number[] = [];
      for (let n = 0; n < 4; n += 1) {
        const emit = () => emitEvent(app.deps, { topic: "custom.job", data: { n } });
        if (await isAcknowledged(emit)) acknowledged.push(n);
        if (n === 1) await retryFaults(() => app.drain());
      }
      return acknowledged;
    },
    verify: async (app, acknowledged) => {
      expect(await findRecordIssues(app, { job: JOB_STEPS, twin: ["only"] })).toEqual([]);
      const events = (await readLog(app.deps, { topic: "custom.job" })).records;
      const numbers = events.map(({ data }) => (JSON.parse(data) as { n: number }).n);
      expect(numbers).toEqual(expect.arrayContaining(acknowledged));
      expect(new Set(numbers).size).toBe(numbers.length);
      const wanted = events.flatMap(({ event_id }) =>
        ["job asked", "twin one", "twin other"].map((cause) => `${event_id} ${cause}`),
      );
      const runs = await readRuns(app.deps);
      expect(runs.map(causeOf).toSorted()).toEqual(wanted.toSorted());
      expect(new Set(runs.map(({ status }) => status))).toEqual(new Set(["completed"]));
    },
  })),
);

const SLOTS = 4;

test.each(FAILURES)("every slot of a schedule fires once when %s", (_name, failures) =>
  runScenario(failures, () => ({
    workflows: [
      "name: tick\ntriggers: [{name: clock, type: cron, schedule: '*/10 * * * *'}]\nsteps: [{name: only, type: bash, command: 'true'}]\n",
    ],
    act: async (app) => {
      for (let slot = 0; slot < SLOTS; slot += 1) {
        app.clock.advance(10 * MINUTE);
        // Several callers check concurrently, and once more after the indexes have caught up.
        await Promise.all([1, 2, 3].map(() => retryFaults(() => fireDueSchedules(app.deps))));
        app.clock.advance(MINUTE);
        await retryFaults(() => fireDueSchedules(app.deps));
        app.clock.advance(-MINUTE);
      }
    },
    verify: async (app) => {
      expect(await findRecordIssues(app, { tick: ["only"] })).toEqual([]);
      const fired = (await readLog(app.deps, { topic: "schedule.triggered" })).records;
      const slots = fired.map(({ data }) => (JSON.parse(data) as { slot: string }).slot);
      expect(slots.toSorted()).toEqual(
        Array.from({ length: SLOTS }, (_, slot) => `2026-03-02T10:${slot + 1}0:00.000Z`),
      );
      const runs = await readRuns(app.deps);
      expect(runs.map(causeOf).toSorted()).toEqual(
        fired.map(({ event_id }) => `${event_id} tick clock`).toSorted(),
      );
    },
  })),
);

test.each(FAILURES)("a run that is cancelled during a step stays cancelled when %s", (_name, failures) =>
  runScenario(failures, () => {
    const running = new Set<CommandRequest>();
    const begins = Promise.withResolvers<"begun">();
    const ends = Promise.withResolvers<void>();
    return {
      workflows: [
        "name: long\nsteps: [{name: waits, type: bash, command: wait}, {name: never, type: bash, command: 'true'}]",
      ],
      command: async (request) => {
        running.add(request);
        begins.resolve("begun");
        const { signal } = request;
        const stopped = new Promise((resolve) => signal?.addEventListener("abort", resolve));
        if (signal?.aborted === false) await Promise.race([stopped, ends.promise]);
        running.delete(request);
        return { exitCode: 1 };
      },
      act: async (app) => {
        // A lost response leads to a second run; the test cancels all runs.
        await retryFaults(() => startRun(app.deps, { module: "long" }));
        for (let rounds = 0; ; rounds += 1) {
          if ((await Promise.race([begins.promise, retryFaults(() => app.drain())])) === "begun") break;
          // A message whose release was rejected stays hidden for longer than the test takes, so the run is
          // cancelled before its step begins.
          if (rounds > 20 && "throttles" in failures) break;
          if (rounds > 20) throw new Error("no step begins");
          app.clock.advance(5 * MINUTE);
          await retryFaults(() => resendStalledRuns(app.deps));
        }
        // The index behind the list of runs lags.
        app.clock.advance(DISORDER.indexLagMs);
        for (const { run_id } of await retryFaults(() => readRuns(app.deps))) {
          await retryFaults(() => cancelRun(app.deps, run_id)).catch((error: unknown) => {
            if (!isDoneBefore(error)) throw error;
          });
        }
        // If the cancellation does not reach a step, the step ends by itself and its late result is discarded.
        if ("lostAnswers" in failures) await sleep(STOPPED_MS).then(() => ends.resolve());
        await waitUntil("the steps to end", () => running.size === 0);
      },
      verify: async (app) => {
        expect(await findRecordIssues(app, {})).toEqual([]);
        const runs = await readRuns(app.deps);
        expect(runs.length).toBeGreaterThan(0);
        expect(new Set(runs.map(({ status }) => status))).toEqual(new Set(["cancelled"]));
      },
    };
  }),
);
