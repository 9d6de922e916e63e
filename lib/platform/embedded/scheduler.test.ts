import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Resources } from "../resources.ts";
import type { EmbeddedPlatform } from "./platform.ts";
import { parseRate } from "./scheduler.ts";
import { openForTest, temporaryFolder } from "./test-platform.ts";

const MINUTE = 60_000;
const resources: Resources = {
  tables: [],
  queues: ["each-minute", "each-hour"].map((name) => ({
    name,
    fifo: false,
    visibilitySeconds: 30,
    retentionSeconds: 345_600,
  })),
  rules: [],
  schedules: [
    { name: "Fire", expression: "rate(1 minute)", queues: ["each-minute"] },
    { name: "Sweep", expression: "rate(1 hour)", queues: ["each-hour"] },
  ],
};

describe("the embedded scheduler", () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let platform: EmbeddedPlatform;
  let now = Date.UTC(2026, 0, 1, 12, 0, 30);
  beforeEach(async () => {
    folder = await temporaryFolder();
    now = Date.UTC(2026, 0, 1, 12, 0, 30);
    platform = await openForTest(folder.path, resources, { clock: { now: () => now } });
    await platform.poke();
  });
  afterEach(async () => {
    await platform.close();
    await folder.remove();
  });
  const fired = async (queue = "each-minute"): Promise<number> =>
    (await platform.ports.queues.depth(queue)).visible;

  it("fires each rule at the start, with EventBridge's message", async () => {
    expect([await fired(), await fired("each-hour")]).toEqual([1, 1]);
    const options = { max: 1, visibilitySeconds: 30, waitSeconds: 0 };
    const [message] = await platform.ports.queues.receive("each-minute", options);
    expect(JSON.parse(message?.body ?? "")).toMatchObject({
      "detail-type": "Scheduled Event",
      source: "aws.events",
      time: "2026-01-01T12:00:30Z",
      resources: ["Fire"],
      detail: {},
    });
  });

  it("fires at the start of each minute and at no other time", async () => {
    now += 29_999;
    await platform.poke();
    expect(await fired()).toBe(1);
    now += 1;
    await Promise.all([platform.poke(), platform.poke()]);
    await platform.poke();
    expect([await fired(), await fired("each-hour")]).toEqual([2, 1]);
  });

  it("is independent of the expressions that it is given", async () => {
    const { scheduler } = platform.ports;
    for (const [at, expressions] of [
      ["12:01", ["1 12 * * *"]],
      ["12:02", []],
      ["12:03", ["0 0 * * *"]],
    ] as const) {
      await scheduler.ensure(expressions);
      await scheduler.reconcile(expressions);
      now = Date.parse(`2026-01-01T${at}:00Z`);
      await platform.poke();
    }
    expect(await fired()).toBe(4);
    expect(await scheduler.sweepTimers(now)).toBe(0);
  });

  it.each([
    ["forwards", 5 * 24 * 60 * MINUTE],
    ["back", -5 * 24 * 60 * MINUTE],
  ])("fires once when the clock jumps %s, and goes on from there", async (_, jump) => {
    now += jump;
    await platform.poke();
    expect([await fired(), await fired("each-hour")]).toEqual([2, 2]);
    now += MINUTE;
    await platform.poke();
    expect([await fired(), await fired("each-hour")]).toEqual([3, 2]);
  });

  it("sends timers that became due by a jump of the clock, in order of time, and no others", async () => {
    const { timers, queues } = platform.ports;
    await timers.set("late", now + 3 * 24 * 60 * MINUTE, "each-hour", { body: "late" });
    await timers.set("early", now + 2 * 24 * 60 * MINUTE, "each-hour", { body: "early" });
    await timers.set("never", now + 9 * 24 * 60 * MINUTE, "each-hour", { body: "never" });
    now += 4 * 24 * 60 * MINUTE;
    await platform.poke();
    const messages = await queues.receive("each-hour", { max: 10, visibilitySeconds: 30, waitSeconds: 0 });
    const bodies = messages.map(({ body }) => body).filter((body) => !body.startsWith("{"));
    expect(bodies).toEqual(["early", "late"]);
  });

  it("parses rates, and rejects invalid ones", () => {
    expect(["rate(1 minute)", "rate(5 minutes)", "rate(2 hours)", "rate(1 day)"].map(parseRate)).toEqual([
      MINUTE,
      5 * MINUTE,
      120 * MINUTE,
      1440 * MINUTE,
    ]);
    for (const expression of [
      "rate(0 minutes)",
      "rate(1 minutes)",
      "rate(2 minute)",
      "rate(5 seconds)",
      "cron(* * * * ? *)",
    ]) {
      expect(() => parseRate(expression)).toThrow(expression);
    }
  });
});
