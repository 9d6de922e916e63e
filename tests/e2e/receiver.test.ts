import { afterEach, describe, expect, test } from "vitest";
import {
  type Page,
  startTestServer,
  type TestServer,
  type TestServerOptions,
  waitUntil,
} from "../../lib/testing/test-server.ts";

const running: TestServer[] = [];
async function start(options?: TestServerOptions): Promise<TestServer> {
  const weft = await startTestServer(options);
  running.push(weft);
  return weft;
}
afterEach(async () => {
  for (const weft of running.splice(0)) await weft[Symbol.asyncDispose]();
});

interface Status {
  readonly triggers: Readonly<Record<string, number>>;
  readonly workflows_loaded: number;
  readonly last_event_at: string;
}
interface Entry {
  readonly name: string;
  readonly kind: string;
  readonly triggers: readonly { readonly name: string; readonly next_run?: string }[];
}

const STEPS = "steps: [{name: s, type: bash, command: 'true'}]";
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe("seed 2.4 and 2.5: the event receiver", () => {
  test("counts the triggers and lists every workflow with a trigger", async () => {
    const weft = await start();
    expect(await weft.get("/event-receiver/status")).toMatchObject({
      enabled: true,
      running: true,
      triggers: { cron: 0, event: 0, watch: 0 },
      workflows_loaded: 0,
    });
    expect(await weft.get("/event-receiver/workflows")).toEqual({ data: [], count: 0 });
    await weft.storeWorkflow(`name: mixed
triggers:
  - {name: nightly, type: cron, schedule: "0 2 * * *"}
  - {name: paused, type: cron, schedule: "*/5 8-18 * * 1-5", enabled: false}
  - {name: found, type: event, topic: assets.new}
  - {name: folder, type: watch, path: "/data/*.txt"}
  - {name: by-hand, type: manual}
${STEPS}`);
    await weft.storeWorkflow(
      `name: a-flow\ntriggers: [{on: cron, schedule: "0 0 * * 0"}]\nmodules: [{name: m, ${STEPS}}]`,
    );
    await weft.storeWorkflow(`name: plain\n${STEPS}`);
    const status = await weft.get<Status>("/event-receiver/status");
    expect(Object.keys(status)).toEqual([
      "enabled",
      "running",
      "triggers",
      "workflows_loaded",
      "last_event_at",
    ]);
    expect(status).toMatchObject({ triggers: { cron: 3, event: 1, watch: 1 }, workflows_loaded: 2 });
    const { data, count } = await weft.get<{ data: Entry[]; count: number }>("/event-receiver/workflows");
    expect(count).toBe(2);
    expect(data).toEqual([
      {
        name: "a-flow",
        kind: "flow",
        triggers: [
          {
            name: "cron-1",
            type: "cron",
            enabled: true,
            schedule: "0 0 * * 0",
            next_run: expect.stringMatching(ISO),
          },
        ],
      },
      {
        name: "mixed",
        kind: "module",
        triggers: [
          {
            name: "nightly",
            type: "cron",
            enabled: true,
            schedule: "0 2 * * *",
            next_run: expect.stringMatching(/T02:00:00.000Z$/),
          },
          {
            name: "paused",
            type: "cron",
            enabled: false,
            schedule: "*/5 8-18 * * 1-5",
            next_run: expect.stringMatching(/:\d[05]:00.000Z$/),
          },
          { name: "found", type: "event", enabled: true, topic: "assets.new" },
          { name: "folder", type: "watch", enabled: true, path: "/data/*.txt" },
        ],
      },
    ]);
    for (const trigger of data.flatMap((entry) => entry.triggers)) {
      if (trigger.next_run !== undefined)
        expect(Date.parse(trigger.next_run)).toBeGreaterThan(Date.now() - 1000);
    }
  });

  test("next_run follows the time zone of its trigger", async () => {
    const weft = await start();
    await weft.storeWorkflow(
      `name: tokyo\ntriggers: [{type: cron, schedule: "30 9 * * *", timezone: Asia/Tokyo}]\n${STEPS}`,
    );
    const { data } = await weft.get<{ data: Entry[] }>("/event-receiver/workflows");
    expect(data[0]?.triggers[0]?.next_run).toMatch(/T00:30:00.000Z$/);
  });

  test("last_event_at is the first start, then the time of the newest event, also after a restart", async () => {
    const before = new Date().toISOString();
    const first = await start();
    const { dataDir } = first;
    const status = (weft: TestServer) => weft.get<Status>("/event-receiver/status");
    const started = (await status(first)).last_event_at;
    expect(started >= before && started <= new Date().toISOString()).toBe(true);
    expect(await first.stop()).toBe(0);
    const second = await start({ dataDir });
    expect((await status(second)).last_event_at).toBe(started);
    await second.emit({ topic: "custom.a" });
    const [event] = await second.events();
    expect((await status(second)).last_event_at).toBe(event?.created_at);
    await second.kill();
    const third = await start({ dataDir });
    expect((await status(third)).last_event_at).toBe(event?.created_at);
  });

  test.each([
    ["EVENT_RECEIVER_ENABLED=false", { EVENT_RECEIVER_ENABLED: "false" }],
    ["SCHEDULER_ENABLED=false", { SCHEDULER_ENABLED: "false" }],
  ])(
    "%s: both GETs return 404, and emit logs the event without triggering, with a note",
    async (_name, env) => {
      const weft = await start({ env });
      await weft.storeWorkflow(`name: on-a\ntriggers: [{type: event, topic: custom.a}]\n${STEPS}`);
      for (const path of ["/event-receiver/status", "/event-receiver/workflows"]) {
        const answer = await weft.call("GET", path);
        expect([answer.status, answer.json]).toEqual([
          404,
          { error: true, message: expect.stringMatching(/./) },
        ]);
        expect((await weft.call("GET", path, { token: null })).status).toBe(401);
      }
      const answer = await weft.emit({ topic: "custom.a" });
      expect(answer).toMatchObject({ triggered_workflows: [], note: expect.stringMatching(/disabled/) });
      const [record] = await waitUntil("the record to be processed", async () => {
        const events = await weft.events({ topic: "custom.a", processed: "true" });
        return events.length > 0 && events;
      });
      expect(record?.event_id).toBe(answer.event_id.slice(4));
      expect((await weft.get<Page<unknown>>("/runs")).pagination.total).toBe(0);
    },
  );

  test("the receiver can be enabled while the scheduler is disabled", async () => {
    const weft = await start({ env: { SCHEDULER_ENABLED: "false", EVENT_RECEIVER_ENABLED: "true" } });
    await weft.storeWorkflow(`name: on-a\ntriggers: [{type: event, topic: custom.a}]\n${STEPS}`);
    expect(await weft.get("/event-receiver/status")).toMatchObject({ enabled: true, workflows_loaded: 1 });
    expect((await weft.emit({ topic: "custom.a" })).triggered_workflows).toEqual(["on-a"]);
  });
});
