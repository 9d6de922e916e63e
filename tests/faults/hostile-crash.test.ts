import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { emitEvent } from "../../lib/events/emit.ts";
import { isCrash, type TestDeps, testClock, testDeps } from "../../lib/testing/test-deps.ts";
import { readLog, readRuns, storeWorkflow } from "../../lib/testing/test-workflows.ts";
import { cancelRun } from "../../lib/workflows/runs/cancel.ts";
import { fireDueSchedules } from "../../lib/workflows/schedules/fire-due-schedules.ts";
import { advanceUntilIdle, causeOf, findRecordIssues, JOB, JOB_STEPS } from "./test-hostile-platform.ts";

const MINUTE = 60_000;
const CLOCK = `name: tick
triggers: [{name: clock, type: cron, schedule: '*/10 * * * *'}]
steps: [{name: only, type: bash, command: 'true'}]
`;

/** Concurrent processes, each with its own data; they mostly wait for the disk. */
const AT_ONCE = 8;
const COMMITS_MAX = 400;

interface Scenario {
  readonly workflow: string;
  /** Runs until the process crashes. Calls `acknowledge` after the request under test succeeded. */
  act(app: TestDeps, acknowledge: () => void): Promise<void>;
  /** Checks the data after another process has recovered from the crash. */
  verify(app: TestDeps, acknowledged: boolean): Promise<void>;
}

/**
 * Runs a scenario once for each of its commits, with a process that crashes at that commit, and then continues with
 * another process on the same data. Returns the number of commits.
 */
async function crashAtEachCommit({ workflow, act, verify }: Scenario): Promise<number> {
  const root = await mkdtemp(join(tmpdir(), "weft-crash-"));
  const prepared = join(root, "prepared");
  const crashAt = async (commit: number): Promise<"crashed" | "survived"> => {
    const folder = join(root, String(commit));
    await cp(prepared, folder, { recursive: true });
    const clock = testClock();
    let crashed = false;
    let acknowledged = false;
    const onCrash = (): void => {
      crashed = true;
    };
    // The seed decides whether the crash comes just before or just after the commit.
    const hostile = { seed: commit, crashAtCommit: commit, onCrash };
    const crashing = await testDeps({ folder, clock, hostile });
    try {
      await act(crashing, () => {
        acknowledged = true;
      });
    } catch (error) {
      if (!isCrash(error)) throw error;
    } finally {
      await crashing.close();
    }
    if (!crashed) return "survived";
    const recovered = await testDeps({ folder, clock });
    try {
      await advanceUntilIdle(recovered);
      await verify(recovered, acknowledged);
    } catch (cause) {
      throw new Error(`died at commit ${commit}`, { cause });
    } finally {
      await recovered.close();
    }
    return "crashed";
  };
  try {
    const before = await testDeps({ folder: prepared });
    await storeWorkflow(before.deps, workflow);
    await before.close();
    for (let first = 1; first < COMMITS_MAX; first += AT_ONCE) {
      const outcomes = await Promise.all(Array.from({ length: AT_ONCE }, (_, at) => crashAt(first + at)));
      const end = outcomes.indexOf("survived");
      if (end >= 0) return first + end - 1;
    }
    throw new Error("the story has no end");
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

test("a crash at any commit of an event and its run neither loses nor duplicates a record", async () => {
  const commits = await crashAtEachCommit({
    workflow: JOB,
    act: async (app, acknowledge) => {
      await emitEvent(app.deps, { topic: "custom.job" });
      acknowledge();
      await app.drain();
    },
    verify: async (app, acknowledged) => {
      expect(await findRecordIssues(app, { job: JOB_STEPS })).toEqual([]);
      const events = (await readLog(app.deps, { topic: "custom.job" })).records;
      expect(acknowledged ? [1] : [0, 1]).toContain(events.length);
      const runs = await readRuns(app.deps);
      expect(runs.map(causeOf)).toEqual(events.map(({ event_id }) => `${event_id} job asked`));
      expect(runs.every(({ status }) => status === "completed")).toBe(true);
    },
  });
  // At least the emit, and a lease, a report, a decision and its messages for each of eight requests.
  expect(commits).toBeGreaterThan(50);
}, 180_000);

test("a crash at any commit of a schedule's fire produces one event for its slot", async () => {
  const commits = await crashAtEachCommit({
    workflow: CLOCK,
    act: async (app) => {
      app.clock.advance(10 * MINUTE);
      await fireDueSchedules(app.deps);
      await app.drain();
    },
    verify: async (app) => {
      // The scheduled rule does this each minute; the slot is past by now.
      await fireDueSchedules(app.deps);
      await advanceUntilIdle(app);
      expect(await findRecordIssues(app, { tick: ["only"] })).toEqual([]);
      const fired = (await readLog(app.deps, { topic: "schedule.triggered" })).records;
      const slots = fired.map(({ data }) => (JSON.parse(data) as { slot: string }).slot);
      expect(new Set(slots).size).toBe(slots.length);
      expect(slots.length).toBeGreaterThan(0);
      const runs = await readRuns(app.deps);
      expect(runs.map(causeOf).toSorted()).toEqual(
        fired.map(({ event_id }) => `${event_id} tick clock`).toSorted(),
      );
    },
  });
  expect(commits).toBeGreaterThan(15);
}, 120_000);

test("a crash at any commit of a cancellation leaves the run cancelled or not cancelled at all", async () => {
  const commits = await crashAtEachCommit({
    workflow: JOB,
    act: async (app, acknowledge) => {
      await emitEvent(app.deps, { topic: "custom.job" });
      await app.drain(["bash"]);
      const [run] = await readRuns(app.deps);
      await cancelRun(app.deps, run?.run_id ?? "");
      acknowledge();
      await app.drain();
    },
    verify: async (app, acknowledged) => {
      expect(await findRecordIssues(app, { job: JOB_STEPS })).toEqual([]);
      const runs = await readRuns(app.deps);
      expect(runs).toHaveLength((await readLog(app.deps, { topic: "custom.job" })).total);
      for (const { status } of runs)
        expect(acknowledged ? ["cancelled"] : ["cancelled", "completed"]).toContain(status);
    },
  });
  expect(commits).toBeGreaterThan(15);
}, 120_000);
