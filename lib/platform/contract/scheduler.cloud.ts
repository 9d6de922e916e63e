import { randomUUID } from "node:crypto";
import { ListRulesCommand, ListTargetsByRuleCommand, type Rule } from "@aws-sdk/client-eventbridge";
import { GetQueueAttributesCommand, GetQueueUrlCommand } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { servicesOf } from "../aws/clients.ts";
import { awsScheduler } from "../aws/scheduler.ts";
import { type CloudSubject, openCloudSubject } from "./aws-subject.ts";

describe("rules for the expressions of schedules", () => {
  let subject: CloudSubject;
  beforeAll(async () => {
    subject = await openCloudSubject();
  });
  afterAll(() => subject.close());

  const rulesOf = async (stack: string) => {
    const found: Rule[] = [];
    let NextToken: string | undefined;
    do {
      const asked = { NamePrefix: `${stack}-schedule-`, ...(NextToken === undefined ? {} : { NextToken }) };
      const page = await subject.clients.eventbridge.send(new ListRulesCommand(asked));
      found.push(...(page.Rules ?? []));
      NextToken = page.NextToken;
    } while (NextToken !== undefined);
    return found.map(({ Name = "", ScheduleExpression = "", State }) => ({
      Name,
      ScheduleExpression,
      State,
    }));
  };
  const expressionsOf = async (stack = subject.stack) =>
    (await rulesOf(stack)).map(({ ScheduleExpression }) => ScheduleExpression).sort();

  it("are enabled on the default bus and send to the queue of fires", async () => {
    const { clients, stack, ports } = subject;
    await ports.scheduler.ensure(["0 9 * * *", "15 9 13 * 5"]);
    const rules = await rulesOf(stack);
    expect(rules.map(({ State }) => State)).toEqual(["ENABLED", "ENABLED", "ENABLED"]);
    expect(await expressionsOf()).toEqual(["cron(0 9 * * ? *)", "cron(15 9 13 * ? *)", "cron(15 9 ? * 6 *)"]);
    const { QueueUrl } = await clients.sqs.send(new GetQueueUrlCommand({ QueueName: `${stack}-fire` }));
    const asked = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["QueueArn"] });
    const { QueueArn } = (await clients.sqs.send(asked)).Attributes ?? {};
    for (const { Name } of rules) {
      const listed = await clients.eventbridge.send(new ListTargetsByRuleCommand({ Rule: Name }));
      expect(listed.Targets).toEqual([{ Id: "queue", Arn: QueueArn }]);
    }
  });

  it("are deleted when no schedule has the expression any more, and other rules are not", async () => {
    const { clients, ports } = subject;
    const sweepTimers = async (): Promise<number> => 0;
    // Its rules' names start with the same prefix.
    const stack = `${subject.stack}-schedule`;
    const other = awsScheduler({ eventbridge: servicesOf(clients).eventbridge, stack, sweepTimers });
    await other.ensure(["0 11 * * *"]);
    await ports.scheduler.ensure(["0 9 * * *", "0 10 * * *"]);
    await ports.scheduler.reconcile(["0 10 * * *"]);
    expect(await expressionsOf()).toEqual(["cron(0 10 * * ? *)", "cron(0 11 * * ? *)"]);
    await ports.scheduler.reconcile([]);
    expect(await expressionsOf()).toEqual(["cron(0 11 * * ? *)"]);
    await other.reconcile([]);
    expect(await expressionsOf()).toEqual([]);
  });

  it("are found across several pages of EventBridge", async () => {
    const { clients } = subject;
    const stack = `pages-${randomUUID().slice(0, 8)}`;
    const sweepTimers = async (): Promise<number> => 0;
    const scheduler = awsScheduler({ eventbridge: servicesOf(clients).eventbridge, stack, sweepTimers });
    await scheduler.reconcile(Array.from({ length: 120 }, (_, n) => `${n % 60} ${n % 24} * * *`));
    expect(await rulesOf(stack)).toHaveLength(100);
    await scheduler.reconcile(["0 9 * * *"]);
    expect(await expressionsOf(stack)).toEqual(["cron(0 9 * * ? *)"]);
    await scheduler.reconcile([]);
  });
});
