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
  causeOf,
  isDoneBefore,
  JOB,
  JOB_STEPS,
  pester,
  recordFaults,
  settle,
  TWIN,
  through,
} from "./test-hostile-platform.ts";

/** Houses that a story is tried in; a failure names its seed, which `WEFT_HOSTILE_SEED` tries again alone. */
const RUNS = Number(process.env.WEFT_HOSTILE_RUNS ?? 3);
const SEED = process.env.WEFT_HOSTILE_SEED;
const SEEDS = SEED === undefined ? fc.integer({ min: 1, max: 1_000_000 }) : fc.constant(Number(SEED));
/** Hostile processes that live on the same data, one after another. */
const LIVES = 3;
const MINUTE = 60_000;
/** Longer than a step takes to see that its run is over. */
const STOPPED_MS = 1_000;

const DISORDER = { duplicates: 0.2, reorders: 0.3, delays: 0.1, delayMs: MINUTE, indexLagMs: 30_000 };
/** No more than the deliveries that a message has can bear. */
const REFUSALS = { throttles: 0.01, conflicts: 0.01, lostAnswers: 0.01 };
const BADNESS: readonly [string, Omit<HostileOptions, "seed">][] = [
  ["messages come twice, late and out of order and indexes lag", DISORDER],
  ["calls are refused and their answers get lost", REFUSALS],
  ["all of it at once", { ...DISORDER, ...REFUSALS }],
];

interface Story<Known> {
  readonly workflows: readonly string[];
  readonly command?: (request: CommandRequest) => Promise<{ exitCode?: number; stdout?: string }>;
  /** What happens in the hostile house; answers what its callers were told. */
  happens(house: TestDeps): Promise<Known>;
  /** Looks at what is left, in a friendly house. */
  judge(house: TestDeps, known: Known): Promise<void>;
}

/** Plays a story in houses that are hostile each in its own way. */
async function play<Known>(options: Omit<HostileOptions, "seed">, story: () => Story<Known>): Promise<void> {
  const once = async (seed: number): Promise<void> => {
    const { workflows, command, happens, judge } = story();
    const folder = await mkdtemp(join(tmpdir(), "weft-hostile-"));
    const clock = testClock();
    const inside = async <Result>(
      hostile: HostileOptions | undefined,
      work: (house: TestDeps) => Promise<Result>,
    ): Promise<Result> => {
      const house = await testDeps({
        folder,
        clock,
        ...(hostile === undefined ? {} : { hostile }),
        ...(command === undefined ? {} : { command }),
      });
      return work(house).finally(() => house.close());
    };
    try {
      await inside(undefined, async ({ deps }) => {
        for (const yaml of workflows) await storeWorkflow(deps, yaml);
      });
      const known = await inside({ seed, ...options }, async (house) => {
        const told = await happens(house);
        await pester(house);
        return told;
      });
      for (let life = 1; life < LIVES; life += 1) await inside({ seed: seed + life, ...options }, pester);
      await inside(undefined, async (house) => {
        await settle(house);
        await judge(house, known);
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
  await fc.assert(fc.asyncProperty(SEEDS, once), {
    numRuns: SEED === undefined ? RUNS : 1,
    // The first seed that fails is as good as any other.
    endOnFailure: true,
  });
}

/** True where it was done as far as its caller knows; an answer that was lost says nothing. */
const acknowledged = (work: () => Promise<unknown>): Promise<boolean> =>
  work().then(
    () => true,
    (error: unknown) => {
      if (error instanceof PlatformFault) return false;
      throw error;
    },
  );

test.each(BADNESS)("every event has its runs, each step one result: %s", (_name, badness) =>
  play(badness, () => ({
    workflows: [JOB, TWIN],
    happens: async (house) => {
      const told: number[] = [];
      for (let n = 0; n < 4; n += 1) {
        const emit = () => emitEvent(house.deps, { topic: "custom.job", data: { n } });
        if (await acknowledged(emit)) told.push(n);
        if (n === 1) await through(() => house.drain());
      }
      return told;
    },
    judge: async (house, told) => {
      expect(await recordFaults(house, { job: JOB_STEPS, twin: ["only"] })).toEqual([]);
      const events = (await readLog(house.deps, { topic: "custom.job" })).records;
      const numbers = events.map(({ data }) => (JSON.parse(data) as { n: number }).n);
      expect(numbers).toEqual(expect.arrayContaining(told));
      expect(new Set(numbers).size).toBe(numbers.length);
      const wanted = events.flatMap(({ event_id }) =>
        ["job asked", "twin one", "twin other"].map((cause) => `${event_id} ${cause}`),
      );
      const runs = await readRuns(house.deps);
      expect(runs.map(causeOf).toSorted()).toEqual(wanted.toSorted());
      expect(new Set(runs.map(({ status }) => status))).toEqual(new Set(["completed"]));
    },
  })),
);

const SLOTS = 4;

test.each(BADNESS)("every slot of a schedule fires once: %s", (_name, badness) =>
  play(badness, () => ({
    workflows: [
      "name: tick\ntriggers: [{name: clock, type: cron, schedule: '*/10 * * * *'}]\nsteps: [{name: only, type: bash, command: 'true'}]\n",
    ],
    happens: async (house) => {
      for (let slot = 0; slot < SLOTS; slot += 1) {
        house.clock.advance(10 * MINUTE);
        // Several look at once, and again when the indexes have caught up.
        await Promise.all([1, 2, 3].map(() => through(() => fireDueSchedules(house.deps))));
        house.clock.advance(MINUTE);
        await through(() => fireDueSchedules(house.deps));
        house.clock.advance(-MINUTE);
      }
    },
    judge: async (house) => {
      expect(await recordFaults(house, { tick: ["only"] })).toEqual([]);
      const fired = (await readLog(house.deps, { topic: "schedule.triggered" })).records;
      const slots = fired.map(({ data }) => (JSON.parse(data) as { slot: string }).slot);
      expect(slots.toSorted()).toEqual(
        Array.from({ length: SLOTS }, (_, slot) => `2026-03-02T10:${slot + 1}0:00.000Z`),
      );
      const runs = await readRuns(house.deps);
      expect(runs.map(causeOf).toSorted()).toEqual(
        fired.map(({ event_id }) => `${event_id} tick clock`).toSorted(),
      );
    },
  })),
);

test.each(BADNESS)("a run that is cancelled amid a step is over for good: %s", (_name, badness) =>
  play(badness, () => {
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
      happens: async (house) => {
        // Where an answer is lost there is a run more, that nobody was told of; all of them are cancelled.
        await through(() => startRun(house.deps, { module: "long" }));
        for (let rounds = 0; ; rounds += 1) {
          if ((await Promise.race([begins.promise, through(() => house.drain())])) === "begun") break;
          // A message whose return was refused stays hidden, for longer than this takes: its run is cancelled before its step.
          if (rounds > 20 && "throttles" in badness) break;
          if (rounds > 20) throw new Error("no step begins");
          house.clock.advance(5 * MINUTE);
          await through(() => resendStalledRuns(house.deps));
        }
        // Until the list of runs shows it.
        house.clock.advance(DISORDER.indexLagMs);
        for (const { run_id } of await through(() => readRuns(house.deps))) {
          await through(() => cancelRun(house.deps, run_id)).catch((error: unknown) => {
            if (!isDoneBefore(error)) throw error;
          });
        }
        // Whom no word of the cancellation reaches comes to an end by himself, and is too late with his result.
        if ("lostAnswers" in badness) await sleep(STOPPED_MS).then(() => ends.resolve());
        await waitUntil("the steps to end", () => running.size === 0);
      },
      judge: async (house) => {
        expect(await recordFaults(house, {})).toEqual([]);
        const runs = await readRuns(house.deps);
        expect(runs.length).toBeGreaterThan(0);
        expect(new Set(runs.map(({ status }) => status))).toEqual(new Set(["cancelled"]));
      },
    };
  }),
);
