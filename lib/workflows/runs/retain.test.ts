import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { emitEvent } from "../../events/emit.ts";
import { failEvent } from "../../events/log/process.ts";
import { retainEvents } from "../../events/log/retain.ts";
import { eventKey, eventLogTable } from "../../events/log/table.ts";
import { isCrash, type TestDeps, testClock, testDeps } from "../../testing/test-deps.ts";
import { collectPages, readLog, storeWorkflow } from "../../testing/test-workflows.ts";
import { listArtifacts } from "../artifacts/list.ts";
import { sweepLists } from "../records/index-lists.ts";
import { valuesTable } from "../values/table.ts";
import { cancelRun } from "./cancel.ts";
import { getJob } from "./jobs.ts";
import { getRun, listRuns } from "./read.ts";
import { resendStalledRuns } from "./resend-stalled.ts";
import { retainRuns } from "./retain.ts";
import { startBody, startRun } from "./start.ts";
import { findSteps } from "./step-results.ts";
import { historyTable, runNamesTable, stepsTable } from "./table.ts";

const DAY = 86_400_000;

const EVERYTHING = { offset: 0, limit: 1_000 };

const settings = { EVENT_LOG_RETENTION: "30d", RUN_RETENTION: "30d" };

const MODULE = "name: m\nsteps: [{name: s, type: bash, command: echo}]\nreports: [{path: a.txt}]\n";

let test: TestDeps;

beforeEach(async () => {
  test = await testDeps({ settings });
  await mkdir(join(test.folder, "workspaces", "w"), { recursive: true });
  await writeFile(join(test.folder, "workspaces", "w", "a.txt"), "1\n");
  await storeWorkflow(test.deps, MODULE);
});

afterEach(() => test.close());

async function run(body: object = {}): Promise<string> {
  const { run_id } = await startRun(
    test.deps,
    startBody.parse({ module: "m", target: "t", workspace: "w", ...body }),
  );
  await test.drain();
  return run_id;
}

const runs = async (filters: object = {}) => {
  const { total, items } = await listRuns(test.deps, filters, EVERYTHING);
  const ids = (await collectPages(items)).map(({ run_id }) => run_id);
  expect(ids).toHaveLength(total);
  return ids;
};

const steps = async () => {
  const { total, items } = await findSteps(test.deps, {}, EVERYTHING);
  const found = (await collectPages(items)).map(({ run_id }) => run_id);
  expect(found).toHaveLength(total);
  return found;
};

const rowsBehind = async (runId: string) => {
  const rows = await Promise.all([
    test.deps.tables.query(stepsTable, { pk: runId }),
    test.deps.tables.query(historyTable, { pk: runId }),
    test.deps.tables.query(valuesTable, { pk: runId }),
  ]);
  return rows.reduce((sum, { items }) => sum + items.length, 0);
};

it("keeps everything by default", async () => {
  const own = await testDeps();
  await emitEvent(own.deps, { topic: "custom.a" });
  await own.drain();
  own.clock.advance(10_000 * DAY);
  expect([await retainEvents(own.deps), await retainRuns(own.deps)]).toEqual([0, 0]);
  expect((await readLog(own.deps)).total).toBe(1);
  await own.close();
});

it("deletes old runs with all their data, and keeps newer ones and exact totals", async () => {
  const old = [await run(), await run({ workspace: "v" })];
  await test.deps.blobs.put(`runs/${old[0]}/work/1`, "{}");
  const log = join(test.folder, "runs", old[0] ?? "");
  await mkdir(log, { recursive: true });
  await writeFile(join(log, "run.log"), "x");
  const { number } = await getRun(test.deps, old[0] ?? "");
  test.clock.advance(20 * DAY);
  const young = await run();
  await sweepLists(test.deps);
  test.clock.advance(11 * DAY);
  expect(await retainRuns(test.deps)).toBe(2);
  expect(await runs()).toEqual([young]);
  expect(await runs({ workspace: "v" })).toEqual([]);
  expect(await runs({ status: "completed" })).toEqual([young]);
  expect(await steps()).toEqual([young]);
  for (const id of old) {
    await expect(getRun(test.deps, id)).rejects.toThrow("not found");
    expect(await rowsBehind(id)).toBe(0);
  }
  await expect(getRun(test.deps, String(number))).rejects.toThrow("not found");
  expect(await test.deps.blobs.list(`runs/${old[0]}/`)).toEqual([]);
  expect(existsSync(log)).toBe(false);
  expect(await rowsBehind(young)).toBeGreaterThan(0);
  const artifacts = await listArtifacts(test.deps, {}, EVERYTHING, false);
  expect([artifacts.total, (await collectPages(artifacts.items)).map(({ run_id }) => run_id)]).toEqual([
    1,
    [young],
  ]);
  expect(await retainRuns(test.deps)).toBe(0);
  const next = await run();
  expect(await runs()).toEqual([next, young]);
  expect((await getRun(test.deps, next)).number).toBeGreaterThan(number);
});

it("deletes the artifact records of deleted runs; the files stay, and can be registered again", async () => {
  await run();
  test.clock.advance(31 * DAY);
  await sweepLists(test.deps);
  expect(await retainRuns(test.deps)).toBe(1);
  expect((await listArtifacts(test.deps, {}, EVERYTHING, false)).total).toBe(0);
  expect(existsSync(join(test.folder, "workspaces", "w", "a.txt"))).toBe(true);
  await run();
  await sweepLists(test.deps);
  expect((await listArtifacts(test.deps, { workspace: "w" }, EVERYTHING, false)).total).toBe(1);
});

it("never deletes an unfinished run, and such a run does not block the deletion of others", async () => {
  const { run_id: waiting } = await startRun(test.deps, startBody.parse({ module: "m", target: "waits" }));
  await sweepLists(test.deps);
  test.clock.advance(1_000);
  const { run_id: ended } = await startRun(test.deps, startBody.parse({ module: "m", target: "ends" }));
  await test.drain(["bash"]);
  const { items } = await listRuns(test.deps, { status: "running" }, EVERYTHING);
  expect((await collectPages(items)).map(({ run_id }) => run_id)).toEqual([ended, waiting]);
  await cancelRun(test.deps, ended);
  await test.drain(["bash"]);
  await sweepLists(test.deps);
  test.clock.advance(31 * DAY);
  expect(await retainRuns(test.deps)).toBe(2);
  expect(await runs()).toEqual([waiting]);
  await sweepLists(test.deps);
  expect(await runs()).toEqual([waiting]);
  expect(await runs({ status: "running" })).toEqual([waiting]);
  await resendStalledRuns(test.deps);
  await test.drain();
  await sweepLists(test.deps);
  expect(await runs({ status: "completed" })).toEqual([waiting]);
  expect(await retainRuns(test.deps)).toBe(0);
  expect(await runs()).toEqual([waiting]);
});

it("deletes the runs of a job one by one as they expire", async () => {
  const { job_id, run_ids } = await startRun(
    test.deps,
    startBody.parse({ module: "m", targets: ["a", "b"], workspace: "w", concurrency: 2 }),
  );
  await test.drain();
  await sweepLists(test.deps);
  expect((await getJob(test.deps, job_id)).total_runs).toBe(run_ids.length);
  test.clock.advance(31 * DAY);
  expect(await retainRuns(test.deps)).toBe(2);
  await expect(getJob(test.deps, job_id)).rejects.toThrow("not found");
  expect((await test.deps.tables.query(runNamesTable, { pk: `job#${job_id}` })).items).toEqual([]);
});

it("deletes old events, and never reuses their numbers", async () => {
  for (let n = 0; n < 250; n += 1)
    await emitEvent(test.deps, { topic: n % 2 === 0 ? "custom.even" : "custom.odd", data: { n } });
  await emitEvent(test.deps, { topic: "custom.large", data: { text: "l".repeat(300_000) } });
  await test.drain();
  const before = await readLog(test.deps);
  const large = before.records.find(({ topic }) => topic === "custom.large");
  const stored = await test.deps.tables.get(eventLogTable, eventKey(large?.event_id ?? ""));
  expect(stored?.data_blob).toBeDefined();
  test.clock.advance(20 * DAY);
  await emitEvent(test.deps, { topic: "custom.even" });
  await test.drain();
  test.clock.advance(11 * DAY);
  expect(await retainEvents(test.deps)).toBe(251);
  expect(await readLog(test.deps)).toMatchObject({ total: 1, records: [{ id: 252, topic: "custom.even" }] });
  expect((await readLog(test.deps, { topic: "custom.even" })).total).toBe(1);
  expect((await readLog(test.deps, { topic: "custom.odd" })).total).toBe(0);
  expect(await test.deps.tables.get(eventLogTable, eventKey(large?.event_id ?? ""))).toBeUndefined();
  expect(await test.deps.blobs.get(stored?.data_blob ?? "")).toBeUndefined();
  test.clock.advance(31 * DAY);
  expect(await retainEvents(test.deps)).toBe(1);
  await emitEvent(test.deps, { topic: "custom.new" });
  await test.drain();
  expect(await readLog(test.deps)).toMatchObject({ total: 1, records: [{ id: 253, topic: "custom.new" }] });
});

it("keeps an unprocessed event until it is given up", async () => {
  await storeWorkflow(
    test.deps,
    "name: t\ntriggers: [{type: event, topic: custom.a}]\nsteps: [{name: s, type: bash, command: echo}]\n",
  );
  const { event_id } = await emitEvent(test.deps, { topic: "custom.a" });
  await test.drain(["dispatch"]);
  test.clock.advance(31 * DAY);
  expect(await retainEvents(test.deps)).toBe(0);
  await failEvent(test.deps, event_id.slice("evt_".length), "given up");
  expect(await retainEvents(test.deps)).toBe(1);
  expect((await readLog(test.deps, { topic: "custom.a" })).total).toBe(0);
});

const CRASHES = Array.from({ length: 14 }, (_, at) => [at % 2 === 0 ? 1 : 4, at + 1] as const);

it.each(CRASHES)("an interrupted sweep continues (seed %i, commit %i)", async (seed, crashAtCommit) => {
  const folder = await mkdtemp(join(tmpdir(), "weft-retain-"));
  const clock = testClock();
  try {
    const before = await testDeps({ folder, clock, settings });
    await storeWorkflow(before.deps, MODULE);
    const ids: string[] = [];
    for (const target of ["a", "b", "c"]) {
      const body = startBody.parse({ module: "m", target, workspace: "w" });
      ids.push((await startRun(before.deps, body)).run_id);
    }
    await before.drain();
    await sweepLists(before.deps);
    await before.close();
    clock.advance(31 * DAY);
    const dying = await testDeps({
      folder,
      clock,
      settings,
      hostile: { seed, crashAtCommit, onCrash: () => {} },
    });
    try {
      await retainEvents(dying.deps);
      await retainRuns(dying.deps);
    } catch (error) {
      if (!isCrash(error)) throw error;
    }
    await dying.close();
    test = await reopened(folder, clock);
    await retainEvents(test.deps);
    await retainRuns(test.deps);
    expect(await runs()).toEqual([]);
    expect(await steps()).toEqual([]);
    expect((await readLog(test.deps)).total).toBe(0);
    expect((await listArtifacts(test.deps, {}, EVERYTHING, false)).total).toBe(0);
    for (const id of ids) expect(await rowsBehind(id)).toBe(0);
    await test.close();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

async function reopened(folder: string, clock: ReturnType<typeof testClock>): Promise<TestDeps> {
  await test.close();
  return testDeps({ folder, clock, settings });
}
