import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { readLog, readRuns, storeWorkflow } from "../../testing/test-workflows.ts";
import { deleteWorkflow, saveWorkflow } from "../store/store.ts";
import { schedulesOf, scheduleWrites } from "../store/trigger-rows.ts";
import { schedulesTable } from "../store/trigger-tables.ts";
import { fireDueSchedules } from "./fire-due-schedules.ts";

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps();
});
afterEach(() => test.close());

const MINUTE = 60_000;
const cron = (name: string, schedule: string, more = ""): string =>
  `name: ${name}\ntriggers: [{name: clock, type: cron, schedule: "${schedule}"${more}}]\nsteps: [{name: a, type: bash, command: echo}]\n`;
const fired = async () => {
  const { records } = await readLog(test.deps, { topic: "schedule.triggered" });
  return records.map(({ data }) => JSON.parse(data) as { slot: string; missed: number }).reverse();
};

describe("a schedule", () => {
  it("fires at its slot: one complete event, and one run", async () => {
    await storeWorkflow(test.deps, cron("tick", "*/10 * * * *"));
    expect(await fireDueSchedules(test.deps)).toBe(0);
    test.clock.advance(10 * MINUTE - 1);
    expect(await fireDueSchedules(test.deps)).toBe(0);
    test.clock.advance(1);
    expect(await fireDueSchedules(test.deps)).toBe(1);
    await test.drain();
    const { records } = await readLog(test.deps, { topic: "schedule.triggered" });
    expect(records).toMatchObject([
      {
        name: "clock-triggered",
        source: "scheduler",
        data_type: "schedule",
        workflow_name: "tick",
        processed: true,
        error: "",
      },
    ]);
    expect(JSON.parse(records[0]?.data ?? "")).toEqual({
      schedule_id: "sch_tick:clock",
      trigger_type: "cron",
      schedule: "*/10 * * * *",
      slot: "2026-03-02T10:10:00.000Z",
      missed: 0,
    });
    const [run, ...more] = await readRuns(test.deps);
    expect(more).toEqual([]);
    expect(run).toMatchObject({
      status: "completed",
      trigger_type: "cron",
      trigger_name: "clock",
      event_id: records[0]?.event_id,
    });
    const started = await readLog(test.deps, { topic: "run.started", source: "scheduler" });
    expect(started.total).toBe(1);
    expect(await schedulesOf(test.deps, "tick")).toMatchObject([
      { next_run: "2026-03-02T10:20:00.000Z", last_run: "2026-03-02T10:10:00.000Z", run_count: 1 },
    ]);
  });

  it("never fires twice for one slot, even concurrently", async () => {
    await storeWorkflow(test.deps, cron("tick", "*/10 * * * *"));
    test.clock.advance(10 * MINUTE);
    const counts = await Promise.all([
      fireDueSchedules(test.deps),
      fireDueSchedules(test.deps),
      fireDueSchedules(test.deps),
    ]);
    expect(counts.toSorted()).toEqual([0, 0, 1]);
    expect(await fireDueSchedules(test.deps)).toBe(0);
    await test.drain();
    expect(await readRuns(test.deps)).toHaveLength(1);
  });

  it("fires once if several rules fire for one slot, concurrently or one after another", async () => {
    await storeWorkflow(test.deps, cron("tick", "0 11 2 * 1"));
    await storeWorkflow(test.deps, cron("tock", "0 11 * * *"));
    test.clock.advance(60 * MINUTE);
    const woken = ["month", "week", "each-minute"].map((rule) => ({
      body: JSON.stringify({ resources: [rule] }),
    }));
    await test.deps.queues.send("fire", woken);
    await test.drain();
    await test.deps.queues.send("fire", woken);
    await test.drain();
    const runs = await readRuns(test.deps);
    expect(runs.map(({ workflow_name }) => workflow_name).sort()).toEqual(["tick", "tock"]);
    expect(await fired()).toHaveLength(2);
  });

  it("starts one run for all missed slots, and counts them", async () => {
    await storeWorkflow(test.deps, cron("tick", "*/10 * * * *"));
    test.clock.advance(65 * MINUTE);
    expect(await fireDueSchedules(test.deps)).toBe(1);
    expect(await fireDueSchedules(test.deps)).toBe(0);
    await test.drain();
    expect(await fired()).toMatchObject([{ slot: "2026-03-02T11:00:00.000Z", missed: 5 }]);
    expect(await readRuns(test.deps)).toHaveLength(1);
    expect(await schedulesOf(test.deps, "tick")).toMatchObject([
      { next_run: "2026-03-02T11:10:00.000Z", run_count: 1 },
    ]);
    expect(test.logs.filter(({ message }) => message === "fired a missed schedule")).toHaveLength(1);
  });

  it("waits if the clock is set back, and repeats no slot", async () => {
    await storeWorkflow(test.deps, cron("tick", "*/10 * * * *"));
    test.clock.advance(10 * MINUTE);
    await fireDueSchedules(test.deps);
    test.clock.advance(-30 * MINUTE);
    expect(await fireDueSchedules(test.deps)).toBe(0);
    test.clock.advance(35 * MINUTE);
    expect(await fireDueSchedules(test.deps)).toBe(0);
    test.clock.advance(5 * MINUTE);
    expect(await fireDueSchedules(test.deps)).toBe(1);
    expect((await fired()).map(({ slot }) => slot)).toEqual([
      "2026-03-02T10:10:00.000Z",
      "2026-03-02T10:20:00.000Z",
    ]);
  });

  it("uses its time zone", async () => {
    await storeWorkflow(test.deps, cron("tick", "0 12 * * *", ", timezone: Europe/Berlin"));
    expect(await schedulesOf(test.deps, "tick")).toMatchObject([{ next_run: "2026-03-02T11:00:00.000Z" }]);
  });

  it("does not fire while it is disabled or its workflow is deleted", async () => {
    await storeWorkflow(test.deps, cron("off", "* * * * *", ", enabled: false"));
    await storeWorkflow(test.deps, cron("gone", "* * * * *"));
    await deleteWorkflow(test.deps, "gone");
    test.clock.advance(5 * MINUTE);
    expect(await fireDueSchedules(test.deps)).toBe(0);
    expect(await schedulesOf(test.deps, "gone")).toEqual([]);
  });

  it("runs the newest revision", async () => {
    await storeWorkflow(test.deps, cron("tick", "* * * * *"));
    await storeWorkflow(test.deps, `${cron("tick", "* * * * *")}description: newer\n`);
    test.clock.advance(MINUTE);
    await fireDueSchedules(test.deps);
    await test.drain();
    expect(await readRuns(test.deps)).toMatchObject([{ workflow_revision: 2 }]);
  });

  it("fires together with many other due schedules", async () => {
    for (let n = 0; n < 30; n += 1) await storeWorkflow(test.deps, cron(`tick${n}`, "* * * * *"));
    test.clock.advance(MINUTE);
    expect(await fireDueSchedules(test.deps)).toBe(30);
    expect(new Set((await readLog(test.deps)).records.map(({ workflow_name }) => workflow_name)).size).toBe(
      30,
    );
  });
});

describe("storing a workflow again", () => {
  it("keeps the due slot, and does not restore one that fired meanwhile", async () => {
    await storeWorkflow(test.deps, cron("tick", "*/10 * * * *"));
    test.clock.advance(10 * MINUTE);
    const trigger = {
      type: "cron",
      name: "clock",
      enabled: true,
      input: {},
      schedule: "*/10 * * * *",
      timezone: "UTC",
    } as const;
    const stale = await scheduleWrites(test.deps, "tick", [trigger]);
    await storeWorkflow(test.deps, `${cron("tick", "*/10 * * * *")}description: newer\n`);
    expect(await schedulesOf(test.deps, "tick")).toMatchObject([{ next_run: "2026-03-02T10:10:00.000Z" }]);
    expect(await fireDueSchedules(test.deps)).toBe(1);
    await test.deps.tables.write(stale);
    expect(await fireDueSchedules(test.deps)).toBe(0);
    expect(await schedulesOf(test.deps, "tick")).toMatchObject([{ run_count: 1 }]);
  });

  it("computes the next slot from now if the time changed, and deletes removed triggers", async () => {
    await storeWorkflow(test.deps, cron("tick", "*/10 * * * *"));
    test.clock.advance(10 * MINUTE);
    await storeWorkflow(test.deps, cron("tick", "*/15 * * * *"));
    expect(await fireDueSchedules(test.deps)).toBe(0);
    expect(await schedulesOf(test.deps, "tick")).toMatchObject([{ next_run: "2026-03-02T10:15:00.000Z" }]);
    await storeWorkflow(test.deps, cron("tick", "*/15 * * * *").replace("clock", "other"));
    expect((await schedulesOf(test.deps, "tick")).map(({ trigger }) => trigger)).toEqual(["other"]);
    await storeWorkflow(test.deps, "name: tick\nsteps: [{name: a, type: bash, command: echo}]\n");
    expect(await schedulesOf(test.deps, "tick")).toEqual([]);
  });

  it("leaves a complete schedule or none when it is deleted and stored concurrently", async () => {
    const yaml = cron("tick", "*/10 * * * *");
    const { head } = await storeWorkflow(test.deps, yaml);
    const definition = await test.deps.definitions.get("tick", head.revision);
    await Promise.allSettled([
      deleteWorkflow(test.deps, "tick"),
      saveWorkflow(test.deps, { definition, yaml: `${yaml}# again\n`, source: "api" }),
    ]);
    const { heads } = await test.deps.catalog.current();
    expect(await schedulesOf(test.deps, "tick")).toHaveLength(heads.length);
    const due = await test.deps.tables.query(schedulesTable, { index: "due", pk: "1" });
    expect(due.items).toHaveLength(heads.length);
  });
});
