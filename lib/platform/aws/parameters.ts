import { GetParameterCommand, ParameterNotFound, SSMClient } from "@aws-sdk/client-ssm";
import { clientOptions, type Environment } from "./clients.ts";
import { withFaults } from "./faults.ts";

/** The client of the parameter store, separate from the others because most functions do not need it. */
export function parameterStore(environment: Environment): SSMClient {
  return new SSMClient(clientOptions(environment, "SSM", 5_000, 16));
}

/** The decrypted value of a parameter; undefined if the parameter does not exist. */
export async function findParameter(client: SSMClient, name: string): Promise<string | undefined> {
  try {
    const command = new GetParameterCommand({ Name: name, WithDecryption: true });
    const { Parameter } = await withFaults(() => client.send(command));
    return Parameter?.Value;
  } catch (error) {
    if (error instanceof ParameterNotFound) return undefined;
    throw error;
  }
}

/** The decrypted value of a parameter. Throws Error if the parameter does not exist. */
export async function readParameter(client: SSMClient, name: string): Promise<string> {
  const value = await findParameter(client, name);
  if (value === undefined) throw new Error(`the parameter store has no parameter ${name}`);
  return value;
}
