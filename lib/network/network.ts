import {
  type AgentOptions,
  Agent as HttpAgent,
  type IncomingMessage,
  request as requestHttp,
} from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import { addAbortSignal, pipeline, type Readable, type Transform } from "node:stream";
import { constants, createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { NetworkPolicy } from "../settings/config.ts";
import { checkHost, guardedLookup, type Resolve } from "./policy.ts";

/** Timeout of an idle connection, milliseconds: less than that of most servers. */
const IDLE_MS = 4_000;
/** Maximum number of idle connections per host. */
const IDLE_SOCKETS = 16;
/**
 * Idempotent methods. Only these use a kept-alive connection, which the server may close at any time: they can be
 * retried.
 */
const REPEATABLE: ReadonlySet<string> = new Set(["GET", "HEAD", "PUT", "DELETE", "OPTIONS"]);
/** Headers that the connection sets; an author's value would contradict them. */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

export interface Exchange {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body?: string | Uint8Array;
  readonly signal: AbortSignal;
}

/** A response whose body is decompressed while it is read. The caller reads it to its end or destroys it. */
export interface OpenResponse {
  readonly status: number;
  /** Names in lower case; values of one name joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable;
}

/** Network access of steps: every connection is subject to the address policy. */
export interface Network {
  readonly policy: NetworkPolicy;
  /**
   * Sends one request without following redirects. Throws AddressDeniedError, and the socket's error if the connection
   * fails or is closed.
   */
  exchange(exchange: Exchange): Promise<OpenResponse>;
}

/**
 * Opens the network under a policy. Connections are reused for the same host; each one was opened to a checked
 * address. `resolve` replaces the system's resolver.
 */
export function openNetwork(policy: NetworkPolicy, resolve?: Resolve): Network {
  const lookup = guardedLookup(policy, resolve);
  let agents: Readonly<Record<"kept" | "own", Agents>> | undefined;
  return {
    policy,
    exchange: async (exchange) => {
      checkHost(exchange.url, policy);
      agents ??= {
        kept: openAgents({ keepAlive: true, timeout: IDLE_MS, maxFreeSockets: IDLE_SOCKETS }),
        own: openAgents({ keepAlive: false }),
      };
      const agent = REPEATABLE.has(exchange.method) ? agents.kept : agents.own;
      const secure = exchange.url.protocol === "https:";
      const message = await send(exchange, (headers) => {
        const { url, method, signal } = exchange;
        const options = { method, headers, signal, lookup };
        if (secure) return requestHttps(url, { ...options, agent: agent.https });
        return requestHttp(url, { ...options, agent: agent.http });
      });
      return {
        status: message.statusCode ?? 0,
        headers: joinedHeaders(message),
        body: exchange.method === "HEAD" ? message : decompressed(message),
      };
    },
  };
}

interface Agents {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
}

function openAgents(options: AgentOptions): Agents {
  return { http: new HttpAgent(options), https: new HttpsAgent(options) };
}

type Start = (headers: Record<string, string>) => ReturnType<typeof requestHttp>;

function send({ headers, body, method, signal }: Exchange, start: Start): Promise<IncomingMessage> {
  const sent: Record<string, string> = {
    accept: "*/*",
    "accept-encoding": "gzip, deflate, br",
    "user-agent": "weft",
  };
  for (const [name, value] of headers) if (!CONNECTION_HEADERS.has(name)) sent[name] = value;
  const bytes = body === undefined ? undefined : Buffer.from(body);
  if (bytes !== undefined || !/^(?:GET|HEAD|OPTIONS|DELETE)$/.test(method))
    sent["content-length"] = String(bytes?.length ?? 0);
  return new Promise((resolve, reject) => {
    const request = start(sent);
    request.once("response", (message) => {
      // Without a length, Node treats any end of the connection as the end of the body.
      request.once("error", (error) => message.destroy(error));
      resolve(addAbortSignal(signal, message));
    });
    request.once("error", reject);
    // Closes the connection if the server switches protocols, which is not supported.
    request.once("upgrade", (_message, socket) => {
      socket.destroy();
      reject(new Error("the server switched to another protocol"));
    });
    request.end(bytes);
  });
}

function joinedHeaders(message: IncomingMessage): Record<string, string> {
  const joined: Record<string, string> = {};
  for (const [name, values] of Object.entries(message.headersDistinct))
    if (values !== undefined) joined[name] = values.join(", ");
  return joined;
}

/**
 * Used if the length or chunks show that the body is complete: as in browsers, truncated compression, or none at all,
 * is not an error.
 */
const LENIENT = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };
const LENIENT_BROTLI = {
  flush: constants.BROTLI_OPERATION_FLUSH,
  finishFlush: constants.BROTLI_OPERATION_FLUSH,
};

const DECODERS: Readonly<Record<string, (lenient: boolean) => Transform>> = {
  gzip: (lenient) => createGunzip(lenient ? LENIENT : {}),
  "x-gzip": (lenient) => createGunzip(lenient ? LENIENT : {}),
  deflate: (lenient) => createInflate(lenient ? LENIENT : {}),
  br: (lenient) => createBrotliDecompress(lenient ? LENIENT_BROTLI : {}),
};

function decompressed(message: IncomingMessage): Readable {
  const { "content-encoding": encoding = "", "content-length": length } = message.headers;
  const lenient = length !== undefined || message.headers["transfer-encoding"] !== undefined;
  const decoder = DECODERS[encoding.trim().toLowerCase()]?.(lenient);
  if (decoder === undefined) return message;
  // The reader of the decoder receives the error.
  return pipeline(message, decoder, () => undefined);
}
