import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { CONVERSION_SECONDS } from "../conversions.ts";
import { clientOptions, type Environment } from "./clients.ts";
import type { Invoke } from "./converter.ts";
import { withFaults } from "./faults.ts";

const ATTEMPTS = 2;
const MORE_MS = 5_000;
const SOCKETS = 16;

/**
 * Invokes a Lambda function synchronously. Loaded only for conversions, because nothing else needs the Lambda client.
 */
export function lambdaInvoke(environment: Environment, name: string): Invoke {
  const patience = { attempts: ATTEMPTS };
  const timeoutMs = CONVERSION_SECONDS * 1000 + MORE_MS;
  const client = new LambdaClient(clientOptions(environment, "LAMBDA", timeoutMs, SOCKETS, { patience }));
  return async (payload) => {
    const command = new InvokeCommand({ FunctionName: name, Payload: Buffer.from(payload) });
    const { FunctionError, Payload } = await withFaults(() => client.send(command));
    const answer = Buffer.from(Payload ?? []).toString();
    return FunctionError === undefined ? { answer } : { failed: answer };
  };
}
