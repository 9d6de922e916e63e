import { mkdir } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Emulator, startEmulator } from "./child.ts";
import { installDynamoDbLocal, installMoto } from "./install.ts";

export interface Emulators {
  /** Environment variables that point a process at the emulators. */
  readonly environment: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** Required by the SDK; the emulators ignore the values. */
export const EMULATED_ACCOUNT = {
  AWS_REGION: "us-east-1",
  AWS_ACCESS_KEY_ID: "test",
  AWS_SECRET_ACCESS_KEY: "test",
} as const;

/**
 * Starts DynamoDB Local for tables and moto for the other services, both in memory and on the loopback address.
 * Installs them first if needed. Throws if one of them does not start.
 */
export async function startEmulators(root: string): Promise<Emulators> {
  await mkdir(root, { recursive: true });
  const results = await Promise.allSettled([startDynamoDb(root), startMoto(root)]);
  const started = results.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const stop = async (): Promise<void> => {
    await Promise.all(started.map((emulator) => emulator.stop()));
  };
  const [dynamodb, moto] = results;
  if (dynamodb.status === "rejected" || moto.status === "rejected") {
    await stop();
    const reasons: unknown[] = results.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
    throw new AggregateError(reasons, reasons.map(String).join("; "));
  }
  return {
    environment: {
      ...EMULATED_ACCOUNT,
      AWS_ENDPOINT_URL: moto.value.url,
      AWS_ENDPOINT_URL_DYNAMODB: dynamodb.value.url,
    },
    stop,
  };
}

/** Starts DynamoDB Local in memory on the loopback address; installs it first if needed. */
export async function startDynamoDb(root: string): Promise<Emulator> {
  const folder = await installDynamoDbLocal(root);
  const libraries = join(folder, "libraries");
  const classPath = [join(folder, "classes"), join(libraries, "*")].join(delimiter);
  const java = ["-Xmx512m", "-cp", classPath, `-Dsqlite4java.library.path=${libraries}`, "LoopbackDynamoDb"];
  const options = ["-inMemory", "-sharedDb", "-disableTelemetry"];
  return startEmulator("DynamoDB Local", "java", [...java, ...options], folder);
}

async function startMoto(root: string): Promise<Emulator> {
  const folder = await installMoto(root);
  const program = fileURLToPath(new URL("moto/serve.py", import.meta.url));
  return startEmulator("moto", join(folder, "bin/python"), [program], folder);
}
