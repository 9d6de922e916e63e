import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { emitEvent } from "../../lib/events/emit.ts";
import { isCrash, type TestDeps, testClock, testDeps } from "../../lib/testing/test-deps.ts";
import { readLog, readRuns, storeWorkflow } from "../../lib/testing/test-workflows.ts";
import { cancelRun } from "../../lib/workflows/runs/cancel.ts";
import { fireDueSchedules } from "../../lib/workflows/schedules/fire-due-schedules.ts";
import { causeOf, JOB, JOB_STEPS, recordFaults, settle } from "./test-hostile-platform.ts";

const MINUTE = 60_000;
const CLOCK = `name: tick
triggers: [{name: clock, type: cron, schedule: '*/10 * * * *'}]
steps: [{name: only, type: bash, command: 'true'}]
`;

/** Processes that die at the same time, each on data of its own: most of their time they wait for the disk. */
const AT_ONCE = 8;
const COMMITS_MAX = 400;

interface Story {
  readonly workflow: string;
  /** What happens until the process dies; calls `tell` where a caller is told that what it asked for is done. */
  happens(house: TestDeps, tell: () => void): Promise<void>;
  /** Looks at what another process made of what was left. */
  judge(house: TestDeps, told: boolean): Promise<void>;
}

/**
 * Plays a story once for each of its commits, with a process that dies at it, and lets another go on with what is
 * left. Answers how many commits there are.
 */
async function dieAtEach({ workflow, happens, judge }: Story): Promise<number> {
  const root = await mkdtemp(join(tmpdir(), "weft-crash-"));
  const prepared = join(root, "prepared");
  const dieAt = async (commit: number): Promise<"died" | "survived"> => {
    const folder = join(root, String(commit));
    await cp(prepared, folder, { recursive: true });
    const clock = testClock();
    let died = false;
    let told = false;
    const onCrash = (): void => {
      died = true;
    };
    // The seed says whether it dies just before the commit or just after it.
    const hostile = { seed: commit, crashAtCommit: commit, onCrash };
    const dying = await testDeps({ folder, clock, hostile });
    try {
      await happens(dying, () => {
        told = true;
      });
    } catch (error) {
      if (!isCrash(error)) throw error;
    } finally {
      await dying.close();
    }
    if (!died) return "survived";
    const after = await testDeps({ folder, clock });
    try {
      await settle(after);
      await judge(after, told);
    } catch (cause) {
      throw new Error(`died at commit ${commit}`, { cause });
    } finally {
      await after.close();
    }
    return "died";
  };
  try {
    const before = await testDeps({ folder: prepared });
    await storeWorkflow(before.deps, workflow);
    await before.close();
    for (let first = 1; first < COMMITS_MAX; first += AT_ONCE) {
      const outcomes = await Promise.all(Array.from({ length: AT_ONCE }, (_, at) => dieAt(first + at)));
      const end = outcomes.indexOf("survived");
      if (end >= 0) return first + end - 1;
    }
    throw new Error("the story has no end");
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

test("a crash at any commit of an event's way loses nothing and doubles nothing", async () => {
  const commits = await dieAtEach({
    workflow: JOB,
    happens: async (house, tell) => {
      await emitEvent(house.deps, { topic: "custom.job" });
      tell();
      await house.drain();
    },
    judge: async (house, told) => {
      expect(await recordFaults(house, { job: JOB_STEPS })).toEqual([]);
      const events = (await readLog(house.deps, { topic: "custom.job" })).records;
      expect(told ? [1] : [0, 1]).toContain(events.length);
      const runs = await readRuns(house.deps);
      expect(runs.map(causeOf)).toEqual(events.map(({ event_id }) => `${event_id} job asked`));
      expect(runs.every(({ status }) => status === "completed")).toBe(true);
    },
  });
  // The emit, and of each of eight requests a lease, a report, a decision and its messages at the least.
  expect(commits).toBeGreaterThan(50);
}, 180_000);

test("a crash at any commit of a schedule's way fires its slot once", async () => {
  const commits = await dieAtEach({
    workflow: CLOCK,
    happens: async (house) => {
      house.clock.advance(10 * MINUTE);
      await fireDueSchedules(house.deps);
      await house.drain();
    },
    judge: async (house) => {
      // What the scheduled rule does each minute; the slot is long past by now.
      await fireDueSchedules(house.deps);
      await settle(house);
      expect(await recordFaults(house, { tick: ["only"] })).toEqual([]);
      const fired = (await readLog(house.deps, { topic: "schedule.triggered" })).records;
      const slots = fired.map(({ data }) => (JSON.parse(data) as { slot: string }).slot);
      expect(new Set(slots).size).toBe(slots.length);
      expect(slots.length).toBeGreaterThan(0);
      const runs = await readRuns(house.deps);
      expect(runs.map(causeOf).toSorted()).toEqual(
        fired.map(({ event_id }) => `${event_id} tick clock`).toSorted(),
      );
    },
  });
  expect(commits).toBeGreaterThan(15);
}, 120_000);

test("a crash at any commit of a cancelled run leaves it cancelled, or as if nobody had asked", async () => {
  const commits = await dieAtEach({
    workflow: JOB,
    happens: async (house, tell) => {
      await emitEvent(house.deps, { topic: "custom.job" });
      await house.drain(["bash"]);
      const [run] = await readRuns(house.deps);
      await cancelRun(house.deps, run?.run_id ?? "");
      tell();
      await house.drain();
    },
    judge: async (house, told) => {
      expect(await recordFaults(house, { job: JOB_STEPS })).toEqual([]);
      const runs = await readRuns(house.deps);
      expect(runs).toHaveLength((await readLog(house.deps, { topic: "custom.job" })).total);
      for (const { status } of runs)
        expect(told ? ["cancelled"] : ["cancelled", "completed"]).toContain(status);
    },
  });
  expect(commits).toBeGreaterThan(15);
}, 120_000);
