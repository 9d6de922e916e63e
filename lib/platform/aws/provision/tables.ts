import {
  type CreateGlobalSecondaryIndexAction,
  CreateTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  ResourceInUseException,
  ResourceNotFoundException,
  type TableDescription,
  UpdateTableCommand,
} from "@aws-sdk/client-dynamodb";
import { PlatformFault } from "../../faults.ts";
import type { IndexSpec } from "../../tables.ts";
import { withFaults } from "../faults.ts";
import type { Pause } from "../retries.ts";
import type { TableBlueprint } from "./blueprint.ts";

/** Attempts; DynamoDB takes minutes to fill an index of a large table. */
const WAIT_TRIES = 600;
const WAIT_MS = 1_000;

const keySchema = ({ pk, sk }: IndexSpec) => [
  { AttributeName: pk, KeyType: "HASH" as const },
  { AttributeName: sk, KeyType: "RANGE" as const },
];

const attributesOf = (keys: readonly IndexSpec[]) =>
  [...new Set(keys.flatMap(({ pk, sk }) => [pk, sk]))].map((AttributeName) => ({
    AttributeName,
    AttributeType: "S" as const,
  }));

const toIndex = (name: string, spec: IndexSpec): CreateGlobalSecondaryIndexAction => ({
  IndexName: name,
  KeySchema: keySchema(spec),
  Projection: { ProjectionType: spec.keysOnly === true ? "KEYS_ONLY" : "ALL" },
});

const ITEM_KEY: IndexSpec = { pk: "pk", sk: "sk" };

async function describe(client: DynamoDBClient, name: string): Promise<TableDescription | undefined> {
  try {
    return (await withFaults(() => client.send(new DescribeTableCommand({ TableName: name })))).Table;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
}

function isReady({ TableStatus, GlobalSecondaryIndexes = [] }: TableDescription): boolean {
  return (
    TableStatus === "ACTIVE" && GlobalSecondaryIndexes.every(({ IndexStatus }) => IndexStatus === "ACTIVE")
  );
}

async function untilReady(client: DynamoDBClient, pause: Pause, name: string): Promise<TableDescription> {
  for (let tries = 0; tries < WAIT_TRIES; tries += 1) {
    const table = await describe(client, name);
    if (table !== undefined && isReady(table)) return table;
    await pause(WAIT_MS);
  }
  throw new PlatformFault("unavailable", `the table ${name} is not ready after ten minutes`);
}

async function create(client: DynamoDBClient, { name, indexes }: TableBlueprint): Promise<void> {
  const specs = Object.entries(indexes);
  const command = new CreateTableCommand({
    TableName: name,
    BillingMode: "PAY_PER_REQUEST",
    AttributeDefinitions: attributesOf([ITEM_KEY, ...Object.values(indexes)]),
    KeySchema: keySchema(ITEM_KEY),
    ...(specs.length === 0
      ? {}
      : { GlobalSecondaryIndexes: specs.map(([index, spec]) => toIndex(index, spec)) }),
  });
  try {
    await withFaults(() => client.send(command));
  } catch (error) {
    // A concurrent call is creating it.
    if (!(error instanceof ResourceInUseException)) throw error;
  }
}

function hasKeys(schema: TableDescription["KeySchema"], { pk, sk }: IndexSpec): boolean {
  const attribute = (type: string) => schema?.find(({ KeyType }) => KeyType === type)?.AttributeName;
  return attribute("HASH") === pk && attribute("RANGE") === sk;
}

/**
 * Creates the table with its indexes, or adds missing indexes, and waits until they are active. Throws if an existing
 * table or index has other keys: this function never deletes data.
 */
export async function provisionTable(
  client: DynamoDBClient,
  pause: Pause,
  blueprint: TableBlueprint,
): Promise<void> {
  const { name, indexes } = blueprint;
  if ((await describe(client, name)) === undefined) await create(client, blueprint);
  let table = await untilReady(client, pause, name);
  if (!hasKeys(table.KeySchema, ITEM_KEY)) throw new Error(`the keys of the table ${name} are not pk and sk`);
  for (const [index, spec] of Object.entries(indexes)) {
    const present = table.GlobalSecondaryIndexes?.find(({ IndexName }) => IndexName === index);
    if (present !== undefined) {
      if (!hasKeys(present.KeySchema, spec))
        throw new Error(`the index ${index} of ${name} has different keys`);
      continue;
    }
    // DynamoDB creates one index at a time.
    const command = new UpdateTableCommand({
      TableName: name,
      AttributeDefinitions: attributesOf([ITEM_KEY, ...Object.values(indexes)]),
      GlobalSecondaryIndexUpdates: [{ Create: toIndex(index, spec) }],
    });
    await withFaults(() => client.send(command));
    table = await untilReady(client, pause, name);
  }
}
