import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  DeleteRuleCommand,
  EventBridgeClient,
  ListRulesCommand,
  PutRuleCommand,
  PutTargetsCommand,
  RemoveTargetsCommand,
} from "@aws-sdk/client-eventbridge";
import { describe, expect, it, onTestFinished } from "vitest";
import * as eventbridgeSdk from "./eventbridge-sdk.ts";
import { awsScheduler, SCHEDULE_RULES_MAX } from "./scheduler.ts";
import { mockAws, serviceError } from "./test-mocks.ts";

const ARN = "arn:aws-cn:events:cn-north-1:123456789012:rule/";

/** EventBridge with these rules (name to description) on its default bus, in pages of 40. */
async function mocked(rules: Readonly<Record<string, string>> = {}, stack = "home") {
  const platform = await mockAws({ stack });
  const there = new Map<string, string | undefined>(Object.entries(rules));
  const said = new Map<string, string>();
  const targets: unknown[] = [];
  const { eventbridge } = platform;
  eventbridge.on(ListRulesCommand).callsFake(({ NamePrefix, NextToken = "0" }) => {
    const all = [...there].filter(([name]) => name.startsWith(NamePrefix));
    const page = all.slice(Number(NextToken), Number(NextToken) + 40);
    const next = Number(NextToken) + page.length;
    return {
      Rules: page.map(([Name, Description]) => ({ Name, Description })),
      ...(next < all.length ? { NextToken: String(next) } : {}),
    };
  });
  eventbridge.on(PutRuleCommand).callsFake(({ Name, Description, State, ScheduleExpression }) => {
    expect(State).toBe("ENABLED");
    there.set(Name, Description);
    said.set(Name, ScheduleExpression);
    return { RuleArn: `${ARN}${Name}` };
  });
  eventbridge.on(PutTargetsCommand).callsFake((input) => {
    targets.push(input);
    return { FailedEntryCount: 0, FailedEntries: [] };
  });
  eventbridge.on(RemoveTargetsCommand).resolves({ FailedEntryCount: 0 });
  eventbridge.on(DeleteRuleCommand).callsFake(({ Name }) => {
    there.delete(Name);
    return {};
  });
  const commands = () => eventbridge.calls().map(({ args }) => args[0].constructor.name);
  return { ...platform, scheduler: platform.ports.scheduler, there, said, targets, commands };
}

/** Rules of this installation for expressions that are no longer used. */
const oldRules = (count: number): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, n) => [`home-schedule-${n.toString(16).padStart(12, "0")}`, "old"]),
  );
const daily = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => `${n % 60} ${n % 24} * * *`);

describe("ensuring rules", () => {
  it("creates a rule for each expression that EventBridge supports, with the fire queue as target", async () => {
    const { scheduler, there, said, targets } = await mocked();
    await scheduler.ensure(["0 9 * * *", "0,30 * * * *"]);
    expect([...said.values()]).toEqual(["cron(0 9 * * ? *)", "cron(0,30 * * * ? *)"]);
    const [first, second] = [...there.keys()];
    expect(first).toMatch(/^home-schedule-[0-9a-f]{12}$/);
    const Targets = [{ Id: "queue", Arn: "arn:aws-cn:sqs:cn-north-1:123456789012:home-fire" }];
    expect(targets).toEqual([
      { Rule: first, Targets },
      { Rule: second, Targets },
    ]);
  });

  it("shares a rule between equivalent expressions, and creates two if both day fields are set", async () => {
    const { scheduler, said } = await mocked();
    await scheduler.ensure(["0 9 * * *", "0 9 * * 0-6", "00 09 * * 0,1,2,3,4,5,6", "0 9 13 * 5"]);
    expect([...said.values()].sort()).toEqual([
      "cron(0 9 * * ? *)",
      "cron(0 9 13 * ? *)",
      "cron(0 9 ? * 6 *)",
    ]);
  });

  it("sends no requests without expressions, and does not recreate existing rules", async () => {
    const { scheduler, commands, eventbridge } = await mocked();
    await scheduler.ensure([]);
    await scheduler.ensure(["0 0 31 2 *"]);
    expect(commands()).toEqual([]);
    await scheduler.ensure(["0 9 * * *"]);
    eventbridge.resetHistory();
    await scheduler.ensure(["0 9 * * *"]);
    expect(commands()).toEqual(["ListRulesCommand"]);
  });

  it("recreates a rule that has no target", async () => {
    const { scheduler, there, targets, eventbridge } = await mocked();
    eventbridge
      .on(PutTargetsCommand)
      .rejectsOnce(serviceError("ServiceUnavailable", 503))
      .callsFake((input) => {
        targets.push(input);
        return {};
      });
    await expect(scheduler.ensure(["0 9 * * *"])).rejects.toMatchObject({ code: "unavailable" });
    expect(there.size).toBe(1);
    await scheduler.reconcile(["0 9 * * *"]);
    expect(targets).toHaveLength(1);
    await scheduler.reconcile(["0 9 * * *"]);
    expect(targets).toHaveLength(1);
  });

  it("creates no rule above the limit; the rule of each minute covers the rest", async () => {
    const { scheduler, there } = await mocked(oldRules(SCHEDULE_RULES_MAX - 2));
    await scheduler.ensure(daily(5));
    expect(there.size).toBe(SCHEDULE_RULES_MAX);
    await scheduler.ensure(daily(50));
    expect(there.size).toBe(SCHEDULE_RULES_MAX);
  });

  it("creates the other rules if EventBridge rejects one, and logs it", async () => {
    const { scheduler, there, eventbridge } = await mocked();
    eventbridge
      .on(PutRuleCommand, { ScheduleExpression: "cron(0 9 * * ? *)" })
      .rejects(serviceError("ValidationException"));
    await expect(scheduler.ensure(["0 9 * * *", "0 10 * * *"])).rejects.toThrow("from a test");
    expect([...there.keys()]).toHaveLength(1);
  });

  it("stops if the account has no room for more rules", async () => {
    const { scheduler, eventbridge, commands } = await mocked();
    eventbridge.on(PutRuleCommand).rejects(serviceError("LimitExceededException"));
    await expect(scheduler.ensure(daily(20))).rejects.toMatchObject({ code: "throttled" });
    expect(commands()).toEqual(["ListRulesCommand", "PutRuleCommand"]);
  });

  it("gives up within seconds if EventBridge does not respond, because a request waits for it", async () => {
    const silent = createServer(() => undefined).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const client = new EventBridgeClient({
      region: "us-east-1",
      endpoint: `http://127.0.0.1:${port}`,
      credentials: { accessKeyId: "a", secretAccessKey: "b" },
    });
    onTestFinished(() => {
      client.destroy();
      silent.closeAllConnections();
      silent.close();
    });
    const eventbridge = async () => ({ ...eventbridgeSdk, client });
    const scheduler = awsScheduler({ eventbridge, stack: "home", sweepTimers: async () => 0, ensureMs: 50 });
    await expect(scheduler.ensure(["0 9 * * *"])).rejects.toMatchObject({ code: "unavailable" });
  });

  it("creates no rule whose name EventBridge would reject", async () => {
    const { scheduler, commands } = await mocked({}, "s".repeat(43));
    await scheduler.ensure(["0 9 * * *"]);
    await scheduler.reconcile(["0 9 * * *"]);
    expect(commands()).toEqual([]);
    const fits = await mocked({}, "s".repeat(42));
    await fits.scheduler.ensure(["0 9 * * *"]);
    expect([...fits.there.keys()].map(({ length }) => length)).toEqual([64]);
  });
});

describe("reconciling rules", () => {
  it("deletes unused rules on every page and creates missing ones", async () => {
    const { scheduler, there, said, eventbridge } = await mocked(oldRules(90));
    await scheduler.reconcile(["0 9 * * *"]);
    expect([...there.keys()]).toEqual([...said.keys()]);
    expect([...said.values()]).toEqual(["cron(0 9 * * ? *)"]);
    const removals = eventbridge.commandCalls(RemoveTargetsCommand).map(({ args }) => args[0].input);
    expect(removals).toHaveLength(90);
    expect(removals[0]).toEqual({ Rule: "home-schedule-000000000000", Ids: ["queue"] });
  });

  it("reuses the room of deleted rules", async () => {
    const { scheduler, there } = await mocked(oldRules(SCHEDULE_RULES_MAX));
    await scheduler.reconcile(daily(SCHEDULE_RULES_MAX + 7));
    expect(there.size).toBe(SCHEDULE_RULES_MAX);
    const before = [...there.keys()];
    await scheduler.reconcile(daily(SCHEDULE_RULES_MAX + 7).reverse());
    expect([...there.keys()]).toEqual(before);
  });

  it("leaves rules of other stacks alone, even if their name starts with this stack's name", async () => {
    const others = {
      "home-fire": "theirs",
      "home-schedule-fire": "theirs",
      "home-schedule-schedule-0123456789ab": "theirs",
      "homes-schedule-0123456789ab": "theirs",
    };
    const { scheduler, there } = await mocked({ ...others, ...oldRules(1) });
    await scheduler.reconcile([]);
    expect(Object.fromEntries(there)).toEqual(others);
  });

  it("ignores rules that were deleted concurrently", async () => {
    const { scheduler, eventbridge } = await mocked(oldRules(2));
    const gone = serviceError("ResourceNotFoundException");
    eventbridge.on(RemoveTargetsCommand).rejects(gone);
    eventbridge.on(DeleteRuleCommand).rejects(gone);
    await scheduler.reconcile([]);
    expect(eventbridge.commandCalls(DeleteRuleCommand)).toHaveLength(2);
  });
});
