import { afterEach, describe, expect, it } from "vitest";
import { readAll } from "../../events/read-all.ts";
import { type TestDeps, type TestDepsOptions, testDeps } from "../../testing/test-deps.ts";
import { readRuns, storeWorkflow } from "../../testing/test-workflows.ts";
import { parseDefinition } from "../schema/parse.ts";
import { saveWorkflow } from "../store/store.ts";
import { sweepRunQueue } from "./admission.ts";
import { cancelRun } from "./cancel.ts";
import { cancelJob, getJob } from "./jobs.ts";
import { listRuns } from "./read.ts";
import { startBody, startRun } from "./start.ts";
import { runQueueTable } from "./table.ts";

let test: TestDeps;
afterEach(() => test.close());

const open = async (settings: Record<string, string>, more: TestDepsOptions = {}): Promise<void> => {
  test = await testDeps({ settings, ...more });
  await storeWorkflow(test.deps, 'name: one\nsteps: [{name: s, type: bash, command: "echo {{Target}}"}]\n');
};
const start = (body: Record<string, unknown>) =>
  startRun(test.deps, startBody.parse({ module: "one", ...body }));
const statuses = async (): Promise<Record<string, string>> =>
  Object.fromEntries((await readRuns(test.deps)).map(({ target, status }) => [target, status]));
const counts = async (): Promise<Record<string, number>> => {
  const found: Record<string, number> = {};
  for (const status of Object.values(await statuses())) found[status] = (found[status] ?? 0) + 1;
  return found;
};
/** Targets in the order in which their commands started. */
const begun = (): string[] =>
  test.commands.map(({ env }) => Object.values(env).find((v) => /^t-/.test(v)) ?? "");

describe("concurrent runs", () => {
  it("are limited, and further runs wait until one ends", async () => {
    await open({ RUNS_CONCURRENCY_MAX: "2" });
    for (const target of ["a", "b", "c", "d"]) await start({ target });
    await test.drain(["bash"]);
    expect(await counts()).toEqual({ running: 2, pending: 2 });
    const waiting = (await readRuns(test.deps)).filter((run) => run.is_queued);
    expect(waiting.map(({ status }) => status)).toEqual(["pending", "pending"]);
    await test.drain();
    expect(await counts()).toEqual({ completed: 4 });
    expect((await readRuns(test.deps)).some((run) => run.is_queued)).toBe(false);
  });

  it("start by priority, then by age", async () => {
    await open({ RUNS_CONCURRENCY_MAX: "1" });
    await start({ target: "t-first" });
    await test.drain(["bash"]);
    for (const [target, priority] of [
      ["t-low", "low"],
      ["t-normal-1", "normal"],
      ["t-high", "high"],
      ["t-normal-2", "medium"],
      ["t-critical", "critical"],
    ]) {
      await start({ target, priority });
      await test.drain(["bash"]);
    }
    await test.drain();
    expect(begun()).toEqual(["t-first", "t-critical", "t-high", "t-normal-1", "t-normal-2", "t-low"]);
  });

  it("can be cancelled while they wait, and leak no slot", async () => {
    await open({ RUNS_CONCURRENCY_MAX: "1" });
    await start({ target: "a" });
    await test.drain(["bash"]);
    const { run_id } = await start({ target: "b" });
    await start({ target: "c" });
    await test.drain(["bash"]);
    await cancelRun(test.deps, run_id);
    await test.drain();
    expect(await statuses()).toEqual({ a: "completed", b: "cancelled", c: "completed" });
  });

  it("are admitted by the sweep if the admitting message was lost", async () => {
    await open({ RUNS_CONCURRENCY_MAX: "1" });
    const lost = { ...test.deps, queues: { ...test.deps.queues, send: async () => undefined } };
    const { run_id } = await start({ target: "a" });
    await test.drain(["bash"]);
    await start({ target: "b" });
    await test.drain(["bash"]);
    await cancelRun(lost, run_id);
    await test.drain();
    expect(await statuses()).toEqual({ a: "cancelled", b: "pending" });
    test.clock.advance(60_000);
    await sweepRunQueue(test.deps);
    await test.drain();
    expect(await statuses()).toEqual({ a: "cancelled", b: "completed" });
  });

  it("keep their state after a crash: waiting runs still wait, running ones keep their slots", async () => {
    await open({ RUNS_CONCURRENCY_MAX: "2" });
    for (const target of ["a", "b", "c"]) await start({ target });
    await test.drain(["bash"]);
    // Another process knows only the tables.
    test.deps.runSlots.forget();
    await start({ target: "d" });
    await test.drain(["bash"]);
    expect(await counts()).toEqual({ running: 2, pending: 2 });
    await test.drain();
    expect(await counts()).toEqual({ completed: 4 });
  });

  it("leak no slot if they have no steps and finish as they start", async () => {
    await open({ RUNS_CONCURRENCY_MAX: "1" });
    const parsed = parseDefinition("name: idle\nsteps: [{name: s, type: bash, command: echo}]\n");
    if (!parsed.ok) throw new Error("the module does not parse");
    const definition = { ...parsed.definition, steps: [] };
    await saveWorkflow(test.deps, { definition, yaml: "", source: "api" });
    for (const target of ["i", "j"]) await start({ module: "idle", target });
    await start({ target: "k" });
    await test.drain();
    expect(await statuses()).toEqual({ i: "completed", j: "completed", k: "completed" });
    expect(await readAll(test.deps, runQueueTable, { pk: "slots" })).toEqual([]);
  });

  it("respect the limit when one request starts many", async () => {
    await open({ RUNS_CONCURRENCY_MAX: "5" });
    const targets = Array.from({ length: 120 }, (_, index) => `t-${index}`);
    await start({ targets, concurrency: 1_000 });
    await test.drain(["bash"]);
    expect(await counts()).toEqual({ running: 5, pending: 115 });
    await test.drain();
    expect(await counts()).toEqual({ completed: 120 });
    expect(begun().toSorted()).toEqual(targets.toSorted());
  });
});

describe("a job", () => {
  it("has created all its runs when the request returns, and limits their concurrency", async () => {
    await open({});
    const answer = await start({ targets: ["t-1", "t-2", "t-3", "t-4", "t-5"], concurrency: 2 });
    expect(answer).toMatchObject({
      target_count: 5,
      concurrency: 2,
      targets: ["t-1", "t-2", "t-3", "t-4", "t-5"],
    });
    expect(answer.run_ids).toHaveLength(5);
    expect(answer.poll_url).toBe(`/automation/jobs/${answer.job_id}`);
    expect(await getJob(test.deps, answer.job_id)).toMatchObject({
      status: "pending",
      pending: 5,
      total_runs: 5,
    });
    await test.drain(["bash"]);
    const job = await getJob(test.deps, answer.job_id);
    expect(job).toMatchObject({
      status: "running",
      progress: { total: 5, running: 2, pending: 3, completed: 0 },
    });
    expect(job.runs.map(({ target, run_id }) => [target, run_id])).toEqual(
      answer.run_ids.map((id, index) => [`t-${index + 1}`, id]),
    );
    await test.drain();
    expect(await getJob(test.deps, answer.job_id)).toMatchObject({ status: "completed", completed: 5 });
    expect(begun()).toEqual(["t-1", "t-2", "t-3", "t-4", "t-5"]);
  });

  it("continues with the next run after a failed one", async () => {
    await open(
      {},
      { command: async ({ env }) => ({ exitCode: Object.values(env).includes("t-1") ? 1 : 0 }) },
    );
    const { job_id } = await start({ targets: ["t-1", "t-2", "t-3"] });
    await test.drain();
    expect(await getJob(test.deps, job_id)).toMatchObject({ status: "partial", completed: 2, failed: 1 });
  });

  it("does not start a run that was cancelled while it waited, and starts the next one", async () => {
    await open({});
    const { job_id, run_ids } = await start({ targets: ["t-1", "t-2", "t-3"] });
    await test.drain(["bash"]);
    await cancelRun(test.deps, run_ids[1] ?? "");
    await test.drain();
    expect(begun()).toEqual(["t-1", "t-3"]);
    expect(await getJob(test.deps, job_id)).toMatchObject({ completed: 2, cancelled: 1 });
  });

  it("is cancelled completely, once", async () => {
    await open({});
    const { job_id } = await start({ targets: ["t-1", "t-2", "t-3"] });
    await test.drain(["bash"]);
    expect(await cancelJob(test.deps, job_id)).toHaveLength(3);
    await test.drain();
    expect(await getJob(test.deps, job_id)).toMatchObject({ status: "cancelled", cancelled: 3 });
    await expect(cancelJob(test.deps, job_id)).rejects.toMatchObject({
      code: "bad_request",
      message: "Cannot cancel job with status 'cancelled'",
    });
  });

  it("of one run has the id of that run", async () => {
    await open({});
    const { job_id, run_id } = await start({ target: "t-1" });
    expect(job_id).toBe(run_id);
    expect(await getJob(test.deps, job_id)).toMatchObject({ total_runs: 1, status: "pending" });
    await expect(getJob(test.deps, "none")).rejects.toMatchObject({
      code: "not_found",
      message: "Job not found",
    });
  });

  it("lists its runs, newest first, with the filters of the list", async () => {
    await open({});
    const { job_id } = await start({ targets: ["t-1", "t-2", "u-3"], concurrency: 3 });
    await start({ target: "t-other" });
    await test.drain();
    const targets = async (filters: Parameters<typeof listRuns>[1]) => {
      const { total, items } = await listRuns(test.deps, filters, { offset: 0, limit: 10 });
      const found: string[] = [];
      for await (const page of items) found.push(...page.map(({ target }) => target));
      expect(total).toBe(found.length);
      return found;
    };
    expect(await targets({ job: job_id })).toEqual(["u-3", "t-2", "t-1"]);
    expect(await targets({ job: job_id, target: "t-", status: "completed" })).toEqual(["t-2", "t-1"]);
    expect(await targets({ job: job_id, status: "failed" })).toEqual([]);
    expect(await targets({ mode: "distributed" })).toEqual([]);
    expect(await targets({ mode: "local" })).toHaveLength(4);
  });
});

describe("the timeout of a run", () => {
  it("fails the run the given minutes after its start, with the reason", async () => {
    await open({ RUNS_CONCURRENCY_MAX: "1" });
    await start({ target: "a" });
    await test.drain(["bash"]);
    const { run_id, timeout } = await start({ target: "b", timeout: 2 });
    expect(timeout).toBe(2);
    await test.drain(["bash"]);
    test.clock.advance(10 * 60_000);
    await test.tick();
    // It was queued for that long and has just started.
    expect((await statuses())["b"]).toBe("completed");
    const again = await start({ target: "c", timeout: 2 });
    await test.drain(["bash"]);
    test.clock.advance(2 * 60_000);
    await test.deps.scheduler.sweepTimers(test.clock.now());
    await test.tick();
    const run = (await readRuns(test.deps)).find((one) => one.run_id === again.run_id);
    expect(run).toMatchObject({
      status: "failed",
      error_message: "run timed out after 2 minutes",
      timeout: 2,
    });
    expect(run_id).not.toBe(again.run_id);
  });
});
