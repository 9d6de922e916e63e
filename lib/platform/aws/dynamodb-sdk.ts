/** What is used of the SDK of DynamoDB, for `import()`: a bundle would contain the whole package if `import()` named it. */
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { type Connection, clientOptions } from "./client-options.ts";

// biome-ignore lint/performance/noBarrelFile: esbuild drops what is not exported here
export {
  BatchGetItemCommand,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";

export const createDynamoDb = (connection: Connection): DynamoDBClient =>
  new DynamoDBClient(clientOptions(connection, "DYNAMODB", 5_000, 128));
