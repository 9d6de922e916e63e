import { CreateBucketCommand, HeadBucketCommand, type S3Client } from "@aws-sdk/client-s3";
import type { Environment } from "../client-options.ts";
import { type AwsClients, awsClients } from "../clients.ts";
import { withFaults } from "../faults.ts";
import { type Pause, systemPause } from "../retries.ts";
import type { Blueprint } from "./blueprint.ts";
import { provisionQueues } from "./queues.ts";
import { provisionBus, provisionRules } from "./rules.ts";
import { provisionTable } from "./tables.ts";

/** Tables created concurrently: DynamoDB allows up to 50, emulators cope with fewer. */
const TABLES_AT_ONCE = 5;

async function provisionBucket(client: S3Client, Bucket: string): Promise<void> {
  try {
    await withFaults(() => client.send(new HeadBucketCommand({ Bucket })));
    return;
  } catch (error) {
    if (!(error instanceof Error) || (error.name !== "NotFound" && error.name !== "NoSuchBucket"))
      throw error;
  }
  const region = await client.config.region();
  // S3 rejects its first region as a location constraint.
  const location =
    region === "us-east-1"
      ? {}
      : { CreateBucketConfiguration: { LocationConstraint: region as "eu-west-1" } };
  await withFaults(() => client.send(new CreateBucketCommand({ Bucket, ...location })));
}

/**
 * Creates the blueprint's missing resources and updates the settings of existing ones; idempotent. For emulators and
 * tests: on AWS, CloudFormation deploys the template.
 */
export async function provision(
  blueprint: Blueprint,
  options: { readonly clients?: AwsClients; readonly environment?: Environment; readonly pause?: Pause } = {},
): Promise<void> {
  const { pause = systemPause } = options;
  const clients = options.clients ?? awsClients(options.environment ?? process.env);
  try {
    const tables = [...blueprint.tables];
    const makeTables = async (): Promise<void> => {
      for (let table = tables.shift(); table !== undefined; table = tables.shift()) {
        await provisionTable(clients.dynamodb, pause, table);
      }
    };
    const makeMessaging = async (): Promise<void> => {
      const queues = await provisionQueues(clients.sqs, blueprint.queues);
      for (const bus of blueprint.buses) await provisionBus(clients.eventbridge, bus);
      await provisionRules(clients, queues, blueprint.rules);
    };
    await Promise.all([
      ...Array.from({ length: TABLES_AT_ONCE }, makeTables),
      makeMessaging(),
      ...blueprint.buckets.map((bucket) => provisionBucket(clients.s3, bucket)),
    ]);
  } finally {
    if (options.clients === undefined) clients.close();
  }
}
