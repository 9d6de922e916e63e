import { GetParameterCommand, ParameterNotFound, SSMClient } from "@aws-sdk/client-ssm";
import { clientOptions, type Environment } from "./clients.ts";
import { faulting } from "./faults.ts";

/** The client of the parameter store, apart from the others: most functions read nothing there. */
export function parameterStore(environment: Environment): SSMClient {
  return new SSMClient(clientOptions(environment, "SSM", 5_000, 16));
}

/** The value of a parameter of the parameter store, decrypted; undefined where there is none of that name. */
export async function findParameter(client: SSMClient, name: string): Promise<string | undefined> {
  try {
    const command = new GetParameterCommand({ Name: name, WithDecryption: true });
    const { Parameter } = await faulting(() => client.send(command));
    return Parameter?.Value;
  } catch (error) {
    if (error instanceof ParameterNotFound) return undefined;
    throw error;
  }
}

/** The same of a parameter that has to be there. Throws Error where it is not. */
export async function readParameter(client: SSMClient, name: string): Promise<string> {
  const value = await findParameter(client, name);
  if (value === undefined) throw new Error(`the parameter store has no parameter ${name}`);
  return value;
}
