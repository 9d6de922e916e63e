import { randomUUID } from "node:crypto";
import { DescribeTableCommand } from "@aws-sdk/client-dynamodb";
import { ListRulesCommand, ListTargetsByRuleCommand } from "@aws-sdk/client-eventbridge";
import { ListBucketsCommand } from "@aws-sdk/client-s3";
import { GetQueueAttributesCommand, GetQueueUrlCommand } from "@aws-sdk/client-sqs";
import { afterAll, describe, expect, it } from "vitest";
import { awsClients } from "../aws/clients.ts";
import type { Blueprint } from "../aws/provision/blueprint.ts";
import { provision } from "../aws/provision/provision.ts";

describe("provisioning", () => {
  const clients = awsClients(process.env);
  afterAll(() => clients.close());
  const name = `provision-${randomUUID().slice(0, 8)}`;
  const queue = (suffix: string) => ({ name: `${name}-${suffix}`, fifo: false, contentDeduplication: false });
  const target = (suffix: string) => ({ id: suffix, queue: `${name}-${suffix}` });

  const blueprint: Blueprint = {
    tables: [{ name, indexes: {} }],
    queues: [
      { ...queue("jobs"), visibilitySeconds: 60, deadLetter: { queue: `${name}-dead`, maxReceiveCount: 3 } },
      { ...queue("other"), visibilitySeconds: 60 },
      queue("dead"),
      queue("fire"),
      { ...queue("ordered.fifo"), fifo: true, contentDeduplication: true },
    ],
    buses: [name],
    rules: [
      { name, bus: name, when: { pattern: { source: ["a"] } }, targets: [target("jobs"), target("other")] },
      { name: `${name}-tick`, when: { schedule: "rate(1 minute)" }, targets: [target("jobs")] },
      { name: `${name}-fire`, when: { schedule: "rate(1 minute)" }, targets: [target("fire")] },
    ],
    buckets: [name],
  };
  const attributes = async (suffix: string) => {
    const { QueueUrl } = await clients.sqs.send(new GetQueueUrlCommand({ QueueName: `${name}-${suffix}` }));
    const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] });
    return (await clients.sqs.send(command)).Attributes ?? {};
  };
  const targets = async () => {
    const command = new ListTargetsByRuleCommand({ Rule: name, EventBusName: name });
    return (await clients.eventbridge.send(command)).Targets?.map(({ Id }) => Id);
  };

  it("creates missing resources, and changes nothing the second time", async () => {
    await provision(blueprint, { clients });
    await provision(blueprint, { clients });
    const dead = (await attributes("dead")).QueueArn;
    expect(await attributes("jobs")).toMatchObject({ VisibilityTimeout: "60" });
    expect(JSON.parse((await attributes("jobs")).RedrivePolicy ?? "")).toEqual({
      deadLetterTargetArn: dead,
      maxReceiveCount: 3,
    });
    expect(JSON.parse((await attributes("jobs")).Policy ?? "")).toMatchObject({
      Statement: [{ Principal: { Service: "events.amazonaws.com" }, Action: "sqs:SendMessage" }],
    });
    expect(await attributes("ordered.fifo")).toMatchObject({
      FifoQueue: "true",
      ContentBasedDeduplication: "true",
    });
    expect(await targets()).toEqual(["jobs", "other"]);
    const { Rules } = await clients.eventbridge.send(new ListRulesCommand({ NamePrefix: `${name}-tick` }));
    expect(Rules).toMatchObject([{ ScheduleExpression: "rate(1 minute)", State: "ENABLED" }]);
    const { Buckets } = await clients.s3.send(new ListBucketsCommand({}));
    expect(Buckets?.map(({ Name }) => Name)).toContain(name);
  });

  it("permits rules to send to their queues, and the scheduler's rules to send to the fire queue", async () => {
    const senders = async (suffix: string): Promise<string[]> => {
      const { Statement } = JSON.parse((await attributes(suffix)).Policy ?? "");
      const arns: string[] = Statement[0].Condition.ArnLike["aws:SourceArn"];
      return arns.map((arn) => arn.replace(/^.*:rule\//, ""));
    };
    expect(await senders("jobs")).toEqual([`${name}/${name}`, `${name}-tick`]);
    expect(await senders("fire")).toEqual([`${name}-fire`, `${name}-schedule-*`]);
  });

  it("adds an index to a table, changes a queue's settings, and removes a target", async () => {
    const index = { pk: "status", sk: "at" };
    await provision(
      {
        ...blueprint,
        tables: [{ name, indexes: { byStatus: index } }],
        queues: blueprint.queues.map((one) => (one.deadLetter ? { ...one, visibilitySeconds: 90 } : one)),
        rules: blueprint.rules.map((rule) => ({ ...rule, targets: rule.targets.slice(0, 1) })),
      },
      { clients },
    );
    const { Table } = await clients.dynamodb.send(new DescribeTableCommand({ TableName: name }));
    expect(Table?.GlobalSecondaryIndexes).toMatchObject([{ IndexName: "byStatus", IndexStatus: "ACTIVE" }]);
    expect(await attributes("jobs")).toMatchObject({ VisibilityTimeout: "90" });
    expect(await targets()).toEqual(["jobs"]);
  });

  it("rejects an index whose keys differ from the existing ones", async () => {
    const other = { ...blueprint, tables: [{ name, indexes: { byStatus: { pk: "status", sk: "pk" } } }] };
    await expect(provision(other, { clients })).rejects.toThrow(/byStatus .* has different keys/);
  });

  it("rejects a rule whose queue does not exist", async () => {
    const rules = [{ name, bus: name, when: { pattern: {} }, targets: [target("gone")] }];
    await expect(provision({ ...blueprint, rules }, { clients })).rejects.toThrow(/does not exist/);
  });
});
