import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Scheduler } from "../../platform/scheduler.ts";
import { TEST_START_MS, type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { readRuns, storeWorkflow } from "../../testing/test-workflows.ts";
import { deleteWorkflow } from "./store.ts";
import { schedulesOf } from "./trigger-rows.ts";
import { schedulesTable } from "./trigger-tables.ts";

const MINUTE = 60_000;
const cron = (name: string, schedule: string, more = ""): string =>
  `name: ${name}\ntriggers: [{name: clock, type: cron, schedule: "${schedule}"${more}}]\nsteps: [{name: a, type: bash, command: echo}]\n`;

let test: TestDeps;
let told: { ensured: string[][]; reconciled: string[][]; swept: number[] };
/** The error of the platform's scheduler, if any. */
let answer: () => Promise<void>;
beforeEach(async () => {
  test = await testDeps();
  told = { ensured: [], reconciled: [], swept: [] };
  answer = async () => undefined;
  const scheduler: Scheduler = {
    ensure: async (expressions) => {
      told.ensured.push([...expressions]);
      await answer();
    },
    reconcile: async (expressions) => {
      told.reconciled.push([...expressions]);
      await answer();
    },
    sweepTimers: async (now) => told.swept.push(now),
  };
  Object.assign(test.deps, { scheduler });
});
afterEach(() => test.close());

/** Runs the next sweep, as its rule does. */
async function sweep(): Promise<void> {
  await test.deps.queues.send("sweep", [{ body: "{}" }]);
  await test.drain();
}
const warnings = (): number => test.logs.filter(({ message }) => message.includes("late")).length;

describe("storing a workflow", () => {
  it("sends its distinct expressions in UTC, with numeric fields", async () => {
    const triggers = [
      '{name: a, type: cron, schedule: "*/30 9 * * mon-fri"}',
      '{name: b, type: cron, schedule: "0,30 9 * * 1-5"}',
      '{name: c, type: cron, schedule: "0 12 * * *", timezone: Europe/Berlin}',
      '{name: d, type: cron, schedule: "0 13 * * *", enabled: false}',
      '{name: e, type: event, topic: "assets.new"}',
    ];
    await storeWorkflow(
      test.deps,
      `name: many\ntriggers:\n${triggers.map((one) => `  - ${one}\n`).join("")}steps: [{name: a, type: bash, command: echo}]\n`,
    );
    expect(told).toEqual({ ensured: [["0,30 9 * * 1,2,3,4,5"]], reconciled: [], swept: [] });
  });

  it("sends nothing if the schedules are unchanged, or if there are none", async () => {
    await storeWorkflow(test.deps, cron("tick", "0 9 * * *"));
    await storeWorkflow(test.deps, cron("tick", "0 9 * * *"));
    await storeWorkflow(test.deps, cron("off", "0 10 * * *", ", enabled: false"));
    await deleteWorkflow(test.deps, "tick");
    expect(told.ensured).toEqual([["0 9 * * *"]]);
  });

  it("succeeds if the platform's scheduler fails, and the schedule still fires", async () => {
    answer = () => Promise.reject(new Error("no answer"));
    await storeWorkflow(test.deps, cron("tick", "*/10 * * * *"));
    expect(warnings()).toBe(1);
    expect(await schedulesOf(test.deps, "tick")).toHaveLength(1);
    test.clock.advance(10 * MINUTE);
    await test.deps.queues.send("fire", [{ body: "{}" }]);
    await test.drain();
    expect(await readRuns(test.deps)).toHaveLength(1);
  });
});

describe("the sweep", () => {
  it("reconciles all expressions every ten minutes", async () => {
    await storeWorkflow(test.deps, cron("a", "0 9 * * *"));
    await storeWorkflow(test.deps, cron("b", "0 9 * * *"));
    await storeWorkflow(test.deps, cron("c", "5 9 * * *"));
    await storeWorkflow(test.deps, cron("gone", "15 9 * * *"));
    await storeWorkflow(test.deps, cron("off", "10 9 * * *", ", enabled: false"));
    await deleteWorkflow(test.deps, "gone");
    for (let minute = 0; minute < 30; minute += 1) {
      await sweep();
      test.clock.advance(MINUTE);
    }
    expect(told.reconciled).toHaveLength(3);
    expect(told.reconciled.map((one) => one.toSorted())).toEqual(
      Array.from({ length: 3 }, () => ["0 9 * * *", "5 9 * * *"]),
    );
  });

  it("deletes no rule if there are more schedules than it reads", async () => {
    const item = { timezone: "UTC", expression: "0 9 * * *", enabled: true, due: "1" };
    const more = { schedule_id: "s", trigger: "t", last_run: null, run_count: 0 };
    const next_run = new Date(TEST_START_MS).toISOString();
    const key = (n: number) => ({ pk: `w${n}`, sk: "t", workflow: `w${n}` });
    for (let from = 0; from <= 10_000; from += 100) {
      await test.deps.tables.write(
        Array.from({ length: 100 }, (_, n) => ({
          op: "put" as const,
          table: schedulesTable,
          item: { ...key(from + n), ...item, ...more, next_run },
        })),
      );
    }
    test.clock.advance(7 * MINUTE);
    await sweep();
    expect(told).toMatchObject({ ensured: [["0 9 * * *"]], reconciled: [] });
  });

  it("sends the due timers each time", async () => {
    await sweep();
    test.clock.advance(MINUTE);
    await sweep();
    expect(told.swept).toEqual([TEST_START_MS, TEST_START_MS + MINUTE]);
  });

  it("continues if the platform's scheduler fails", async () => {
    answer = () => Promise.reject(new Error("no answer"));
    test.clock.advance(7 * MINUTE);
    await sweep();
    expect(warnings()).toBe(1);
    expect(await test.deps.queues.depth("sweep")).toMatchObject({ visible: 0, inFlight: 0 });
    expect(await test.deps.queues.depth("sweep-dead-letters")).toMatchObject({ visible: 0 });
  });

  it("continues if timers cannot be sent, and is retried", async () => {
    let failures = 1;
    const { scheduler } = test.deps;
    const sweepTimers = async (now: number): Promise<number> => {
      if (failures > 0) {
        failures -= 1;
        throw new Error("no answer");
      }
      return scheduler.sweepTimers(now);
    };
    Object.assign(test.deps, { scheduler: { ...scheduler, sweepTimers } });
    test.clock.advance(7 * MINUTE);
    await sweep();
    expect(told.reconciled).toHaveLength(2);
    expect(told.swept).toHaveLength(1);
  });
});
