import { GetParameterCommand, ParameterNotFound, type SSMClient } from "@aws-sdk/client-ssm";
import { faulting } from "./faults.ts";

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
