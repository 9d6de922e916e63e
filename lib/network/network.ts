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

/** An idle connection is kept so long, milliseconds: less than most servers keep theirs. */
const IDLE_MS = 4_000;
/** Idle connections kept to one host. */
const IDLE_SOCKETS = 16;
/** Methods that go over a kept connection, which the server may be about to close: they may be sent again. */
const REPEATABLE: ReadonlySet<string> = new Set(["GET", "HEAD", "PUT", "DELETE", "OPTIONS"]);
/** Headers that are the connection's own; one of an author would contradict what is sent. */
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

/** An answer whose body is still to come, decompressed. Whoever has it reads it to its end or destroys it. */
export interface OpenAnswer {
  readonly status: number;
  /** Names in lower case; values of one name joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable;
}

/** The way of steps to the network: every connection is made under the address policy. */
export interface Network {
  readonly policy: NetworkPolicy;
  /**
   * Sends one request and follows no redirect. Throws AddressRefused, and the error of the socket where the
   * connection fails or is cut.
   */
  exchange(exchange: Exchange): Promise<OpenAnswer>;
}

/**
 * Opens the network under a policy. Connections are kept for the next request to the same host, each made
 * to an address that was checked. `resolve` stands for the machine's own resolver.
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
      // Without a length, Node takes the end of the connection for the end of the body, however it came.
      request.once("error", (error) => message.destroy(error));
      resolve(addAbortSignal(signal, message));
    });
    request.once("error", reject);
    // A server that asks to switch protocols is cut off: nobody here would speak the other one.
    request.once("upgrade", (_message, socket) => {
      socket.destroy();
      reject(new Error("the server switches to another protocol"));
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
 * For a body whose length or chunks tell that all of it came: as in browsers, compression without its last bytes, or
 * no compression at all, is no error.
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
  // Whoever reads the decoder learns of the error there.
  return pipeline(message, decoder, () => undefined);
}
