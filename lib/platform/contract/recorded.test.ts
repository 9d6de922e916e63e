import { readFileSync } from "node:fs";
import type { DynamoDBClient, ServiceOutputTypes } from "@aws-sdk/client-dynamodb";
import { mockClient } from "aws-sdk-client-mock";
import { afterAll, describe, expect, it } from "vitest";
import { awsClients, servicesOf } from "../aws/clients.ts";
import { openAwsForTest } from "./aws-subject.ts";
import { type Exchange, normalize, replayExchange } from "./exchanges.ts";
import { SCENARIOS } from "./scenarios.ts";

const recorded = JSON.parse(readFileSync(new URL("recorded.json", import.meta.url), "utf8")) as Record<
  string,
  { result: unknown; exchanges: Exchange[] }
>;

describe("recorded AWS exchanges", () => {
  const clients = awsClients({ AWS_REGION: "us-east-1" });
  const mocks = [clients.dynamodb, clients.sqs, clients.eventbridge, clients.s3].map((client) =>
    // The four clients differ only in the types of their commands.
    mockClient(client as DynamoDBClient),
  );
  afterAll(() => {
    for (const mock of mocks) mock.restore();
  });

  it.each(Object.entries(SCENARIOS))("match the requests and are parsed: %s", async (name, scenario) => {
    const { result, exchanges = [] } = recorded[name] ?? {};
    const left = [...exchanges];
    for (const mock of mocks) {
      mock.send.callsFake(async (command) => {
        const asked = {
          command: command.constructor.name.replace(/Command$/, ""),
          input: normalize("stack", command.input),
        };
        // Queue URLs are requested when they are first needed, which was in another scenario.
        const at = left.findIndex((exchange) => exchange.command === asked.command);
        const next = asked.command === "GetQueueUrl" ? address(asked.input) : left.splice(at, 1)[0];
        expect(asked).toEqual({ command: next?.command, input: next?.input });
        return replayExchange(next ?? asked) as ServiceOutputTypes;
      });
    }
    const { ports } = await openAwsForTest("stack", { services: servicesOf(clients), environment: {} });
    expect(normalize("stack", await scenario(ports))).toEqual(result);
    expect(left.filter(({ command }) => command !== "GetQueueUrl")).toEqual([]);
  });
});

function address(input: unknown): Exchange {
  const { QueueName } = input as { QueueName: string };
  return { command: "GetQueueUrl", input, output: { QueueUrl: `https://sqs/${QueueName}` } };
}
