/** Requests and look-ups of functions, under the same address policy as http steps. */
import { lookup } from "node:dns/promises";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { RequestFailed } from "../network/failure.ts";
import { type Network, openNetwork } from "../network/network.ts";
import { type HttpAnswer, sendRequest } from "../network/request.ts";
import type { Task } from "./library-types.ts";

const REQUEST_TIMEOUT_MS = 30_000;
const RESPONSE_MAX_BYTES = 10 * 1024 * 1024;
const TRIES = 3;
const RETRY_DELAY_MS = 200;
const HEADERS_MAX = 100;
/** Methods that may be sent again without doing their work twice. */
const REPEATABLE: ReadonlySet<string> = new Set(["GET", "HEAD", "PUT", "DELETE", "OPTIONS"]);

const policy = z.object({
  privateAddresses: z.enum(["allow", "deny"]),
  loopback: z.enum(["as private", "deny"]),
});
const request = z.object({
  url: z.url({ protocol: /^https?$/, error: "the address must be http or https" }),
  method: z.string().regex(/^[A-Z]{1,20}$/, "that is no method"),
  headers: z.record(z.string(), z.string()).refine((headers) => Object.keys(headers).length <= HEADERS_MAX),
  body: z.string().optional(),
  policy,
});

const networks = new Map<string, Network>();

function networkUnder(given: z.infer<typeof policy>): Network {
  const key = JSON.stringify(given);
  const open = networks.get(key) ?? openNetwork(given);
  networks.set(key, open);
  return open;
}

/** Gives the status, headers and text of an answer, or the error where there is none; what may be is tried again. */
export const sendHttp: Task = async (input, signal) => {
  const parsed = request.safeParse(input);
  if (!parsed.success) return { error: parsed.error.issues[0]?.message ?? "that is no request" };
  const { url, method, body } = parsed.data;
  const tries = REPEATABLE.has(method) ? TRIES : 1;
  for (let number = 1; ; number += 1) {
    try {
      const answer = await sendRequest(networkUnder(parsed.data.policy), {
        url: new URL(url),
        method,
        headers: new Headers(parsed.data.headers),
        ...(body === undefined ? {} : { body }),
        timeoutMs: REQUEST_TIMEOUT_MS,
        maxBytes: RESPONSE_MAX_BYTES,
        signal,
      });
      if (answer.status < 500 || number >= tries) return shown(answer);
    } catch (error) {
      if (signal.aborted) throw error;
      const passing = error instanceof RequestFailed && error.passing;
      if (!passing || number >= tries)
        return { error: error instanceof Error ? error.message : String(error) };
    }
    await sleep(RETRY_DELAY_MS * 2 ** (number - 1), undefined, { signal });
  }
};

function shown({ status, headers, body }: HttpAnswer) {
  return { status, headers, body: body.toString("utf8") };
}

/** The first address of a host's name, of IPv4 where it has one. */
export const resolveHost: Task = async (input) => {
  const found = await lookup(z.string().max(253).parse(input), { all: true });
  return (found.find(({ family }) => family === 4) ?? found[0])?.address ?? "";
};
