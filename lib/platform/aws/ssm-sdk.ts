/** What is used of the SDK of Parameter Store, for `import()`: a bundle would contain the whole package if `import()` named it. */
import { SSMClient } from "@aws-sdk/client-ssm";
import { type Connection, clientOptions } from "./client-options.ts";

// biome-ignore lint/performance/noBarrelFile: esbuild drops what is not exported here
export { GetParameterCommand } from "@aws-sdk/client-ssm";

export const createSsm = (connection: Connection): SSMClient =>
  new SSMClient(clientOptions(connection, "SSM", 5_000, 16));
