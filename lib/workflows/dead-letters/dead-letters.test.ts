import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { emitEvent } from "../../events/emit.ts";
import { resendPending } from "../../events/log/process.ts";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { collectPages, onTopic, readLog, readRuns, storeWorkflow } from "../../testing/test-workflows.ts";
import { getRun, listSteps } from "../runs/read.ts";
import { startRun } from "../runs/start.ts";
import { listDeadLetters, recordLastFailure, redriveDeadLetter, storeDeadLetter } from "./dead-letters.ts";

let test: TestDeps;
let broken: string | undefined;
beforeEach(async () => {
  broken = undefined;
  test = await testDeps();
});
afterEach(() => test.close());

const letters = async () => collectPages((await listDeadLetters(test.deps, { offset: 0, limit: 100 })).items);

/** If set, the definitions cannot be read, with this error. */
function breakDefinitions(): void {
  const { definitions } = test.deps;
  const get = definitions.get.bind(definitions);
  definitions.get = async (name, revision) => {
    if (broken !== undefined) throw new Error(broken);
    return get(name, revision);
  };
}

describe("an event that cannot be dispatched", () => {
  it("is stored and recorded with the reason, leaves the sweep, and is processed after a redrive", async () => {
    await storeWorkflow(test.deps, onTopic("a", "custom.x"));
    breakDefinitions();
    broken = "the definition cannot be read";
    await emitEvent(test.deps, { topic: "custom.x" });
    await test.drain();
    const [letter, ...more] = await letters();
    expect(more).toEqual([]);
    expect(letter).toMatchObject({
      queue: "dispatch",
      error: broken,
      received_at: "2026-03-02T10:00:00.000Z",
    });
    expect(JSON.parse(letter?.body ?? "")).toMatchObject({ detail: { topic: "custom.x", matched: 1 } });
    expect((await readLog(test.deps, { topic: "custom.x" })).records).toMatchObject([
      { processed: false, error: broken },
    ]);
    test.clock.advance(24 * 3_600_000);
    expect(await resendPending(test.deps, 100)).toBe(0);
    expect(await readRuns(test.deps)).toEqual([]);

    broken = undefined;
    await redriveDeadLetter(test.deps, letter?.id ?? "");
    expect(await letters()).toEqual([]);
    await test.drain();
    expect((await readLog(test.deps, { topic: "custom.x" })).records).toMatchObject([
      { processed: true, error: "" },
    ]);
    expect(await readRuns(test.deps)).toMatchObject([{ workflow_name: "a", status: "completed" }]);
  });

  it("becomes a dead letter again when it fails again, and can be redriven again", async () => {
    await storeWorkflow(test.deps, onTopic("a", "custom.x"));
    breakDefinitions();
    broken = "first";
    await emitEvent(test.deps, { topic: "custom.x" });
    await test.drain();
    broken = "second";
    for (const { id } of await letters()) await redriveDeadLetter(test.deps, id);
    await test.drain();
    expect(await letters()).toMatchObject([{ error: "second" }]);
    expect((await readLog(test.deps, { topic: "custom.x" })).records).toMatchObject([{ error: "second" }]);
  });
});

describe("a run that cannot go on", () => {
  it("fails with the reason when its conductor gives up", async () => {
    await storeWorkflow(test.deps, onTopic("a", "custom.x"));
    const { run_id } = await startRun(test.deps, { module: "a" });
    breakDefinitions();
    broken = "the definition cannot be read";
    await test.drain(["dead-letters"]);
    expect(await getRun(test.deps, run_id)).toMatchObject({ status: "pending" });
    broken = undefined;
    await test.drain();
    expect(await getRun(test.deps, run_id)).toMatchObject({
      status: "failed",
      error_message: "the run could not continue: the definition cannot be read",
    });
    expect(await letters()).toMatchObject([{ queue: "conduct" }]);
    expect((await readLog(test.deps, { topic: "run.failed" })).total).toBe(1);
  });

  it("fails when no executor can finish one of its steps, whose row is closed", async () => {
    await storeWorkflow(test.deps, onTopic("a", "custom.x"));
    const { run_id } = await startRun(test.deps, { module: "a" });
    await test.drain(["bash"]);
    const [message] = await test.deps.queues.receive("bash", {
      max: 1,
      visibilitySeconds: 30,
      waitSeconds: 0,
    });
    const letter = { id: message?.id ?? "", queue: "bash", body: message?.body ?? "" };
    await recordLastFailure(test.deps, {
      ...letter,
      messageId: letter.id,
      error: new Error("no space left on the storage"),
    });
    await storeDeadLetter(test.deps, letter);
    const error = "step only could not be executed: no space left on the storage";
    expect(await getRun(test.deps, run_id)).toMatchObject({ status: "failed", error_message: error });
    expect(await listSteps(test.deps, run_id)).toMatchObject([{ status: "failed", error_message: error }]);
  });

  it("is not affected by the dead letter of a step that has a result meanwhile", async () => {
    await storeWorkflow(test.deps, onTopic("a", "custom.x", ["first", "second"]));
    const { run_id } = await startRun(test.deps, { module: "a" });
    await test.drain(["bash"]);
    const [message] = await test.deps.queues.receive("bash", {
      max: 1,
      visibilitySeconds: 30,
      waitSeconds: 0,
    });
    await test.deps.queues.changeVisibility("bash", message?.receipt ?? "", 0);
    await test.drain();
    await storeDeadLetter(test.deps, { id: message?.id ?? "", queue: "bash", body: message?.body ?? "" });
    expect(await getRun(test.deps, run_id)).toMatchObject({ status: "completed" });
  });
});

describe("a dead letter", () => {
  it("keeps the truncated reason recorded before it arrived, and a large body that is not JSON", async () => {
    const body = `not json ${"é".repeat(300_000)}`;
    await recordLastFailure(test.deps, {
      queue: "bash",
      messageId: "m",
      body,
      error: new Error("x".repeat(5_000)),
    });
    await storeDeadLetter(test.deps, { id: "m", queue: "bash", body });
    const [letter, ...more] = await letters();
    expect(more).toEqual([]);
    expect(letter?.body).toBe(body);
    expect(letter?.error).toBe("x".repeat(2_000));
    await redriveDeadLetter(test.deps, "m");
    const [again] = await test.deps.queues.receive("bash", { max: 1, visibilitySeconds: 30, waitSeconds: 0 });
    expect(again?.body).toBe(body);
  });

  it("returns to its message group if its queue has groups", async () => {
    const wanted = { max: 1, visibilitySeconds: 30, waitSeconds: 0 };
    await storeDeadLetter(test.deps, { id: "m", queue: "index-events", body: "{}" });
    await redriveDeadLetter(test.deps, "m");
    expect(await test.deps.queues.receive("index-events", wanted)).toMatchObject([
      { body: "{}", groupId: "index-events" },
    ]);
  });

  it("with an unreadable body is sent back unchanged", async () => {
    await storeDeadLetter(test.deps, { id: "m1", queue: "dispatch", body: "{no JSON" });
    expect(await redriveDeadLetter(test.deps, "m1")).toMatchObject({ queue: "dispatch" });
    expect((await test.deps.queues.depth("dispatch")).visible).toBe(1);
    expect(await letters()).toEqual([]);
  });

  it("that does not exist cannot be redriven", async () => {
    await expect(redriveDeadLetter(test.deps, "nowhere")).rejects.toMatchObject({ code: "not_found" });
  });

  it("is listed newest first, with pagination", async () => {
    for (const id of ["a", "b", "c"]) {
      await storeDeadLetter(test.deps, { id, queue: "http", body: "{}" });
      test.clock.advance(1_000);
    }
    expect((await letters()).map(({ id }) => id)).toEqual(["c", "b", "a"]);
    const { total, items } = await listDeadLetters(test.deps, { offset: 1, limit: 1 });
    expect([total, (await collectPages(items)).map(({ id }) => id)]).toEqual([3, ["b"]]);
  });
});
