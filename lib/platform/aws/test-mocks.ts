import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import { S3Client } from "@aws-sdk/client-s3";
import { SQSClient } from "@aws-sdk/client-sqs";
import { mockClient } from "aws-sdk-client-mock";
import { onTestFinished } from "vitest";
import { CONTRACT_RESOURCES } from "../contract/resources.ts";
import { silentLog } from "../embedded/test-platform.ts";
import { servicesOf } from "./clients.ts";
import type { AwsOptions } from "./platform.ts";
import { openAws } from "./platform.ts";

const refuse = (): Promise<never> =>
  Promise.reject(new Error("commands and scripts are not available in this test"));

/** The AWS platform over mocked clients, with its pauses between attempts in milliseconds. */
export async function mockAws(more: Partial<AwsOptions> = {}) {
  const region = "us-east-1";
  const clients = {
    dynamodb: new DynamoDBClient({ region }),
    sqs: new SQSClient({ region }),
    eventbridge: new EventBridgeClient({ region }),
    s3: new S3Client({ region, credentials: { accessKeyId: "none", secretAccessKey: "none" } }),
  };
  const mocks = {
    dynamodb: mockClient(clients.dynamodb),
    sqs: mockClient(clients.sqs),
    eventbridge: mockClient(clients.eventbridge),
    s3: mockClient(clients.s3),
  };
  onTestFinished(() => {
    for (const mock of Object.values(mocks)) mock.restore();
  });
  const pauses: number[] = [];
  const nothing = { run: refuse };
  const platform = await openAws({
    stack: "home",
    resources: CONTRACT_RESOURCES,
    services: servicesOf(clients),
    environment: {},
    log: silentLog,
    commands: nothing,
    scripts: nothing,
    pause: async (ms) => {
      pauses.push(ms);
    },
    ...more,
  });
  return { ...platform, ...mocks, pauses };
}

/** An error as the SDK throws it for a service's error response. */
export function serviceError(name: string, status = 400, message = "from a test"): Error {
  return Object.assign(new Error(message), { name, $metadata: { httpStatusCode: status } });
}
