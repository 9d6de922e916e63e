import { PlatformFault } from "../faults.ts";
import { type Environment, endpointOf } from "./client-options.ts";
import { toFault } from "./faults.ts";
import type { Invoke } from "./isolated-function.ts";
import type { Pause } from "./retries.ts";
import type { S3 } from "./services.ts";

/** Before the second attempt. */
const PAUSE_MS = 200;
/** In addition to the function's timeout, milliseconds. */
const MORE_MS = 5_000;

export interface LambdaFunction {
  readonly environment: Environment;
  /** For its region and credentials, which are the same for all services. The caller uses S3 anyway. */
  readonly s3: S3;
  readonly name: string;
  /** Timeout of the function. */
  readonly timeoutSeconds: number;
  readonly pause: Pause;
}

/**
 * Invokes a Lambda function synchronously, with a signed request: the SDK's client of Lambda would be a fifth of each
 * bundle. A request that fails in the service is repeated once. Choice: infra/decisions/0130.
 */
export function lambdaInvoke({ environment, s3, name, timeoutSeconds, pause }: LambdaFunction): Invoke {
  const send = async (body: string): Promise<Response> => {
    const { client, SignatureV4 } = await s3();
    const { region, credentials, sha256 } = client.config;
    const signer = new SignatureV4({ service: "lambda", region, credentials, sha256 });
    const endpoint = endpointOf(environment, "LAMBDA") ?? publicEndpoint(await region());
    const { protocol, host, hostname, port, pathname, href } = new URL(
      `/2015-03-31/functions/${name}/invocations`,
      endpoint,
    );
    const { headers } = await signer.sign({
      method: "POST",
      protocol,
      hostname,
      ...(port === "" ? {} : { port: Number(port) }),
      path: pathname,
      query: {},
      headers: { host, "content-type": "application/json" },
      body,
    });
    const signal = AbortSignal.timeout(timeoutSeconds * 1000 + MORE_MS);
    return fetch(href, { method: "POST", headers, body, signal });
  };

  const attempt: Invoke = async (payload) => {
    try {
      const response = await send(payload);
      const answer = await response.text();
      if (response.ok) return response.headers.has("x-amz-function-error") ? { failed: answer } : { answer };
      throw Object.assign(new Error(`Lambda responded ${response.status}: ${answer.slice(0, 500)}`), {
        $metadata: { httpStatusCode: response.status },
      });
    } catch (error) {
      // The cause of a failed fetch is the error of the network.
      throw toFault(error instanceof TypeError ? (error.cause ?? error) : error);
    }
  };

  return async (payload) => {
    try {
      return await attempt(payload);
    } catch (error) {
      if (!(error instanceof PlatformFault)) throw error;
      await pause(PAUSE_MS * (1 + Math.random()));
      return attempt(payload);
    }
  };
}

function publicEndpoint(region: string): string {
  return `https://lambda.${region}.amazonaws.com${region.startsWith("cn-") ? ".cn" : ""}`;
}
