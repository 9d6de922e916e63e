import { EMULATED_ACCOUNT, type Emulators, startEmulators } from "./emulators.ts";
import { emulatorsFolder } from "./install.ts";

let emulators: Emulators | undefined;

/**
 * Before the tests: an endpoint that the environment names is used as it is; without one the emulators are
 * started, which `WEFT_EMULATED` tells, as not all of them can do what AWS can. The test processes inherit the
 * environment.
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
