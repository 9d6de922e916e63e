import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import type { S3Client } from "@aws-sdk/client-s3";
import type { SQSClient } from "@aws-sdk/client-sqs";
import type { Environment, RetryLimits } from "./client-options.ts";
import * as dynamodbSdk from "./dynamodb-sdk.ts";
import * as eventbridgeSdk from "./eventbridge-sdk.ts";
import * as s3Sdk from "./s3-sdk.ts";
import type { AwsServices } from "./services.ts";
import * as sqsSdk from "./sqs-sdk.ts";

export interface AwsClients {
  readonly dynamodb: DynamoDBClient;
  readonly sqs: SQSClient;
  readonly eventbridge: EventBridgeClient;
  readonly s3: S3Client;
  /** Aborts pending requests and closes the connections. */
  close(): void;
}

/** The clients of all services, for provisioning and for tests: a platform opens each on its first use. */
export function awsClients(
  environment: Environment,
  region?: string,
  patience: RetryLimits = {},
): AwsClients {
  const connection = { environment, region, patience };
  const dynamodb = dynamodbSdk.createDynamoDb(connection);
  const sqs = sqsSdk.createSqs(connection);
  const eventbridge = eventbridgeSdk.createEventBridge(connection);
  const s3 = s3Sdk.createS3(connection);
  return {
    dynamodb,
    sqs,
    eventbridge,
    s3,
    close: () => {
      for (const client of [dynamodb, sqs, eventbridge, s3]) client.destroy();
    },
  };
}

/** The services with these clients. The caller closes them. */
export function servicesOf({ dynamodb, sqs, eventbridge, s3 }: Omit<AwsClients, "close">): AwsServices {
  return {
    dynamodb: async () => ({ ...dynamodbSdk, client: dynamodb }),
    sqs: async () => ({ ...sqsSdk, client: sqs }),
    eventbridge: async () => ({ ...eventbridgeSdk, client: eventbridge }),
    s3: async () => ({ ...s3Sdk, client: s3 }),
    close: () => undefined,
  };
}
