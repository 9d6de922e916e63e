import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import type { S3Client } from "@aws-sdk/client-s3";
import type { SQSClient } from "@aws-sdk/client-sqs";
import type { SSMClient } from "@aws-sdk/client-ssm";
import { openOnce } from "../open-once.ts";
import type { Connection } from "./client-options.ts";

/** A service's client with the used part of its SDK. Each is loaded and created on its first use. */
export type Service<Client, Sdk> = () => Promise<Sdk & { readonly client: Client }>;
export type DynamoDb = Service<DynamoDBClient, Omit<typeof import("./dynamodb-sdk.ts"), "createDynamoDb">>;
export type S3 = Service<S3Client, Omit<typeof import("./s3-sdk.ts"), "createS3">>;
export type Sqs = Service<SQSClient, Omit<typeof import("./sqs-sdk.ts"), "createSqs">>;
export type EventBridge = Service<
  EventBridgeClient,
  Omit<typeof import("./eventbridge-sdk.ts"), "createEventBridge">
>;
export type Ssm = Service<SSMClient, Omit<typeof import("./ssm-sdk.ts"), "createSsm">>;

export interface AwsServices {
  readonly dynamodb: DynamoDb;
  readonly sqs: Sqs;
  readonly eventbridge: EventBridge;
  readonly s3: S3;
  /** Aborts pending requests and closes the connections. */
  close(): void;
}

/** AWS's services, each with one client for all callers. */
export function awsServices(connection: Connection): AwsServices {
  const opened: { destroy(): void }[] = [];
  const keep = <Client extends { destroy(): void }>(client: Client): Client => {
    opened.push(client);
    return client;
  };
  return {
    dynamodb: openOnce(async () => {
      const { createDynamoDb, ...sdk } = await import("./dynamodb-sdk.ts");
      return { ...sdk, client: keep(createDynamoDb(connection)) };
    }),
    sqs: openOnce(async () => {
      const { createSqs, ...sdk } = await import("./sqs-sdk.ts");
      return { ...sdk, client: keep(createSqs(connection)) };
    }),
    eventbridge: openOnce(async () => {
      const { createEventBridge, ...sdk } = await import("./eventbridge-sdk.ts");
      return { ...sdk, client: keep(createEventBridge(connection)) };
    }),
    s3: openOnce(async () => {
      const { createS3, ...sdk } = await import("./s3-sdk.ts");
      return { ...sdk, client: keep(createS3(connection)) };
    }),
    close: () => {
      for (const client of opened) client.destroy();
    },
  };
}
