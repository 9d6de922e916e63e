import * as z from "zod";
import { PlatformFault } from "../faults.ts";
import type { Environment } from "./clients.ts";
import { codeOf } from "./faults.ts";
import { type Credentials, signedHeaders } from "./signature.ts";

const TIMEOUT_MS = 5_000;

const answer = z.object({ Parameter: z.object({ Value: z.string() }) });
const refusal = z.object({ __type: z.string(), message: z.string().default("") });

/**
 * The value of a parameter of the parameter store, decrypted. One request a container is all that is asked of
 * that service, so it is signed here: a client of the SDK would be more code than the function itself. Throws
 * PlatformFault where a later try may succeed.
 */
export async function readParameter(
  name: string,
  environment: Environment = process.env,
  now: () => number = Date.now,
): Promise<string> {
  const region = environment.AWS_REGION || environment.AWS_DEFAULT_REGION || "us-east-1";
  const url = new URL(endpointOf(environment, region));
  const body = JSON.stringify({ Name: name, WithDecryption: true });
  const { host: _host, ...headers } = signedHeaders({
    method: "POST",
    url,
    headers: { "content-type": "application/x-amz-json-1.1", "x-amz-target": "AmazonSSM.GetParameter" },
    body,
    region,
    service: "ssm",
    credentials: credentialsOf(environment),
    at: now(),
  });
  const response = await fetch(url, {
    method: "POST",
    headers,
    body,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((cause: unknown) => {
    throw new PlatformFault("unavailable", "the parameter store", { cause });
  });
  const text = await response.text();
  if (response.ok) return answer.parse(JSON.parse(text)).Parameter.Value;
  throw refused(name, response.status, text);
}

function endpointOf(environment: Environment, region: string): string {
  const domain = region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
  return (
    environment.AWS_ENDPOINT_URL_SSM || environment.AWS_ENDPOINT_URL || `https://ssm.${region}.${domain}`
  );
}

/** Lambda gives a function those of its role in the environment. */
function credentialsOf(environment: Environment): Credentials {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = environment;
  if (!AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY)
    throw new Error("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set");
  return {
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    ...(AWS_SESSION_TOKEN ? { sessionToken: AWS_SESSION_TOKEN } : {}),
  };
}

function refused(name: string, status: number, text: string): Error {
  const parsed = refusal.safeParse(jsonOf(text));
  const type = parsed.data?.__type.split("#").at(-1);
  const detail = `the parameter ${name}: ${type ?? status} ${parsed.data?.message ?? ""}`.trim();
  const code = codeOf(type) ?? (status >= 500 ? "unavailable" : undefined);
  return code === undefined ? new Error(detail) : new PlatformFault(code, detail);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
