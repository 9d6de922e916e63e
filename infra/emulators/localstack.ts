import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Emulator, startEmulator } from "./child.ts";
import { EMULATED_ACCOUNT, type Emulators, startDynamoDb } from "./emulators.ts";
import { emulatorsFolder, installLocalStack } from "./install.ts";

const PROGRAM = fileURLToPath(new URL("localstack/serve.py", import.meta.url));

/**
 * Starts LocalStack without Docker, in memory and on the loopback address: dynamodb (backed by DynamoDB Local),
 * events, s3 and sqs at one endpoint. Installs it first if needed. Throws if it does not start.
 */
export async function startLocalStack(root: string): Promise<Emulators> {
  await mkdir(root, { recursive: true });
  const folder = await installLocalStack(root);
  const tables = await startDynamoDb(root);
  let services: Emulator;
  try {
    const { port } = new URL(tables.url);
    services = await startEmulator("LocalStack", join(folder, "bin/python"), [PROGRAM, port], folder);
  } catch (error) {
    await tables.stop();
    throw error;
  }
  return {
    environment: { ...EMULATED_ACCOUNT, AWS_ENDPOINT_URL: services.url },
    stop: async () => {
      await services.stop();
      await tables.stop();
    },
  };
}

/** Prints how a server connects, then runs until a signal arrives. */
async function main(): Promise<void> {
  const { environment, stop } = await startLocalStack(emulatorsFolder(process.env));
  // Ctrl-C reaches both emulators too, and npm forwards it a second time.
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => void stop().then(() => process.exit(0)));
  }
  console.log(`AWS_ENDPOINT_URL=${environment.AWS_ENDPOINT_URL} npm run start:localstack`);
}

if (import.meta.main) await main();
