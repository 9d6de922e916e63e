import { EMULATED_ACCOUNT, type Emulators } from "./emulators.ts";
import { emulatorsFolder } from "./install.ts";
import { startLocalStack } from "./localstack.ts";

let localStack: Emulators | undefined;

/** Global setup: uses the endpoint in the environment, or starts LocalStack. */
export async function setup(): Promise<void> {
  if (process.env.AWS_ENDPOINT_URL) {
    for (const [name, value] of Object.entries(EMULATED_ACCOUNT)) process.env[name] ??= value;
  } else {
    localStack = await startLocalStack(emulatorsFolder(process.env));
    Object.assign(process.env, localStack.environment);
  }
  const health = await fetch(`${process.env.AWS_ENDPOINT_URL}/_localstack/health`);
  const { version } = (await health.json()) as { version: string };
  console.log(`LocalStack ${version} at ${process.env.AWS_ENDPOINT_URL}`);
}

export async function teardown(): Promise<void> {
  await localStack?.stop();
}
