import { once } from "node:events";
import {
  Agent,
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { endpointOf } from "../../lib/platform/aws/client-options.ts";
import { seededRandom } from "../../lib/platform/embedded/random.ts";
import {
  answersTwice,
  type Call,
  type Reply,
  rejection,
  type Side,
  shortenVisibility,
  throttleHalf,
} from "./test-aws-failures.ts";

/** Injected failures; numbers are probabilities from 0 to 1. */
export interface InjectedFailures {
  /** Calls that are throttled, entirely or in part. */
  readonly throttles?: number;
  /** Calls that are carried out and whose connection is closed without a response. */
  readonly lostAnswers?: number;
  /** Messages of standard queues that are delivered a second time. */
  readonly duplicates?: number;
  /** Selects calls that are accepted and never get a response. */
  readonly hangs?: (call: Call) => boolean;
}

export interface AwsProxy extends AsyncDisposable {
  /** Environment variables that route a server's calls through the proxy. */
  readonly environment: Readonly<Record<"AWS_ENDPOINT_URL" | "AWS_ENDPOINT_URL_DYNAMODB", string>>;
  /** Number of injected failures by kind. */
  readonly harm: Readonly<Record<"throttled" | "lost" | "doubled" | "hung", number>>;
  misbehave(misfortunes: InjectedFailures): void;
  /** Closes the connections of a side and refuses new ones. */
  vanish(side: Side): Promise<void>;
  appear(side: Side): Promise<void>;
}

interface Listener {
  readonly url: string;
  vanish(): Promise<void>;
  appear(): Promise<void>;
}

/**
 * Starts two proxies on loopback in front of the services of the environment: one for DynamoDB, one for the others.
 * They shorten visibility timeouts, so that messages held by a lost response or a dead server return within a test;
 * for worker queues no shorter than a step's lease.
 */
export async function startAwsProxy(seed: number): Promise<AwsProxy> {
  const random = seededRandom(seed);
  const harm = { throttled: 0, lost: 0, doubled: 0, hung: 0 };
  const agent = new Agent({ keepAlive: true });
  const redeliver = answersTwice();
  let now: InjectedFailures = {};
  const occurs = (share = 0): boolean => share > 0 && random() < share;

  const answer = async (
    side: Side,
    upstream: string,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
  ): Promise<void> => {
    const body = await bytesOf(incoming);
    const call = callOf(side, incoming, body);
    if (now.hangs?.(call) === true) {
      harm.hung += 1;
      return;
    }
    const forward = async (input = call.input): Promise<Reply> =>
      send(agent, upstream, incoming, input === undefined ? body : Buffer.from(JSON.stringify(input)));
    let reply: Reply;
    if (occurs(now.throttles)) {
      harm.throttled += 1;
      reply = (await throttleHalf(call, forward)) ?? rejection(call);
    } else {
      reply = await forward(shortenVisibility(call));
    }
    const doubled = redeliver(call, reply, () => occurs(now.duplicates));
    if (doubled !== reply) harm.doubled += 1;
    if (occurs(now.lostAnswers)) {
      harm.lost += 1;
      outgoing.destroy();
      return;
    }
    outgoing.writeHead(doubled.status, { ...doubled.headers, "content-length": doubled.body.length });
    outgoing.end(incoming.method === "HEAD" ? undefined : doubled.body);
  };

  const listen = async (side: Side, upstream: string): Promise<Listener> => {
    let server: Server;
    const open = async (port: number): Promise<number> => {
      server = createServer((incoming, outgoing) => {
        answer(side, upstream, incoming, outgoing).catch(() => outgoing.destroy());
      });
      server.keepAliveTimeout = 60_000;
      server.listen(port, "127.0.0.1");
      await once(server, "listening");
      return (server.address() as AddressInfo).port;
    };
    const port = await open(0);
    return {
      url: `http://127.0.0.1:${port}`,
      vanish: async () => {
        const closed = once(server, "close");
        server.close();
        server.closeAllConnections();
        await closed;
      },
      appear: async () => {
        await open(port);
      },
    };
  };
  const sides = {
    tables: await listen("tables", addressOf("DYNAMODB")),
    rest: await listen("rest", addressOf("SQS")),
  };
  const vanished = new Set<Side>();
  return {
    environment: { AWS_ENDPOINT_URL: sides.rest.url, AWS_ENDPOINT_URL_DYNAMODB: sides.tables.url },
    harm,
    misbehave: (misfortunes) => {
      now = misfortunes;
    },
    vanish: async (side) => {
      vanished.add(side);
      await sides[side].vanish();
    },
    appear: async (side) => {
      vanished.delete(side);
      await sides[side].appear();
    },
    [Symbol.asyncDispose]: async () => {
      for (const side of ["tables", "rest"] as const) if (!vanished.has(side)) await sides[side].vanish();
      agent.destroy();
    },
  };
}

function addressOf(service: "DYNAMODB" | "SQS"): string {
  const endpoint = endpointOf(process.env, service);
  if (endpoint === undefined) throw new Error("there is no emulator: run by npm run test:cloud");
  return endpoint;
}

async function bytesOf(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function callOf(side: Side, { headers, method = "" }: IncomingMessage, body: Buffer): Call {
  const target = headers["x-amz-target"];
  if (typeof target !== "string") return { side, operation: method, input: undefined };
  const input = JSON.parse(body.toString() || "{}") as Record<string, unknown>;
  return { side, operation: target.split(".").at(-1) ?? "", input };
}

/** Keeps the `Host` header of the incoming request, because queue URLs contain it. */
function send(agent: Agent, upstream: string, incoming: IncomingMessage, body: Buffer): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const { "transfer-encoding": _chunked, ...headers } = incoming.headers;
  const outgoing = request(
    new URL(incoming.url ?? "/", upstream),
    { agent, method: incoming.method, headers: { ...headers, "content-length": body.length } },
    (response) => {
      bytesOf(response).then((content) => {
        const { "transfer-encoding": _, connection: __, ...kept } = response.headers;
        resolve({ status: response.statusCode ?? 500, headers: kept, body: content });
      }, reject);
    },
  );
  outgoing.on("error", reject);
  outgoing.end(body);
  return promise;
}
