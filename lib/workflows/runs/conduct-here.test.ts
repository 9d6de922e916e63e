import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Message } from "../../events/consumer.ts";
import type { BusEnvelope } from "../../platform/bus.ts";
import type { CommandRequest } from "../../platform/commands.ts";
import { PlatformFault } from "../../platform/faults.ts";
import type { Outbox } from "../../platform/outbox.ts";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { readLog, storeWorkflow } from "../../testing/test-workflows.ts";
import { executeStep } from "../steps/execute.ts";
import type { ConductMessage, StepCommand } from "../steps/messages.ts";
import { cancelRun } from "./cancel.ts";
import { conduct } from "./conduct.ts";
import { getRun, listHistory, listSteps } from "./read.ts";
import { startBody, startRun } from "./start.ts";
import { runKey, runsTable } from "./table.ts";

const TWO = `
name: two
steps:
  - {name: a, type: bash, command: "echo a"}
  - {name: b, type: bash, command: "echo b"}
`;
const EIGHT = `
name: eight
steps:
  - name: all
    type: parallel-steps
    parallel_steps:
${Array.from({ length: 8 }, (_, at) => `      - {name: s${at}, type: bash, command: "echo ${at}"}`).join("\n")}
`;
const NEVER = new AbortController().signal;

let test: TestDeps;
let during: (request: CommandRequest) => Promise<void>;
beforeEach(async () => {
  during = async () => {};
  test = await testDeps({
    command: async (request) => {
      await during(request);
      return { stdout: "out\n" };
    },
  });
});
afterEach(() => test.close());

const start = async (module: string): Promise<string> =>
  (await startRun(test.deps, startBody.parse({ module, target: "t" }))).run_id;

/** Takes the only waiting request of the queue for bash steps. */
async function takeRequest(): Promise<{
  command: StepCommand;
  delivery: Pick<Message<unknown>, "receiveCount">;
}> {
  const [message, ...others] = await test.deps.queues.receive("bash", {
    max: 10,
    visibilitySeconds: 30,
    waitSeconds: 0,
  });
  expect(others).toEqual([]);
  const { detail } = JSON.parse(message?.body ?? "") as BusEnvelope<StepCommand>;
  return { command: detail, delivery: { receiveCount: message?.receiveCount ?? 0 } };
}

/** Counts what is committed, and which commits fail their conditions. */
function counting(outbox: Outbox): Outbox & { commits: number; conflicts: number } {
  const counted = {
    ...outbox,
    commits: 0,
    conflicts: 0,
    commit: async (commit: Parameters<Outbox["commit"]>[0]) => {
      const outcome = await outbox.commit(commit);
      counted.commits += 1;
      if (!outcome.ok) counted.conflicts += 1;
      return outcome;
    },
  };
  return counted;
}

describe("a step's result, in a process with the tables,", () => {
  it("is one commit with the request for the next step, and no message", async () => {
    await storeWorkflow(test.deps, TWO);
    const runId = await start("two");
    await test.drain(["bash"]);
    const { command, delivery } = await takeRequest();
    const before = await getRun(test.deps, runId);
    await executeStep(test.deps, command, delivery, NEVER);
    const after = await getRun(test.deps, runId);
    expect(after.version).toBe(before.version + 1);
    expect(Object.keys(after.state.frames)).toEqual(["b"]);
    expect((await test.deps.queues.depth("conduct")).visible).toBe(0);
    expect((await test.deps.queues.depth("bash")).visible).toBe(1);
    expect(await listSteps(test.deps, runId)).toMatchObject([{ step_name: "a", status: "completed" }, {}]);
    expect((await readLog(test.deps, { topic: "step.completed" })).total).toBe(1);
  });

  it("is decided again by the queue if that fails, and the step is not executed again", async () => {
    await storeWorkflow(test.deps, TWO);
    const runId = await start("two");
    await test.drain(["bash"]);
    const { command, delivery } = await takeRequest();
    const conductHere = () => Promise.reject(new PlatformFault("throttled", "for a test"));
    await executeStep({ ...test.deps, conductHere }, command, delivery, NEVER);
    expect((await test.deps.queues.depth("conduct")).visible).toBe(1);
    expect(test.logs).toContainEqual(
      expect.objectContaining({ level: "warn", fields: expect.objectContaining({ run: runId }) }),
    );
    await test.drain();
    expect(await getRun(test.deps, runId)).toMatchObject({ status: "completed" });
    expect(test.commands).toHaveLength(2);
  });

  it.each([
    { which: "no message", fails: 0, here: ["events", "result"], queued: 0 },
    { which: "the first message", fails: 1, here: ["events"], queued: 2 },
    { which: "the second message", fails: 2, here: ["events", "result"], queued: 1 },
  ])("comes after the events of the step if $which fails here", async ({ fails, here, queued }) => {
    const scripts = {
      run: async () => ({
        ok: true as const,
        value: 1,
        logs: [],
        events: [{ workspace: "", topic: "custom.x", source: "", data_type: "", data: {} }],
      }),
    };
    await storeWorkflow(
      test.deps,
      'name: emitting\nsteps: [{name: s, type: function, function: "generate_event()"}]\n',
    );
    const order: string[] = [];
    const conductHere = async (message: ConductMessage): Promise<void> => {
      order.push(message.events === undefined ? "result" : "events");
      if (order.length === fails) throw new PlatformFault("throttled", "for a test");
      await test.deps.conductHere?.(message);
    };
    const { deps } = test;
    const runId = await start("emitting");
    await test.drain(["function"]);
    const [message] = await deps.queues.receive("function", {
      max: 1,
      visibilitySeconds: 30,
      waitSeconds: 0,
    });
    const { detail } = JSON.parse(message?.body ?? "") as BusEnvelope<StepCommand>;
    await executeStep({ ...deps, scripts, conductHere }, detail, { receiveCount: 1 }, NEVER);
    expect(order).toEqual(here);
    expect((await deps.queues.depth("conduct")).visible).toBe(queued);
    await test.drain();
    expect(await getRun(deps, runId)).toMatchObject({ status: "completed" });
    const topics = (await readLog(deps)).records.map(({ topic }) => topic).reverse();
    expect(topics).toEqual(["run.started", "custom.x", "step.completed", "run.completed"]);
  });
});

describe("the request of a step", () => {
  it("whose result was committed is ignored when it is delivered again after a crash", async () => {
    await storeWorkflow(test.deps, TWO);
    const runId = await start("two");
    await test.drain(["bash"]);
    const { command, delivery } = await takeRequest();
    await executeStep(test.deps, command, delivery, NEVER);
    const before = await listHistory(test.deps, runId);
    // The new process has no claims, and knows that an earlier one may have delivered the request.
    const taken = new Set<string>();
    const claims = {
      take: async (name: string) => !taken.has(name) && taken.add(name).size > 0,
      isTaken: async (name: string) => taken.has(name),
    };
    await executeStep({ ...test.deps, claims }, command, { receiveCount: 1, interrupted: 1 }, NEVER);
    expect(await listHistory(test.deps, runId)).toEqual(before);
    await test.drain();
    expect(await getRun(test.deps, runId)).toMatchObject({ status: "completed" });
    expect(test.commands).toHaveLength(2);
  });

  it("whose result was not committed before a crash is the next attempt", async () => {
    await storeWorkflow(test.deps, TWO);
    const runId = await start("two");
    await test.drain(["bash"]);
    const { command } = await takeRequest();
    await executeStep(test.deps, command, { receiveCount: 1, interrupted: 1 }, NEVER);
    expect(await getRun(test.deps, runId)).toMatchObject({ state: { frames: { a: { attempt: 2 } } } });
    await test.drain();
    expect(test.commands.map(({ env }) => env.WEFT_ATTEMPT)).toEqual(["2", "1"]);
    expect(await getRun(test.deps, runId)).toMatchObject({ status: "completed" });
  });
});

it("results that arrive at the same time are decided one after another, without a conflict", async () => {
  await storeWorkflow(test.deps, EIGHT);
  const runId = await start("eight");
  await test.drain(["bash"]);
  const messages = await test.deps.queues.receive("bash", { max: 10, visibilitySeconds: 30, waitSeconds: 0 });
  expect(messages).toHaveLength(8);
  const outbox = counting(test.deps.outbox);
  const conductHere = async (message: ConductMessage): Promise<void> => {
    await conduct({ ...test.deps, outbox }, message);
  };
  await Promise.all(
    messages.map(({ body }) => {
      const { detail } = JSON.parse(body) as BusEnvelope<StepCommand>;
      return executeStep({ ...test.deps, conductHere }, detail, { receiveCount: 1 }, NEVER);
    }),
  );
  expect([outbox.commits, outbox.conflicts]).toEqual([8, 0]);
  await test.drain();
  expect(await getRun(test.deps, runId)).toMatchObject({ status: "completed" });
});

it("a run that is cancelled while its step runs records no result and requests no step", async () => {
  await storeWorkflow(test.deps, TWO);
  const runId = await start("two");
  await test.drain(["bash"]);
  const { command, delivery } = await takeRequest();
  during = async () => {
    await cancelRun(test.deps, runId);
  };
  await executeStep(test.deps, command, delivery, NEVER);
  await test.drain();
  expect(await getRun(test.deps, runId)).toMatchObject({ status: "cancelled" });
  expect(await listSteps(test.deps, runId)).toMatchObject([{ step_name: "a", status: "cancelled" }]);
  expect(test.commands).toHaveLength(1);
});

it("a run that was deleted while its step runs is not created again", async () => {
  await storeWorkflow(test.deps, TWO);
  const runId = await start("two");
  await test.drain(["bash"]);
  const { command, delivery } = await takeRequest();
  during = async () => {
    await test.deps.tables.write([{ op: "delete", table: runsTable, key: runKey(runId) }]);
  };
  await executeStep(test.deps, command, delivery, NEVER);
  await test.drain();
  await expect(getRun(test.deps, runId)).rejects.toMatchObject({ code: "not_found" });
  expect(test.commands).toHaveLength(1);
});
