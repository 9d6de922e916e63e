import { openOnce } from "../open-once.ts";
import type { Environment } from "./client-options.ts";
import { withFaults } from "./faults.ts";
import type { Ssm } from "./services.ts";

/** The parameter store, separate from the other services because most functions do not need it. */
export function parameterStore(environment: Environment): Ssm {
  return openOnce(async () => {
    const { createSsm, ...sdk } = await import("./ssm-sdk.ts");
    return { ...sdk, client: createSsm({ environment }) };
  });
}

/** The decrypted value of a parameter; undefined if the parameter does not exist. */
export async function findParameter(ssm: Ssm, name: string): Promise<string | undefined> {
  try {
    const { client, GetParameterCommand } = await ssm();
    const command = new GetParameterCommand({ Name: name, WithDecryption: true });
    const { Parameter } = await withFaults(() => client.send(command));
    return Parameter?.Value;
  } catch (error) {
    if (error instanceof Error && error.name === "ParameterNotFound") return undefined;
    throw error;
  }
}

/** The decrypted value of a parameter. Throws Error if the parameter does not exist. */
export async function readParameter(ssm: Ssm, name: string): Promise<string> {
  const value = await findParameter(ssm, name);
  if (value === undefined) throw new Error(`the parameter store has no parameter ${name}`);
  return value;
}
