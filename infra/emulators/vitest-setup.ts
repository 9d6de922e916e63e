import { EMULATED_ACCOUNT, type Emulators, startEmulators } from "./emulators.ts";
import { emulatorsFolder } from "./install.ts";

let emulators: Emulators | undefined;

/**
 * Global setup: uses the endpoint in the environment, or starts the emulators and sets `WEFT_EMULATED`, because not
 * all of them support everything that AWS does. The test processes inherit the environment.
 */
export async function setup(): Promise<void> {
  if (process.env.AWS_ENDPOINT_URL) {
    for (const [name, value] of Object.entries(EMULATED_ACCOUNT)) process.env[name] ??= value;
    return;
  }
  emulators = await startEmulators(emulatorsFolder(process.env));
  Object.assign(process.env, emulators.environment, { WEFT_EMULATED: "moto" });
}

export async function teardown(): Promise<void> {
  await emulators?.stop();
}
