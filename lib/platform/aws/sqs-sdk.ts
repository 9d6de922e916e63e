/** What is used of the SDK of SQS, for `import()`: a bundle would contain the whole package if `import()` named it. */
import { SQSClient } from "@aws-sdk/client-sqs";
import { type Connection, clientOptions } from "./client-options.ts";

// biome-ignore lint/performance/noBarrelFile: esbuild drops what is not exported here
export {
  ChangeMessageVisibilityCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
} from "@aws-sdk/client-sqs";

export const createSqs = (connection: Connection): SQSClient =>
  // Every poller occupies a connection while it waits.
  new SQSClient(clientOptions(connection, "SQS", 10_000, 1024));
