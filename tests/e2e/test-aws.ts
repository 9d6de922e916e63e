import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { DeleteItemCommand, DynamoDBClient, GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import {
  EventBridgeClient,
  ListRulesCommand,
  ListTargetsByRuleCommand,
  PutTargetsCommand,
  RemoveTargetsCommand,
} from "@aws-sdk/client-eventbridge";
import { GetQueueUrlCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { startTestServer, type TestServer } from "../../lib/testing/test-server.ts";

export const WEFT = fileURLToPath(new URL("../../bin/weft.js", import.meta.url));

/** Returns a unique stack name. */
export const newStack = (): string => `weft-${randomUUID().slice(0, 8)}`;

/** Runs `weft start --localstack` on a stack; the server creates missing resources. */
export function startAwsServer(
  stack: string,
  dataDir?: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<TestServer> {
  return startTestServer({
    program: [process.execPath, WEFT, "start", "--localstack"],
    env: { ...settings, WEFT_STACK: stack },
    ...(dataDir === undefined ? {} : { dataDir }),
  });
}

/** Settings of an AWS client for the endpoint in the environment. */
function settings(service: "DYNAMODB" | "EVENTBRIDGE" | "SQS") {
  const endpoint = process.env[`AWS_ENDPOINT_URL_${service}`] ?? process.env["AWS_ENDPOINT_URL"] ?? "";
  return { endpoint, region: process.env["AWS_REGION"] ?? "us-east-1" };
}

/** Sends a message to a queue without any validation. */
export async function sendRaw(queue: string, body: string): Promise<void> {
  const sqs = new SQSClient(settings("SQS"));
  const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName: queue }));
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: body }));
}

/** Deletes an item of a table without the server. Returns a function that restores it. */
export async function deleteItem(table: string, pk: string, sk: string): Promise<() => Promise<void>> {
  const dynamodb = new DynamoDBClient(settings("DYNAMODB"));
  const at = { TableName: table, Key: { pk: { S: pk }, sk: { S: sk } } };
  const { Item } = await dynamodb.send(new GetItemCommand(at));
  if (Item === undefined) throw new Error(`${table} has no item ${pk} ${sk}`);
  await dynamodb.send(new DeleteItemCommand(at));
  return async () => {
    await dynamodb.send(new PutItemCommand({ TableName: table, Item }));
  };
}

/** Names of the scheduled rules with the given prefix. */
export async function scheduledRules(prefix: string): Promise<string[]> {
  const events = new EventBridgeClient(settings("EVENTBRIDGE"));
  const { Rules = [] } = await events.send(new ListRulesCommand({ NamePrefix: prefix }));
  return Rules.flatMap(({ Name, ScheduleExpression }) =>
    Name === undefined || ScheduleExpression === undefined ? [] : [Name],
  );
}

/** Removes the targets of a scheduled rule. Returns a function that restores them. */
export async function silenceLog(rule: string): Promise<() => Promise<void>> {
  const events = new EventBridgeClient(settings("EVENTBRIDGE"));
  const { Targets = [] } = await events.send(new ListTargetsByRuleCommand({ Rule: rule }));
  const Ids = Targets.map(({ Id = "" }) => Id);
  if (Ids.length === 0) throw new Error(`${rule} has no targets`);
  await events.send(new RemoveTargetsCommand({ Rule: rule, Ids }));
  return async () => {
    await events.send(new PutTargetsCommand({ Rule: rule, Targets }));
  };
}
