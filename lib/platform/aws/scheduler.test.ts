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
import { awsScheduler, SCHEDULE_RULES_MAX } from "./scheduler.ts";
import { mockedAws, serviceError } from "./test-mocks.ts";

const ARN = "arn:aws-cn:events:cn-north-1:123456789012:rule/";

/** EventBridge with these rules on its default bus, in pages of 40. Of a rule, its description. */
async function mocked(rules: Readonly<Record<string, string>> = {}, stack = "home") {
  const platform = await mockedAws({ stack });
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

/** Rules of this installation that nobody uses. */
const oldRules = (count: number): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, n) => [`home-schedule-${n.toString(16).padStart(12, "0")}`, "old"]),
  );
const daily = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => `${n % 60} ${n % 24} * * *`);

describe("telling of expressions", () => {
  it("makes a rule for each that EventBridge can say, which wakes the queue of fires", async () => {
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

  it("shares a rule among expressions that mean the same, and takes two for a pair of day fields", async () => {
    const { scheduler, said } = await mocked();
    await scheduler.ensure(["0 9 * * *", "0 9 * * 0-6", "00 09 * * 0,1,2,3,4,5,6", "0 9 13 * 5"]);
    expect([...said.values()].sort()).toEqual([
      "cron(0 9 * * ? *)",
      "cron(0 9 13 * ? *)",
      "cron(0 9 ? * 6 *)",
    ]);
  });

  it("asks for nothing where there is nothing to say, and makes nothing that is there", async () => {
    const { scheduler, commands, eventbridge } = await mocked();
    await scheduler.ensure([]);
    await scheduler.ensure(["0 0 31 2 *"]);
    expect(commands()).toEqual([]);
    await scheduler.ensure(["0 9 * * *"]);
    eventbridge.resetHistory();
    await scheduler.ensure(["0 9 * * *"]);
    expect(commands()).toEqual(["ListRulesCommand"]);
  });

  it("makes a rule anew that was left without its target", async () => {
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

  it("leaves the rest to the rule of each minute where there are as many rules as there may be", async () => {
    const { scheduler, there } = await mocked(oldRules(SCHEDULE_RULES_MAX - 2));
    await scheduler.ensure(daily(5));
    expect(there.size).toBe(SCHEDULE_RULES_MAX);
    await scheduler.ensure(daily(50));
    expect(there.size).toBe(SCHEDULE_RULES_MAX);
  });

  it("makes the others where EventBridge refuses one, and tells of it", async () => {
    const { scheduler, there, eventbridge } = await mocked();
    eventbridge
      .on(PutRuleCommand, { ScheduleExpression: "cron(0 9 * * ? *)" })
      .rejects(serviceError("ValidationException"));
    await expect(scheduler.ensure(["0 9 * * *", "0 10 * * *"])).rejects.toThrow("from a test");
    expect([...there.keys()]).toHaveLength(1);
  });

  it("ends where the account has no room for more rules", async () => {
    const { scheduler, eventbridge, commands } = await mocked();
    eventbridge.on(PutRuleCommand).rejects(serviceError("LimitExceededException"));
    await expect(scheduler.ensure(daily(20))).rejects.toMatchObject({ code: "throttled" });
    expect(commands()).toEqual(["ListRulesCommand", "PutRuleCommand"]);
  });

  it("gives up soon where EventBridge does not answer, as a request waits for it", async () => {
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
    const scheduler = awsScheduler({ client, stack: "home", sweepTimers: async () => 0, ensureMs: 50 });
    await expect(scheduler.ensure(["0 9 * * *"])).rejects.toMatchObject({ code: "unavailable" });
  });

  it("makes no rule whose name EventBridge would not take", async () => {
    const { scheduler, commands } = await mocked({}, "s".repeat(43));
    await scheduler.ensure(["0 9 * * *"]);
    await scheduler.reconcile(["0 9 * * *"]);
    expect(commands()).toEqual([]);
    const fits = await mocked({}, "s".repeat(42));
    await fits.scheduler.ensure(["0 9 * * *"]);
    expect([...fits.there.keys()].map(({ length }) => length)).toEqual([64]);
  });
});

describe("telling of all expressions", () => {
  it("takes away the rules of no expression, on every page, and makes those that lack", async () => {
    const { scheduler, there, said, eventbridge } = await mocked(oldRules(90));
    await scheduler.reconcile(["0 9 * * *"]);
    expect([...there.keys()]).toEqual([...said.keys()]);
    expect([...said.values()]).toEqual(["cron(0 9 * * ? *)"]);
    const removals = eventbridge.commandCalls(RemoveTargetsCommand).map(({ args }) => args[0].input);
    expect(removals).toHaveLength(90);
    expect(removals[0]).toEqual({ Rule: "home-schedule-000000000000", Ids: ["queue"] });
  });

  it("gives the room of what it takes away to others", async () => {
    const { scheduler, there } = await mocked(oldRules(SCHEDULE_RULES_MAX));
    await scheduler.reconcile(daily(SCHEDULE_RULES_MAX + 7));
    expect(there.size).toBe(SCHEDULE_RULES_MAX);
    const before = [...there.keys()];
    await scheduler.reconcile(daily(SCHEDULE_RULES_MAX + 7).reverse());
    expect([...there.keys()]).toEqual(before);
  });

  it("leaves the rules of other stacks alone, also of one whose name goes on as ours does", async () => {
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

  it("does not mind a rule that somebody else took away meanwhile", async () => {
    const { scheduler, eventbridge } = await mocked(oldRules(2));
    const gone = serviceError("ResourceNotFoundException");
    eventbridge.on(RemoveTargetsCommand).rejects(gone);
    eventbridge.on(DeleteRuleCommand).rejects(gone);
    await scheduler.reconcile([]);
    expect(eventbridge.commandCalls(DeleteRuleCommand)).toHaveLength(2);
  });
});
