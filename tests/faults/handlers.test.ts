import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Page, startTestServer, type TestServer, waitUntil } from "../../lib/testing/test-server.ts";
import { editedTemplate, SERVER_UNDER_TEST } from "./edited-template.ts";

interface Letter {
  readonly id: string;
  readonly queue: string;
  readonly error: string;
  readonly body: string;
}

const CLI = fileURLToPath(new URL("../../bin/weft.js", import.meta.url));
const MISBEHAVING = fileURLToPath(new URL("./misbehaving-dispatch.ts", import.meta.url));
/** `maxReceiveCount` of the dispatcher's queue in the template. */
const DELIVERIES = 5;

let folder: string;
let weft: TestServer;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-handlers-"));
});
afterEach(async () => {
  await (weft as TestServer | undefined)?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

const behave = (how: string) => writeFile(join(folder, "behaviour"), how);

async function startMisbehaving(): Promise<TestServer> {
  const template = await editedTemplate(folder, [
    ["- consumers/dispatch.ts", `- ${MISBEHAVING}`],
    [
      "Handler: dispatch.handler\n      Timeout: 60",
      "Handler: misbehaving-dispatch.handler\n      Timeout: 1",
    ],
  ]);
  const env = { WEFT_TEST_TEMPLATE: template, WEFT_TEST_BEHAVIOUR: join(folder, "behaviour") };
  weft = await startTestServer({ program: SERVER_UNDER_TEST, dataDir: join(folder, "data"), env });
  return weft;
}

const SAVED =
  "name: on-bad\ntriggers: [{type: event, topic: custom.bad}]\nsteps: [{name: s, type: bash, command: 'true'}]";

async function deadLetter(): Promise<Letter> {
  return waitUntil(
    "the dead letter",
    async () => (await weft.get<Page<Letter>>("/dead-letters")).data[0],
    30_000,
  );
}

/** Expects one completed run of the redriven event and no dead letter. */
async function expectRecovered(eventId: string): Promise<void> {
  await waitUntil("the event to be processed", async () => {
    const [event] = await weft.events({ topic: "custom.bad" });
    return event?.processed === true && event.error === "";
  });
  const { data } = await weft.get<Page<{ run_id: string; event_id: string }>>("/runs");
  expect(data.map((run) => run.event_id)).toEqual([eventId]);
  expect((await weft.waitForRun(data[0]?.run_id ?? "")).status).toBe("completed");
  expect((await weft.get<Page<Letter>>("/dead-letters")).pagination.total).toBe(0);
}

describe("a failing handler", () => {
  test.each([
    ["throws", "throw", /it threw on purpose/],
    ["hangs", "hang", /exceeded its timeout of 1 s/],
  ])("that %s is retried, dead-lettered with the reason, listed and redriven", async (_name, how, reason) => {
    await behave("well");
    await startMisbehaving();
    await weft.storeWorkflow(SAVED);
    await behave(how);
    const answer = await weft.emit({ topic: "custom.bad" });
    const eventId = answer.event_id.slice(4);
    const letter = await deadLetter();
    expect(letter).toMatchObject({ queue: "dispatch", error: expect.stringMatching(reason) });
    expect(JSON.parse(letter.body)).toMatchObject({ detail: { event_id: eventId } });
    const [event] = await waitUntil("the reason in the log", async () => {
      const events = await weft.events({ topic: "custom.bad" });
      return events[0]?.error !== "" && events;
    });
    expect(event).toMatchObject({ processed: false, error: expect.stringMatching(reason) });
    await behave("well");
    const redriven = await weft.call("POST", `/dead-letters/${encodeURIComponent(letter.id)}/redrive`);
    expect(redriven.status).toBe(202);
    await expectRecovered(eventId);
    const secondRedrive = await weft.call("POST", `/dead-letters/${encodeURIComponent(letter.id)}/redrive`);
    expect(secondRedrive.status).toBe(404);
  });

  test("that kills the process on every delivery processes the event after it recovers", async () => {
    await behave("well");
    await startMisbehaving();
    await weft.storeWorkflow(SAVED);
    await behave("kill");
    // The process may end before it responds: the event is in the log by then.
    await weft.emit({ topic: "custom.bad" }).catch(() => {});
    for (let delivery = 1; delivery <= DELIVERIES + 1; delivery += 1) {
      await waitUntil("its end", () => weft.child.signalCode === "SIGKILL");
      if (delivery <= DELIVERIES) await startMisbehaving().catch(() => {});
    }
    await behave("well");
    weft = await startTestServer({ dataDir: join(folder, "data") });
    const [event] = await weft.events({ topic: "custom.bad" });
    await expectRecovered(event?.event_id ?? "");
  });

  test("is redriven from the command line", async () => {
    await behave("well");
    await startMisbehaving();
    await weft.storeWorkflow(SAVED);
    await behave("throw");
    const { event_id } = await weft.emit({ topic: "custom.bad" });
    const letter = await deadLetter();
    await weft.kill();
    weft = await startTestServer({ dataDir: join(folder, "data") });
    const cli = (...args: string[]) =>
      promisify(execFile)(process.execPath, [CLI, "dead-letters", ...args], {
        env: { ...process.env, WEFT_DATA_DIR: join(folder, "data"), WEFT_ACCESS_TOKEN: "" },
      });
    expect((await cli()).stdout).toContain(letter.id);
    expect((await cli("redrive", letter.id)).stdout).toBe(`redriven ${letter.id}\n`);
    await expectRecovered(event_id.slice(4));
  });
});

test("without an executor's rule in the template, steps of its type wait and others run", async () => {
  const template = await editedTemplate(folder, [[/^ {2}FunctionRule:\n(?: {3,}.*\n)+/m, ""]]);
  weft = await startTestServer({ program: SERVER_UNDER_TEST, env: { WEFT_TEST_TEMPLATE: template } });
  await weft.storeWorkflow(
    "name: of-functions\nsteps: [{name: a, type: bash, command: 'echo a'}, {name: f, type: function, function: '1'}]",
  );
  await weft.storeWorkflow(
    "name: of-others\nsteps: [{name: a, type: bash, command: 'echo a'}, {name: p, type: parallel-steps, parallel_steps: [{name: l, type: foreach, input: [x], variable: v, step: {name: b, type: bash, command: 'echo [[v]]'}}]}]",
  );
  const stopped = await weft.startRun({ module: "of-functions" });
  await waitUntil("its bash step", async () => (await weft.steps(stopped))["a"]?.status === "completed");
  for (let n = 0; n < 5; n += 1) expect((await weft.run({ module: "of-others" })).status).toBe("completed");
  expect((await weft.get<{ data: { status: string } }>(`/runs/${stopped}`)).data.status).toBe("running");
  const steps = Object.entries(await weft.steps(stopped)).map(([name, { status }]) => [name, status]);
  expect(steps).toEqual([
    ["a", "completed"],
    ["f", "running"],
  ]);
  const requested = (await weft.history(stopped)).filter(({ type }) => type === "step.requested");
  expect(requested.map((entry) => entry["step_type"])).toEqual(["bash", "function"]);
  expect((await weft.call("DELETE", `/runs/${stopped}`)).status).toBe(200);
});
