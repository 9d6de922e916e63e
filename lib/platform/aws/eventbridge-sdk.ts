/** What is used of the SDK of EventBridge, for `import()`: a bundle would contain the whole package if `import()` named it. */
import { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import { type Connection, clientOptions } from "./client-options.ts";

// biome-ignore lint/performance/noBarrelFile: esbuild drops what is not exported here
export {
  DeleteRuleCommand,
  ListRulesCommand,
  PutEventsCommand,
  PutRuleCommand,
  PutTargetsCommand,
  RemoveTargetsCommand,
} from "@aws-sdk/client-eventbridge";

export const createEventBridge = (connection: Connection): EventBridgeClient =>
  new EventBridgeClient(clientOptions(connection, "EVENTBRIDGE", 10_000, 64));
