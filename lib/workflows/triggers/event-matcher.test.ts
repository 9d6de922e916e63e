import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { emitEvent } from "../../events/emit.ts";
import { emitTogether } from "../../events/emit-together.ts";
import { emitEvents } from "../../events/publish.ts";
import type { ScriptRequest } from "../../platform/scripts.ts";
import { type TestDeps, testClock, testDeps } from "../../testing/test-deps.ts";
import { readLog, readRuns, storeWorkflow } from "../../testing/test-workflows.ts";
import { listReceiverWorkflows } from "../event-receiver/receiver.ts";
import { startBody, startRun } from "../runs/start.ts";
import { scheduleKey, schedulesTable, triggerStateTable } from "../store/trigger-tables.ts";
import { deleteExpiredClaims } from "./dedupe.ts";
import { dispatchEvent } from "./dispatch-event.ts";

let test: TestDeps;
let scripts: ScriptRequest[];
let answer: (request: ScriptRequest) => unknown;
const begin = (more: Parameters<typeof testDeps>[0] = {}) =>
  testDeps({
    script: async (request) => {
      scripts.push(request);
      return { value: answer(request) };
    },
    ...more,
  });
beforeEach(async () => {
  scripts = [];
  answer = () => true;
  test = await begin();
});
afterEach(() => test.close());

const heard = (name: string, more: string, topic = "custom.x"): string =>
  `name: ${name}\ntriggers:\n  - {name: heard, type: event, topic: "${topic}", ${more}}\nsteps: [{name: a, type: bash, command: echo}]\n`;
const triggered = async (data: object = {}) =>
  (await emitEvent(test.deps, { topic: "custom.x", data: { ...data } })).triggered_workflows;

describe("filters", () => {
  it("receive the event as data, and all must hold for a match", async () => {
    await storeWorkflow(
      test.deps,
      heard(
        "w",
        `filters: ["event.data.size > 10", "'{{event.data.kind}}' == 'a'"], filter_functions: ["contains(event.name, 'x')"]`,
      ),
    );
    expect(await triggered({ size: 11, kind: "'; process.exit(); '" })).toEqual(["w"]);
    expect(scripts.map(({ code }) => code)).toEqual([
      "event.data.size > 10",
      expect.not.stringContaining("process.exit"),
      "contains(event.name, 'x')",
    ]);
    expect(scripts[0]?.variables).toMatchObject({
      event: { topic: "custom.x", name: "custom.x", source: "api", data: { size: 11 } },
      event_data: { size: 11 },
    });
    expect(new Set(scripts.map(({ isolate }) => isolate)).size).toBe(1);
    answer = ({ code }) => !code.includes("contains");
    expect(await triggered({ size: 11 })).toEqual([]);
    await test.drain();
    expect(await readRuns(test.deps)).toHaveLength(1);
    // Filter code of one event never sees state that another event's code left behind.
    expect(new Set(scripts.map(({ isolate }) => isolate)).size).toBe(2);
  });

  it("that throw do not hold, are noted in the event's record, and do not affect other workflows", async () => {
    await storeWorkflow(test.deps, heard("broken", 'filters: ["event.data.a.b.c"]'));
    await storeWorkflow(test.deps, heard("template", 'filters: ["{{ nonsense"]'));
    await storeWorkflow(test.deps, heard("fine", "filters: []"));
    answer = () => {
      throw new Error("cannot read properties of undefined");
    };
    expect(await triggered()).toEqual(["fine"]);
    await test.drain();
    const { records } = await readLog(test.deps, { topic: "custom.x" });
    expect(records[0]?.error).toMatch(
      /trigger heard of broken: filter "event.data.a.b.c": cannot read properties of undefined/,
    );
    expect(records[0]?.error).toMatch(/trigger heard of template: filter/);
    expect(await readRuns(test.deps)).toMatchObject([{ workflow_name: "fine" }]);
  });

  it("are not evaluated if the topic does not match", async () => {
    await storeWorkflow(test.deps, heard("w", 'filters: ["true"]', "other"));
    await triggered();
    expect(scripts).toEqual([]);
  });
});

describe("a deduplication key", () => {
  const once = (name: string, window = "1m") =>
    heard(name, `dedupe_key: "{{event.data.host}}-{{event.topic}}", dedupe_window: ${window}`);

  it("has a window from its first event on, per trigger", async () => {
    await storeWorkflow(test.deps, once("w"));
    await storeWorkflow(test.deps, once("long", "1h"));
    expect(await triggered({ host: "a" })).toEqual(["long", "w"]);
    expect(await triggered({ host: "b" })).toEqual(["long", "w"]);
    test.clock.advance(59_999);
    expect(await triggered({ host: "a" })).toEqual([]);
    test.clock.advance(1);
    expect(await triggered({ host: "a" })).toEqual(["w"]);
    test.clock.advance(59_999);
    expect(await triggered({ host: "a" })).toEqual([]);
    await test.drain();
    expect(await readRuns(test.deps)).toHaveLength(5);
  });

  it("is claimed once by concurrent events, in several transactions or in one", async () => {
    await storeWorkflow(test.deps, once("w"));
    const all = await Promise.all(Array.from({ length: 12 }, () => triggered({ host: "a" })));
    expect(all.flat()).toEqual(["w"]);
    const draft = { topic: "custom.x", source: "api", data: { host: "b" } };
    const records = await emitEvents(test.deps, [draft, draft, draft]);
    expect(records.map(({ matches }) => matches.length)).toEqual([1, 0, 0]);
    expect((await readLog(test.deps, { topic: "custom.x" })).total).toBe(15);
  });

  it("is claimed with the run if the event matches more triggers than fit into its transaction", async () => {
    const names = ["v", "w"];
    const triggers = Array.from(
      { length: 60 },
      (_, at) => `  - {name: t${at}, type: event, topic: custom.x, dedupe_key: "{{event.data.host}}"}`,
    );
    for (const name of names)
      await storeWorkflow(
        test.deps,
        `name: ${name}\ntriggers:\n${triggers.join("\n")}\nsteps:\n  - {name: one, type: function, function: "1"}\n`,
      );
    const draft = { topic: "custom.x", source: "api", data: { host: "a" } };
    const records = await emitEvents(test.deps, [draft]);
    await emitTogether(test.deps, [draft, draft]);
    const event = records[0]?.event_id ?? "";
    await Promise.all([dispatchEvent(test.deps, event), dispatchEvent(test.deps, event)]);
    await test.drain();
    const runs = await readRuns(test.deps);
    expect(new Set(runs.map((run) => `${run.workflow_name} ${run.trigger_name}`)).size).toBe(120);
    expect(runs).toHaveLength(120);
    const keys = names.flatMap((name) => triggers.map((_, at) => scheduleKey(`sch_${name}:t${at}`)));
    const rows = await test.deps.tables.batchGet(schedulesTable, keys);
    expect(rows.map(({ run_count }) => run_count)).toEqual(keys.map(() => 1));
    await emitEvents(test.deps, [draft]);
    await test.drain();
    expect(await readRuns(test.deps)).toHaveLength(120);
  });

  it("is claimed with the run if a step has as many values as fit into its transaction", async () => {
    const exports = Array.from({ length: 64 }, (_, at) => `e${at}: "1"`).join(", ");
    await storeWorkflow(
      test.deps,
      `name: many\nsteps:\n  - {name: one, type: bash, command: "true", exports: {${exports}}}\n`,
    );
    const triggers = Array.from(
      { length: 50 },
      (_, at) =>
        `  - {name: t${at}, type: event, topic: step.completed, dedupe_key: "{{event.data.step_name}}"}`,
    );
    await storeWorkflow(
      test.deps,
      `name: hears\ntriggers:\n${triggers.join("\n")}\nsteps:\n  - {name: two, type: function, function: "1"}\n`,
    );
    await startRun(test.deps, startBody.parse({ module: "many" }));
    await startRun(test.deps, startBody.parse({ module: "many" }));
    await test.drain();
    const runs = await readRuns(test.deps);
    expect(runs.filter(({ workflow_name }) => workflow_name === "many").map(({ status }) => status)).toEqual([
      "completed",
      "completed",
    ]);
    expect(runs.filter(({ workflow_name }) => workflow_name === "hears")).toHaveLength(50);
  });

  it("survives a restart, and is deleted after its window", async () => {
    await test.close();
    const folder = await mkdtemp(join(tmpdir(), "weft-matcher-"));
    const clock = testClock();
    test = await begin({ folder, clock });
    await storeWorkflow(test.deps, once("w"));
    await triggered({ host: "a" });
    await test.close();
    test = await begin({ folder, clock });
    expect(await triggered({ host: "a" })).toEqual([]);
    expect(await deleteExpiredClaims(test.deps)).toBe(0);
    clock.advance(60_000);
    expect(await deleteExpiredClaims(test.deps)).toBe(1);
    expect((await test.deps.tables.query(triggerStateTable, { index: "expires", pk: "1" })).items).toEqual(
      [],
    );
    expect(await triggered({ host: "a" })).toEqual(["w"]);
    await rm(folder, { recursive: true, force: true });
  });

  it("has a default window of five minutes", async () => {
    await storeWorkflow(test.deps, heard("w", 'dedupe_key: "{{event.data.host}}"'));
    expect(await triggered({ host: "a" })).toEqual(["w"]);
    test.clock.advance(299_999);
    expect(await triggered({ host: "a" })).toEqual([]);
    test.clock.advance(1);
    expect(await triggered({ host: "a" })).toEqual(["w"]);
  });

  it("fires as the model predicts, for any order of hosts and pauses", async () => {
    const events = fc.array(
      fc.record({
        host: fc.constantFrom("a", "b", "c"),
        pause: fc.constantFrom(0, 1, 30_000, 59_999, 60_000, 90_000),
      }),
      { minLength: 1, maxLength: 12 },
    );
    let round = 0;
    await fc.assert(
      fc.asyncProperty(events, async (sequence) => {
        round += 1;
        await storeWorkflow(test.deps, `${once("w")}description: "${round}"\n`);
        const until = new Map<string, number>();
        for (const { host, pause } of sequence) {
          test.clock.advance(pause);
          const key = `${round} ${host}`;
          const isFree = (until.get(key) ?? 0) <= test.clock.now();
          if (isFree) until.set(key, test.clock.now() + 60_000);
          expect(await triggered({ host: key })).toEqual(isFree ? ["w"] : []);
        }
      }),
      { numRuns: 25 },
    );
  });
});

describe("a trigger that fires too often", () => {
  it("is stopped for the rest of the minute, reports the reason everywhere, and then fires again", async () => {
    await test.close();
    test = await begin({ firesPerMinute: 3 });
    await storeWorkflow(test.deps, heard("w", "enabled: true"));
    await storeWorkflow(test.deps, heard("calm", "enabled: true", "custom.y"));
    const fired = [];
    for (let n = 0; n < 6; n += 1) fired.push((await triggered()).length);
    expect(fired).toEqual([1, 1, 1, 0, 0, 0]);
    const { records } = await readLog(test.deps, { topic: "custom.x" });
    expect(records[0]?.error).toBe("trigger heard of w not fired: fired more than 3 times in a minute");
    expect(
      test.logs.filter(({ message }) => message === "paused a trigger that fires too often"),
    ).toHaveLength(1);
    const receiver = async () => (await listReceiverWorkflows(test.deps)).data[1]?.triggers[0];
    expect(await receiver()).toMatchObject({ name: "heard", breaker_open_until: "2026-03-02T10:01:00.000Z" });
    expect((await emitEvent(test.deps, { topic: "custom.y" })).triggered_workflows).toEqual(["calm"]);
    test.clock.advance(60_000);
    expect(await receiver()).not.toHaveProperty("breaker_open_until");
    expect(await triggered()).toEqual(["w"]);
    await test.drain();
    expect(await test.deps.tables.get(schedulesTable, scheduleKey("sch_w:heard"))).toMatchObject({
      run_count: 4,
    });
  });

  it("restarts its count when the clock is set back", async () => {
    await test.close();
    test = await begin({ firesPerMinute: 1 });
    await storeWorkflow(test.deps, heard("w", "enabled: true"));
    expect([await triggered(), await triggered()]).toEqual([["w"], []]);
    test.clock.advance(-3_600_000);
    expect([await triggered(), await triggered()]).toEqual([["w"], []]);
  });
});
