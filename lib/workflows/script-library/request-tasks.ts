/** Requests and DNS lookups of functions, under the same address policy as http steps. */
import { lookup } from "node:dns/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { RequestError } from "../../network/errors.ts";
import { type Network, openNetwork } from "../../network/network.ts";
import { type HttpResult, sendRequest } from "../../network/request.ts";
import type { NetworkPolicy } from "../../settings/config.ts";
import { HTTP_METHOD } from "../schema/limits.ts";
import { isRecord, textOf } from "./argument-values.ts";
import type { Task } from "./library-types.ts";

const REQUEST_TIMEOUT_MS = 30_000;
const RESPONSE_MAX_BYTES = 10 * 1024 * 1024;
const TRIES = 3;
const RETRY_DELAY_MS = 200;
const HEADERS_MAX = 100;
/** Idempotent methods, whose requests may be retried. */
const REPEATABLE: ReadonlySet<string> = new Set(["GET", "HEAD", "PUT", "DELETE", "OPTIONS"]);

interface Asked {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body?: string;
  readonly policy: NetworkPolicy;
}

/** Throws if the input is invalid. */
function toAsked(input: unknown): Asked {
  const { url, method, headers, body, policy } = isRecord(input) ? input : {};
  const address = URL.parse(textOf(url));
  if (address === null || !/^https?:$/.test(address.protocol))
    throw new Error("the address must be http or https");
  const verb = textOf(method);
  if (!HTTP_METHOD.test(verb)) throw new Error("the method is not valid");
  const given = Object.entries(isRecord(headers) ? headers : {});
  if (given.length > HEADERS_MAX) throw new Error(`more than ${HEADERS_MAX} headers`);
  const sent = new Headers(given.map(([name, value]): [string, string] => [name, textOf(value)]));
  const text = typeof body === "string" ? { body } : {};
  return { url: address, method: verb, headers: sent, ...text, policy: toPolicy(policy) };
}

/** Unknown policies exclude private addresses. */
function toPolicy(given: unknown): NetworkPolicy {
  const { privateAddresses, loopback } = isRecord(given) ? given : {};
  return {
    privateAddresses: privateAddresses === "allow" ? "allow" : "deny",
    loopback: loopback === "as private" ? "as private" : "deny",
  };
}

const networks = new Map<string, Network>();

function networkUnder(given: NetworkPolicy): Network {
  const key = JSON.stringify(given);
  const open = networks.get(key) ?? openNetwork(given);
  networks.set(key, open);
  return open;
}

/** Returns the status, headers and text of the response, or the error; retries if the method allows it. */
export const sendHttp: Task = async (input, signal) => {
  let asked: Asked;
  try {
    asked = toAsked(input);
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
  const { url, method, headers, body, policy } = asked;
  const tries = REPEATABLE.has(method) ? TRIES : 1;
  for (let number = 1; ; number += 1) {
    try {
      const answer = await sendRequest(networkUnder(policy), {
        url,
        method,
        headers,
        ...(body === undefined ? {} : { body }),
        timeoutMs: REQUEST_TIMEOUT_MS,
        maxBytes: RESPONSE_MAX_BYTES,
        signal,
      });
      if (answer.status < 500 || number >= tries) return shown(answer);
    } catch (error) {
      if (signal.aborted) throw error;
      const passing = error instanceof RequestError && error.passing;
      if (!passing || number >= tries)
        return { error: error instanceof Error ? error.message : String(error) };
    }
    await sleep(RETRY_DELAY_MS * 2 ** (number - 1), undefined, { signal });
  }
};

function shown({ status, headers, body }: HttpResult) {
  return { status, headers, body: body.toString("utf8") };
}

/** The first address of a host name, preferring IPv4. */
export const resolveHost: Task = async (input) => {
  const found = await lookup(textOf(input), { all: true });
  return (found.find(({ family }) => family === 4) ?? found[0])?.address ?? "";
};
