import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { emitEvent } from "#lib/events/emit.ts";
import { type TestDeps, testClock, testDeps } from "#lib/testing/test-deps.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { onTopic, readLog, readRuns, storeWorkflow } from "#lib/testing/test-workflows.ts";
import { fireDueSchedules } from "#lib/workflows/schedules/fire-due-schedules.ts";
import { deleteWorkflow } from "#lib/workflows/store/store.ts";
import * as receiver from "../event-receiver/workflows.ts";
import * as create from "./create.ts";
import * as remove from "./delete.ts";
import * as disable from "./disable.ts";
import * as enable from "./enable.ts";
import * as get from "./get.ts";
import * as list from "./list.ts";
import * as nextRuns from "./next-runs.ts";
import * as trigger from "./trigger.ts";
import * as update from "./update.ts";

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps();
});
afterEach(() => test.close());

const MINUTE = 60_000;
const module = (name: string, triggers = ""): string =>
  `name: ${name}\n${triggers === "" ? "" : `triggers: [${triggers}]\n`}steps: [{name: a, type: bash, command: "echo {{target}}"}]\n`;
const make = (body: object) => call(test.deps, create.route, { body });
const made = async (body: object): Promise<string> =>
  (await make({ name: "s", workflow_name: "w", enabled: true, ...body })).body.data.id;
const shown = async (id: string) => (await call(test.deps, get.route, { params: { id } })).body.data;
const firesOf = async (): Promise<number> => {
  const fired = await fireDueSchedules(test.deps);
  await test.drain();
  return fired;
};

describe("a schedule created by request", () => {
  it("fires like a declared one, with its target and parameters, and shows its runs", async () => {
    await storeWorkflow(test.deps, module("w"));
    const answer = await make({
      name: "nightly",
      workflow_name: "w",
      schedule: "*/10 * * * *",
      enabled: true,
      target: "example.com",
      workspace: "ws",
      params: { depth: 2 },
    });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      message: "Schedule created",
      data: {
        name: "nightly",
        workflow_name: "w",
        workflow_kind: "module",
        trigger_name: "nightly",
        trigger_type: "cron",
        schedule: "*/10 * * * *",
        is_enabled: true,
        next_run: "2026-03-02T10:10:00.000Z",
        last_run: null,
        run_count: 0,
        params: { depth: "2" },
        misfire: "last",
        origin: "api",
      },
    });
    test.clock.advance(10 * MINUTE);
    expect(await firesOf()).toBe(1);
    expect(await readRuns(test.deps)).toMatchObject([
      {
        workflow_name: "w",
        target: "example.com",
        workspace: "ws",
        params: { depth: "2" },
        trigger_type: "cron",
        trigger_name: "nightly",
        status: "completed",
      },
    ]);
    expect(await shown(answer.body.data.id)).toMatchObject({
      next_run: "2026-03-02T10:20:00.000Z",
      last_run: "2026-03-02T10:10:00.000Z",
      run_count: 1,
    });
  });

  it("is disabled by default, and can be enabled and disabled with immediate effect", async () => {
    await storeWorkflow(test.deps, module("w"));
    const { body } = await make({ name: "s", workflow_name: "w", schedule: "* * * * *" });
    const { id } = body.data;
    expect(body.data).toMatchObject({ is_enabled: false, next_run: null });
    test.clock.advance(MINUTE);
    expect(await firesOf()).toBe(0);
    expect(await call(test.deps, enable.route, { params: { id } })).toEqual({
      status: 200,
      body: { message: "Schedule enabled" },
    });
    expect(await firesOf()).toBe(0);
    test.clock.advance(MINUTE);
    expect(await firesOf()).toBe(1);
    await call(test.deps, disable.route, { params: { id } });
    test.clock.advance(MINUTE);
    expect(await firesOf()).toBe(0);
    expect(await shown(id)).toMatchObject({ is_enabled: false, run_count: 1 });
  });

  it("starts a new expression from now, and keeps fields that an update omits", async () => {
    await storeWorkflow(test.deps, module("w"));
    const id = await made({ schedule: "*/10 * * * *", target: "a", params: { x: "1" } });
    test.clock.advance(5 * MINUTE);
    const { status, body } = await call(test.deps, update.route, {
      params: { id },
      body: { name: "", schedule: "0 12 * * *", timezone: "Europe/Berlin" },
    });
    expect([status, body.message]).toEqual([200, "Schedule updated"]);
    expect(body.data).toMatchObject({
      name: "s",
      next_run: "2026-03-02T11:00:00.000Z",
      target: "a",
      params: { x: "1" },
      is_enabled: true,
    });
    test.clock.advance(5 * MINUTE);
    expect(await firesOf()).toBe(0);
  });

  it("is removed immediately when it is deleted", async () => {
    await storeWorkflow(test.deps, module("w"));
    const id = await made({ schedule: "* * * * *" });
    expect(await call(test.deps, remove.route, { params: { id } })).toEqual({
      status: 200,
      body: { message: "Schedule deleted" },
    });
    test.clock.advance(MINUTE);
    expect(await firesOf()).toBe(0);
    expect((await call(test.deps, get.route, { params: { id } })).status).toBe(404);
    expect((await call(test.deps, remove.route, { params: { id } })).status).toBe(404);
  });

  it("fires on events, and counts each once despite repeated deliveries", async () => {
    await storeWorkflow(test.deps, module("w"));
    const id = await made({
      trigger_type: "event",
      event_topic: "custom.*",
      input: { target: "event_data.host" },
      params: { host: "none", mode: "fast" },
    });
    const { triggered_workflows } = await emitEvent(test.deps, { topic: "custom.a", data: { host: "h" } });
    expect(triggered_workflows).toEqual(["w"]);
    await test.drain();
    expect(await readRuns(test.deps)).toMatchObject([
      { target: "h", params: { host: "none", mode: "fast", target: "h" }, trigger_type: "event" },
    ]);
    expect(await shown(id)).toMatchObject({ run_count: 1, last_run: "2026-03-02T10:00:00.000Z" });
    await call(test.deps, update.route, { params: { id }, body: { event_topic: "other" } });
    expect((await emitEvent(test.deps, { topic: "custom.a" })).triggered_workflows).toEqual([]);
    expect((await emitEvent(test.deps, { topic: "other" })).triggered_workflows).toEqual(["w"]);
    await call(test.deps, remove.route, { params: { id } });
    expect((await emitEvent(test.deps, { topic: "other" })).triggered_workflows).toEqual([]);
    await test.drain();
    expect(await readRuns(test.deps)).toHaveLength(1);
  });

  it("waits without errors while its workflow is missing", async () => {
    await storeWorkflow(test.deps, module("w"));
    const id = await made({ schedule: "*/10 * * * *" });
    await deleteWorkflow(test.deps, "w");
    test.clock.advance(10 * MINUTE);
    expect(await firesOf()).toBe(0);
    expect(await shown(id)).toMatchObject({
      error: "Workflow not found: w",
      workflow_kind: "",
      run_count: 0,
    });
    await storeWorkflow(test.deps, `${module("w")}description: back\n`);
    test.clock.advance(10 * MINUTE);
    expect(await firesOf()).toBe(1);
    expect(await shown(id)).toMatchObject({ error: "", run_count: 1 });
  });

  it.each([
    [{ workflow_name: "w", schedule: "* * * * *" }, "name: "],
    [{ name: "s", schedule: "* * * * *" }, "workflow_name: "],
    [{ name: " ", workflow_name: "w", schedule: "* * * * *" }, "name: must not be empty"],
    [{ name: "s", workflow_name: "gone", schedule: "* * * * *" }, "workflow_name: Workflow not found: gone"],
    [{ name: "s", workflow_name: "w", workflow_kind: "flow", schedule: "* * * * *" }, "workflow_kind: "],
    [{ name: "s", workflow_name: "w" }, "schedule: is required"],
    [{ name: "s", workflow_name: "w", schedule: "60 * * * *" }, "schedule: minute: 60"],
    [{ name: "s", workflow_name: "w", schedule: "*/0 * * * *" }, "schedule: "],
    [{ name: "s", workflow_name: "w", schedule: "0 0 30 2 *" }, "schedule: "],
    [{ name: "s", workflow_name: "w", schedule: `${"1,".repeat(2000)}1 * * * *` }, "schedule: "],
    [{ name: "s", workflow_name: "w", schedule: "* * * * *", timezone: "Mars/Base" }, "timezone: "],
    [{ name: "s", workflow_name: "w", schedule: "* * * * *", misfire: "some" }, "misfire: "],
    [{ name: "s", workflow_name: "w", trigger_type: "event" }, "event_topic: is required"],
    [{ name: "s", workflow_name: "w", trigger_type: "event", event_topic: "x".repeat(300) }, "event_topic: "],
    [{ name: "s", workflow_name: "w", trigger_type: "watch" }, "watch_path: is required"],
    [{ name: "s", workflow_name: "w", trigger_type: "webhook" }, "trigger_type: "],
    [{ name: "s", workflow_name: "w", schedule: "* * * * *", params: { a: "x".repeat(70_000) } }, "params: "],
  ])("is rejected with the field named: %j", async (body, message) => {
    await storeWorkflow(test.deps, module("w"));
    const answer = await make(body);
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({ error: true, message: expect.stringContaining(message) });
  });

  it("that does not exist is 404 for every operation", async () => {
    const id = `sch_${"x".repeat(5_000)}`;
    for (const route of [get.route, remove.route, enable.route, disable.route, trigger.route])
      expect((await call(test.deps, route as typeof get.route, { params: { id } })).status).toBe(404);
    expect((await call(test.deps, update.route, { params: { id }, body: {} })).status).toBe(404);
  });
});

describe("a declared trigger", () => {
  const file = module(
    "w",
    '{name: clock, type: cron, schedule: "* * * * *"}, {name: heard, type: event, topic: custom.x}',
  );
  const clock = "sch_w:clock";
  const heard = "sch_w:heard";
  const emitted = async () => (await emitEvent(test.deps, { topic: "custom.x" })).triggered_workflows;

  it("is disabled and enabled by request, also across a new revision that does not change it", async () => {
    await storeWorkflow(test.deps, file);
    for (const id of [clock, heard]) await call(test.deps, disable.route, { params: { id } });
    test.clock.advance(MINUTE);
    expect([await firesOf(), await emitted()]).toEqual([0, []]);
    await storeWorkflow(test.deps, `${file}description: newer\n`);
    test.clock.advance(MINUTE);
    expect([await firesOf(), await emitted()]).toEqual([0, []]);
    expect((await call(test.deps, receiver.route)).body.data[0].triggers).toMatchObject([
      { name: "clock", enabled: false },
      { name: "heard", enabled: false },
    ]);
    for (const id of [clock, heard]) await call(test.deps, enable.route, { params: { id } });
    test.clock.advance(MINUTE);
    expect([await firesOf(), await emitted()]).toEqual([1, ["w"]]);
  });

  it("that its file disables can be enabled", async () => {
    await storeWorkflow(
      test.deps,
      module("w", "{name: heard, type: event, topic: custom.x, enabled: false}"),
    );
    expect(await emitted()).toEqual([]);
    await call(test.deps, enable.route, { params: { id: heard } });
    expect(await emitted()).toEqual(["w"]);
  });

  it("stays deleted until the workflow's next revision", async () => {
    await storeWorkflow(test.deps, file);
    for (const id of [clock, heard])
      expect((await call(test.deps, remove.route, { params: { id } })).status).toBe(200);
    test.clock.advance(MINUTE);
    expect([await firesOf(), await emitted()]).toEqual([0, []]);
    await storeWorkflow(test.deps, file);
    expect(await emitted()).toEqual([]);
    await storeWorkflow(test.deps, `${file}description: newer\n`);
    expect(await emitted()).toEqual(["w"]);
    test.clock.advance(MINUTE);
    expect(await firesOf()).toBe(1);
    expect(await shown(clock)).toMatchObject({ run_count: 1, origin: "workflow" });
  });

  it("keeps its other declared fields", async () => {
    await storeWorkflow(test.deps, file);
    const answer = await call(test.deps, update.route, {
      params: { id: clock },
      body: { enabled: false, schedule: "0 0 * * *" },
    });
    expect(answer).toMatchObject({ status: 400, body: { message: expect.stringMatching(/^schedule: /) } });
    const switched = await call(test.deps, update.route, { params: { id: clock }, body: { enabled: false } });
    expect(switched.body.data).toMatchObject({ is_enabled: false, schedule: "* * * * *" });
  });

  it("and schedules created by request are one list", async () => {
    await storeWorkflow(test.deps, file);
    test.clock.advance(1);
    const id = await made({ schedule: "0 0 * * *" });
    const page = async (query: Record<string, string>) => {
      const { body } = await call(test.deps, list.route, { query });
      return [body.data.map((row: { id: string }) => row.id), body.pagination];
    };
    const before = await page({});
    expect(before).toEqual([[id, heard, clock], { total: 3, offset: 0, limit: 20 }]);
    expect(await page({ offset: "1", limit: "1" })).toEqual([[heard], { total: 3, offset: 1, limit: 1 }]);
    expect(await page({ trigger_type: "event" })).toMatchObject([[heard], { total: 1 }]);
    expect(await page({ enabled: "false" })).toMatchObject([[], { total: 0 }]);
    expect(await page({ workflow_name: "other" })).toMatchObject([[], { total: 0 }]);
  });
});

describe("triggering manually", () => {
  it("starts one run immediately, for any type of trigger and also a disabled one, and keeps its slot", async () => {
    await storeWorkflow(
      test.deps,
      module(
        "w",
        '{name: clock, type: cron, schedule: "0 0 * * *", enabled: false, input: {how: event.topic}}',
      ),
    );
    const id = await made({ trigger_type: "manual", target: "t", enabled: false });
    for (const one of ["sch_w:clock", id]) {
      const { status, body } = await call(test.deps, trigger.route, { params: { id: one } });
      expect([status, body.message, body.workflow]).toEqual([202, "Schedule triggered", "w"]);
      await test.drain();
      const [run] = await readRuns(test.deps);
      expect(run).toMatchObject({ run_id: body.run_id, trigger_type: "manual", status: "completed" });
      expect(await shown(one)).toMatchObject({ run_count: 1, last_run: "2026-03-02T10:00:00.000Z" });
    }
    const runs = await readRuns(test.deps);
    expect(runs.map(({ target, params }) => [target, params])).toEqual([
      ["t", { target: "t" }],
      ["", { how: "schedule.triggered" }],
    ]);
    const { records } = await readLog(test.deps, { topic: "schedule.triggered" });
    expect(records.map(({ data }) => JSON.parse(data).trigger_type)).toEqual(["manual", "manual"]);
    expect(records.map(({ source }) => source)).toEqual(["scheduler", "scheduler"]);
  });
});

describe("missed slots", () => {
  const missed = async (misfire: string, minutes: number) => {
    await storeWorkflow(test.deps, module("w"));
    const id = await made({ schedule: "*/10 * * * *", misfire });
    test.clock.advance(minutes * MINUTE);
    await firesOf();
    const { records } = await readLog(test.deps, { topic: "schedule.triggered" });
    const slots = records
      .map(({ data }) => JSON.parse(data).slot)
      .toSorted()
      .map((slot) => slot.slice(11, 16));
    return { slots, ...(await shown(id)) };
  };

  it("are each fired once with misfire: all", async () => {
    const { slots, run_count, next_run } = await missed("all", 35);
    expect([slots, run_count]).toEqual([["10:10", "10:20", "10:30"], 3]);
    expect(next_run).toBe("2026-03-02T10:40:00.000Z");
    expect(await firesOf()).toBe(0);
    expect(await readRuns(test.deps)).toHaveLength(3);
  });

  it("are limited to a hundred", async () => {
    const { slots, run_count } = await missed("all", 10 * 24 * 60);
    expect([run_count, slots.length, slots.at(-1)]).toEqual([100, 100, "10:00"]);
  });

  it("are skipped with misfire: none, except one that is slightly late", async () => {
    const { slots, next_run } = await missed("none", 35);
    expect([slots, next_run]).toEqual([[], "2026-03-02T10:40:00.000Z"]);
    test.clock.advance(6 * MINUTE);
    expect(await firesOf()).toBe(1);
  });

  it("start one run with misfire: last", async () => {
    expect(await missed("last", 35)).toMatchObject({ slots: ["10:30"], run_count: 1 });
  });
});

it("many schedules in the same minute fire once each in one pass", async () => {
  await storeWorkflow(test.deps, module("w"));
  for (let n = 0; n < 50; n += 1) await made({ name: `s${n}`, schedule: "* * * * *" });
  test.clock.advance(MINUTE);
  expect(await fireDueSchedules(test.deps)).toBe(50);
  expect(await fireDueSchedules(test.deps)).toBe(0);
  await test.drain();
  expect(await readRuns(test.deps)).toHaveLength(50);
});

it("a trigger on a workflow's own topic is not confused with a schedule of the same name", async () => {
  await storeWorkflow(test.deps, onTopic("w", "custom.x"));
  await made({ name: "heard", trigger_type: "event", event_topic: "custom.x" });
  await emitEvent(test.deps, { topic: "custom.x" });
  await test.drain();
  expect(await readRuns(test.deps)).toHaveLength(2);
});

it("all schedules are unchanged after a restart, and fire", async () => {
  const folder = await mkdtemp(join(tmpdir(), "weft-schedules-"));
  try {
    const first = await testDeps({ folder });
    await storeWorkflow(first.deps, module("w", '{name: clock, type: cron, schedule: "*/10 * * * *"}'));
    await storeWorkflow(first.deps, module("off", "{name: heard, type: event, topic: custom.x}"));
    const { body } = await call(first.deps, create.route, {
      body: { name: "s", workflow_name: "w", schedule: "*/15 * * * *", enabled: true, target: "t" },
    });
    await call(first.deps, disable.route, { params: { id: "sch_off:heard" } });
    await first.close();

    const second = await testDeps({ folder, clock: testClock(test.clock.now() + 16 * MINUTE) });
    expect((await emitEvent(second.deps, { topic: "custom.x" })).triggered_workflows).toEqual([]);
    expect(await fireDueSchedules(second.deps)).toBe(2);
    await second.drain();
    const runs = await readRuns(second.deps);
    expect(runs.map(({ trigger_name, target }) => [trigger_name, target]).toSorted()).toEqual([
      ["clock", ""],
      ["s", "t"],
    ]);
    const { data } = (await call(second.deps, get.route, { params: { id: body.data.id } })).body;
    expect(data).toMatchObject({ run_count: 1, next_run: "2026-03-02T10:30:00.000Z" });
    await second.close();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

describe("the next runs of a schedule", () => {
  const next = (id: string, query = {}) => call(test.deps, nextRuns.route, { params: { id }, query });

  it("are the next times of its expression in its time zone", async () => {
    await storeWorkflow(test.deps, module("w"));
    const id = await made({ schedule: "0 9 * * 1-5", timezone: "Europe/Paris" });
    expect((await next(id, { count: "3" })).body.data).toEqual([
      "2026-03-03T08:00:00.000Z",
      "2026-03-04T08:00:00.000Z",
      "2026-03-05T08:00:00.000Z",
    ]);
    expect((await next(id)).body.data).toHaveLength(5);
    expect((await next(id, { count: "1000000" })).body.data).toHaveLength(100);
    expect(await next(id, { count: "0" })).toMatchObject({ status: 400 });
  });

  it("are empty while it is disabled or has no times", async () => {
    await storeWorkflow(test.deps, module("w"));
    const id = await made({ schedule: "0 9 * * *", enabled: false });
    const event = await made({ name: "e", trigger_type: "event", event_topic: "custom.x" });
    expect([(await next(id)).body, (await next(event)).body]).toEqual([{ data: [] }, { data: [] }]);
    expect(await next("unknown")).toMatchObject({ status: 404 });
  });
});
