import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Page, startTestServer, type TestServer, waitUntil } from "../../lib/testing/test-server.ts";
import type { RunRecord } from "../../lib/workflows/runs/read.ts";
import { SERVER_UNDER_TEST } from "./edited-template.ts";

const HOUR = 3_600_000;

let folder: string;
let weft: TestServer;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "weft-clock-"));
});
afterEach(async () => {
  await (weft as TestServer | undefined)?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

async function start(aheadMs: number): Promise<TestServer> {
  weft = await startTestServer({
    program: SERVER_UNDER_TEST,
    dataDir: join(folder, "data"),
    env: { WEFT_TEST_AHEAD_MS: String(aheadMs) },
  });
  return weft;
}

const advance = (ms: number) => void weft.child.stdin?.write(`advance ${ms}\n`);
const runs = async () => (await weft.get<Page<RunRecord>>("/runs?workflow=hourly&limit=100")).data;
const allOver = (count: number) =>
  waitUntil(`${count} runs to be over`, async () => {
    const data = await runs();
    return data.length >= count && data.every((run) => run.completed_at !== null) && data;
  });
const triggered = async () =>
  (await weft.events({ topic: "schedule.triggered" })).map((event) => ({
    ...event,
    data: JSON.parse(event.data) as Record<string, unknown>,
  }));

const YAML = `name: hourly
triggers: [{name: tick, type: cron, schedule: "0 * * * *"}, {name: off, type: cron, schedule: "* * * * *", enabled: false}]
steps: [{name: s, type: bash, command: "true"}]`;

test("a clock jump over schedule times starts one catch-up run and records the missed times", async () => {
  await start(0);
  await weft.storeWorkflow(YAML);
  const base = Math.floor(Date.now() / HOUR) * HOUR;
  expect(await weft.stop()).toBe(0);

  await start(base + 5.5 * HOUR - Date.now());
  const [first] = await allOver(1);
  expect(first).toMatchObject({ status: "completed", trigger_type: "cron", trigger_name: "tick" });
  const [event] = await triggered();
  expect(event).toMatchObject({
    source: "scheduler",
    data_type: "schedule",
    name: "tick-triggered",
    workflow_name: "hourly",
    event_id: first?.event_id,
    data: {
      trigger_type: "cron",
      schedule: "0 * * * *",
      slot: new Date(base + 5 * HOUR).toISOString(),
      missed: 4,
    },
  });

  advance(HOUR);
  await allOver(2);
  advance(3 * HOUR);
  await allOver(3);
  const data = (await triggered()).reverse().map((each) => [each.data["slot"], each.data["missed"]]);
  expect(data).toEqual([
    [new Date(base + 5 * HOUR).toISOString(), 4],
    [new Date(base + 6 * HOUR).toISOString(), 0],
    [new Date(base + 9 * HOUR).toISOString(), 2],
  ]);
  const { data: listed } = await weft.get<{ data: { triggers: { name: string; next_run: string }[] }[] }>(
    "/event-receiver/workflows",
  );
  expect(listed[0]?.triggers[0]).toMatchObject({
    name: "tick",
    next_run: new Date(base + 10 * HOUR).toISOString(),
  });
  expect((await runs()).length).toBe(3);

  // The clock goes back to before the last fire; no schedule fires a second time.
  advance(-4 * HOUR);
  await weft.emit({ topic: "custom.later" });
  await waitUntil(
    "a later event to be processed",
    async () => (await weft.events({ processed: "false" })).length === 0,
  );
  expect((await runs()).length).toBe(3);
});

test("no schedule fires while the scheduler is off; one run catches up after it is on again", async () => {
  await start(0);
  await weft.storeWorkflow(YAML);
  await weft.kill();
  const ahead = { WEFT_TEST_AHEAD_MS: String(2 * HOUR) };
  const dataDir = join(folder, "data");
  weft = await startTestServer({
    program: SERVER_UNDER_TEST,
    dataDir,
    env: { ...ahead, SCHEDULER_ENABLED: "false" },
  });
  advance(HOUR);
  await weft.storeWorkflow("name: other\nsteps: [{name: s, type: bash, command: 'true'}]");
  await weft.run({ module: "other" });
  expect(await runs()).toEqual([]);
  await weft.kill();
  await start(3 * HOUR);
  await allOver(1);
  expect((await triggered()).length).toBe(1);
});
