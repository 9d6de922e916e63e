import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { ProxyResult } from "../lib/http/handler.ts";
import { BODY_LIMIT_BYTES } from "../lib/http/route.ts";
import type { UploadReceiver } from "../lib/platform/blobs.ts";
import { exceedsLimitAsJson, recordValue } from "../lib/platform/high-water-marks.ts";
import { LIMITS } from "../lib/platform/limits.ts";
import type { Log } from "../lib/platform/log.ts";
import { BodyBudget, type BodyReservation, TooManyBodiesError } from "./body-budget.ts";
import { type BodyFile, isSmall, openBodyFolder, storeBody } from "./body-file.ts";
import { type BodyStream, openBodyStream } from "./body-stream.ts";
import { type ConnectionLimits, Connections } from "./connections.ts";
import { checkTimeouts, type Functions, InvocationTimeout } from "./functions.ts";
import { type AllowedHosts, hostCheck } from "./hosts.ts";
import { proxyEvent, type RestProxyEvent, setBody } from "./proxy-event.ts";
import {
  BodyTooLargeError,
  ClientDisconnectedError,
  concatChunks,
  contentLength,
  hasBody,
  readBody,
} from "./request-body.ts";
import { parseTarget, type RequestTarget } from "./request-target.ts";
import {
  errorBody,
  OutgoingStream,
  type PageServer,
  writeError,
  writeParserError,
  writeRefusal,
  writeResult,
  writeToSocket,
  writeUnread,
} from "./response.ts";
import { type Bindings, literalRoutes, router } from "./router.ts";
import { type GatewayRoute, gatewayRoutes } from "./routes.ts";
import type { TemplateFunction } from "./template.ts";
import { type UpgradeHandler, Upgrades } from "./upgrades.ts";
import { isUpload, receiveUpload } from "./uploads.ts";

/** Time for a client to send its headers, its whole request, and the next request of its connection. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 60_000;
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
/** How often these timeouts are checked, milliseconds. */
const CONNECTIONS_CHECK_MS = 2_000;
const CONNECTIONS_MAX = 5_000;

const MIB = 1024 * 1024;
/** Limits of the bytes of all request bodies together: in memory and in files, of callers with and without a token. */
const BODY_BYTES = {
  memory: 64 * MIB,
  memoryAnonymous: 16 * MIB,
  files: 512 * MIB,
  filesAnonymous: 64 * MIB,
};
/** A request that is refused keeps its connection if its body is at most this long, bytes. */
const UNREAD_MAX_BYTES = 64 * 1024;

/** How often idle connections are closed while the gateway stops, milliseconds. */
const CLOSE_CHECK_MS = 50;

export type RequestHandler = (incoming: IncomingMessage, target: RequestTarget) => Promise<ProxyResult>;

export interface GatewayOptions {
  readonly functions: readonly TemplateFunction[];
  readonly invoke: Functions;
  readonly log: Log;
  /** Resolves when the writes of functions are on disk: only then is a change acknowledged. */
  readonly durable?: () => Promise<void>;
  /** Receives uploads of blobs. */
  readonly uploads?: UploadReceiver;
  /** Handlers of WebSocket connections by their path; without any, `Upgrade` headers are ignored. */
  readonly upgrades?: ReadonlyMap<string, UpgradeHandler>;
  /** Handlers of requests that no function has, by the beginning of their path. Bodies are not read. */
  readonly requests?: ReadonlyMap<string, RequestHandler>;
  /** Serves pages at paths that no function has, and that belong to no service. */
  readonly pages?: PageServer;
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** Further hosts that requests may be addressed to, besides loopback names and `host`. */
  readonly hosts?: Pick<AllowedHosts, "publicUrl" | "allowedHosts">;
  /** The folder for large bodies, which the gateway empties when it starts; without it they are read into memory. */
  readonly bodiesDir?: string;
  /** Replaces the time limits of sending a request, milliseconds. */
  readonly clientTimeoutMs?: number;
  /** Replaces the limits of memory and connections that clients use. */
  readonly limits?: ConnectionLimits & {
    readonly bodyBytes?: Partial<typeof BODY_BYTES>;
    readonly upgradedMax?: number;
  };
}

export interface Gateway {
  readonly port: number;
  /** `http://HOST:PORT` */
  readonly url: string;
  /** Stops accepting connections, waits up to `boundMs` for requests in progress, then closes their connections. */
  close(boundMs: number): Promise<void>;
}

/**
 * Starts the HTTP server that invokes the template's functions. Rejects with Node's error if the port is not available,
 * with `limit_exceeded` for a function whose timeout AWS would not allow.
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  checkTimeouts(options.functions);
  const { bodiesDir, host } = options;
  if (bodiesDir !== undefined) await openBodyFolder(bodiesDir);
  const budgets = openBudgets(options.limits?.bodyBytes);
  const wrongHost = hostCheck({ publicUrl: undefined, allowedHosts: [], ...options.hosts, host });
  const state = { closing: false };
  const requests = [...(options.requests ?? [])];
  const routes = gatewayRoutes(options.functions);
  const literal = literalRoutes(routes);
  const handleRoute = (
    route: GatewayRoute,
    { target, incoming, outgoing }: Pick<Bindings, "target" | "incoming" | "outgoing">,
  ): void => {
    respond(route, target, incoming, outgoing).catch((error: unknown) => {
      options.log.error("response failed", { function: route.fn.logicalId, error });
      outgoing.destroy();
    });
  };
  const app = router(routes, options.pages, handleRoute);

  const respond = async (
    route: GatewayRoute,
    target: RequestTarget,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
  ): Promise<void> => {
    const requestId = randomUUID();
    const event = proxyEvent(route, target, incoming, requestId);
    let file: BodyFile | undefined;
    let body: BodyStream | undefined;
    let reservation: BodyReservation | undefined;
    try {
      if (hasBody(incoming)) {
        const authentication = await options.invoke.authenticate(route.fn, event, requestId);
        if (authentication.refusal !== undefined) {
          if (isUnreadable(incoming)) writeUnread(incoming, outgoing, authentication.refusal);
          else writeResult(outgoing, authentication.refusal, state.closing, connections);
          return;
        }
        const limit = limitOf(route.fn);
        if ((contentLength(incoming) ?? 0) > limit) throw new BodyTooLargeError(limit);
        const inFile = route.fn.largeBody === true && bodiesDir !== undefined && !isSmall(incoming);
        const { isAuthenticated } = authentication;
        reservation = (isAuthenticated ? budgets : budgets.anonymous)[inFile ? "files" : "memory"].open();
        // An anonymous client that sends slowly must not keep others waiting.
        const granted = isAuthenticated ? reservation.wait(contentLength(incoming) ?? 0) : undefined;
        if (granted !== undefined) await granted;
        if (inFile && route.fn.streamedBody === true && contentLength(incoming) !== undefined) {
          body = openBodyStream(incoming, outgoing, reservation);
          setBody(event, undefined, { bodyStream: body });
        } else {
          if (inFile) file = await storeBody(incoming, outgoing, limit, reservation, bodiesDir);
          const parts = file === undefined ? await readBody(incoming, outgoing, limit, reservation) : [];
          addBody(route, event, file ?? parts);
        }
      }
      let stream: OutgoingStream | undefined;
      const invocation = options.invoke.start(route.fn, event, {
        requestId,
        received: body?.received,
        stream: () => {
          outgoing.once("close", () => invocation.abort(new ClientDisconnectedError()));
          stream = new OutgoingStream(outgoing, () => state.closing, connections);
          return stream;
        },
      });
      const result = await invocation.result;
      if (body?.failure() !== undefined) throw body.failure();
      if (isChange(incoming)) await options.durable?.();
      if (body !== undefined && !incoming.readableEnded)
        writeUnread(incoming, outgoing, result as ProxyResult);
      else if (stream === undefined) writeResult(outgoing, result, state.closing, connections);
      else if (!outgoing.headersSent) throw new TypeError("The function ended without a response");
      else outgoing.end();
    } catch (thrown) {
      writeFailure(thrown, {
        route,
        requestId,
        incoming,
        outgoing,
        closing: state.closing,
        log: options.log,
      });
    } finally {
      reservation?.release();
      if (file !== undefined) await file.remove();
    }
  };

  const fetch = (request: Request, bindings: unknown): Response | Promise<Response> => {
    const { incoming, outgoing } = bindings as HttpBindings;
    const target = parseTarget(incoming.url ?? "/");
    if (target === undefined) return badRequest();
    if (options.uploads !== undefined && isUpload(incoming, target)) {
      const { uploads: receiver, log } = options;
      const reservation = budgets.files.open();
      const { closing } = state;
      receiveUpload({ receiver, path: target.routePath, incoming, outgoing, closing, reservation })
        .catch((error: unknown) => {
          log.error("an upload failed", { error });
          if (outgoing.destroyed) return;
          writeError(outgoing, 500, "Internal server error", { close: state.closing });
        })
        .finally(() => reservation.release());
      return RESPONSE_ALREADY_SENT;
    }
    const own = requests.find(([start]) => target.path.startsWith(start))?.[1];
    if (own !== undefined) {
      own(incoming, target)
        .then((result) => {
          if (hasBody(incoming)) writeUnread(incoming, outgoing, result);
          else writeResult(outgoing, result, state.closing, connections);
        })
        .catch((error: unknown) => {
          options.log.error("request failed", { path: target.path, error });
          writeError(outgoing, 500, "Internal server error", { close: state.closing, path: target.path });
        });
      return RESPONSE_ALREADY_SENT;
    }
    const route = literal.get(`${incoming.method} ${target.routePath}`);
    if (route === undefined) return app.fetch(request, { incoming, outgoing, target } satisfies Bindings);
    handleRoute(route, { target, incoming, outgoing });
    return RESPONSE_ALREADY_SENT;
  };
  const listener = getRequestListener(fetch as Parameters<typeof getRequestListener>[0], {
    hostname: "localhost",
    overrideGlobalObjects: false,
    autoCleanupIncoming: false,
    errorHandler: badRequest,
  });
  const server = createServer(
    {
      headersTimeout: options.clientTimeoutMs ?? HEADERS_TIMEOUT_MS,
      requestTimeout: options.clientTimeoutMs ?? REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      connectionsCheckingInterval: Math.min(CONNECTIONS_CHECK_MS, options.clientTimeoutMs ?? Infinity),
      // `hostCheck` refuses it, so that the response has the format of the service.
      requireHostHeader: false,
      shouldUpgradeCallback: (incoming): boolean => upgrades.isUpgrade(incoming),
    },
    (incoming, outgoing) => handle(incoming, outgoing),
  );
  const connections = new Connections(server, options.limits);
  const upgrades = new Upgrades({
    handlers: options.upgrades ?? new Map(),
    checkHost: wrongHost,
    connections,
    onError: (error) => options.log.error("an upgraded connection failed", { error }),
    upgradedMax: options.limits?.upgradedMax,
  });
  upgrades.listen(server);
  const handle = (incoming: IncomingMessage, outgoing: ServerResponse): void =>
    connections.handle(incoming, outgoing, () => {
      const message = wrongHost(incoming);
      if (message === undefined) void listener(incoming, outgoing);
      else writeRefusal(incoming, outgoing, 400, message, parseTarget(incoming.url ?? "/")?.path);
    });
  server.maxConnections = CONNECTIONS_MAX;
  // A body that is refused by its declared length gets no `100 Continue`.
  server.on("checkContinue", handle);
  server.on("clientError", (error, socket) =>
    writeParserError(error, socket, connections.isResponding(socket)),
  );
  // Without a listener, Node closes the connection without a response.
  server.on("connect", (_incoming, socket) => {
    socket.on("error", () => {});
    writeToSocket(socket, 405, "CONNECT is not supported: this server is not a proxy");
  });
  const port = await listen(server, options.port, options.host);
  // Without a listener, running out of file descriptors would end the process.
  server.on("error", (error) => options.log.error("rejected a connection", { error }));
  return {
    port,
    url: `http://${options.host.includes(":") ? `[${options.host}]` : options.host}:${port}`,
    close: async (boundMs) => {
      state.closing = true;
      await Promise.all([closeServer(server, boundMs), upgrades.close(boundMs)]);
    },
  };
}

/** Lambda's payload limit does not apply to large bodies, which functions read from a file or in chunks. */
function limitOf({ bodyLimitBytes = BODY_LIMIT_BYTES, largeBody }: TemplateFunction): number {
  return largeBody === true ? bodyLimitBytes : Math.min(bodyLimitBytes, LIMITS.requestBytes.value);
}

const isChange = ({ method }: IncomingMessage): boolean => method !== "GET" && method !== "HEAD";

function openBudgets(limits: Partial<typeof BODY_BYTES> = {}) {
  const { memory, memoryAnonymous, files, filesAnonymous } = { ...BODY_BYTES, ...limits };
  return {
    memory: new BodyBudget(memory),
    files: new BodyBudget(files),
    anonymous: { memory: new BodyBudget(memoryAnonymous), files: new BodyBudget(filesAnonymous) },
  };
}

/** Whether the unread body is too long to receive it only in order to keep the connection. */
function isUnreadable(incoming: IncomingMessage): boolean {
  return incoming.headers.expect !== undefined || (contentLength(incoming) ?? Infinity) > UNREAD_MAX_BYTES;
}

/** Throws BodyTooLargeError for a body above the payload limit. */
function addBody({ fn }: GatewayRoute, event: RestProxyEvent, received: BodyFile | readonly Buffer[]): void {
  if ("path" in received || fn.largeBody === true) {
    setBody(event, undefined, "path" in received ? { bodyFile: received } : { bodyParts: received });
    return;
  }
  const body = concatChunks(received);
  setBody(event, body, undefined);
  if (body !== undefined) checkBody(body, event.body);
}

/** Throws BodyTooLargeError for a body that is above the payload limit as JSON text of the event. */
function checkBody(body: Buffer, text: string | null): void {
  recordValue("requestBytes", body.length);
  if (exceedsLimitAsJson("payloadBytes", text ?? "")) throw new BodyTooLargeError(LIMITS.payloadBytes.value);
}

interface FailedRequest {
  readonly route: GatewayRoute;
  readonly requestId: string;
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly closing: boolean;
  readonly log: Log;
}

const RETRY_SOON = { "retry-after": "1" };

function writeFailure(
  thrown: unknown,
  { route, requestId, incoming, outgoing, closing, log }: FailedRequest,
): void {
  if (thrown instanceof ClientDisconnectedError || outgoing.destroyed) {
    outgoing.destroy();
  } else if (thrown instanceof BodyTooLargeError) {
    writeRefusal(incoming, outgoing, 413, thrown.message, route.resource);
  } else if (thrown instanceof TooManyBodiesError) {
    writeRefusal(incoming, outgoing, 503, thrown.message, route.resource, RETRY_SOON);
  } else if (thrown instanceof InvocationTimeout) {
    log.error("function timed out", { function: route.fn.logicalId, requestId, error: thrown });
    writeError(outgoing, 504, "The request took too long", { close: closing, path: route.resource });
  } else {
    log.error("function failed", { function: route.fn.logicalId, requestId, error: thrown });
    writeError(outgoing, 500, "Internal server error", { close: closing, path: route.resource });
  }
}

function badRequest(): Response {
  return new Response(errorBody("The request target is malformed"), {
    status: 400,
    headers: { "content-type": "application/json; charset=utf-8", connection: "close" },
  });
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host, backlog: 1024 }, () => {
      server.off("error", reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

function closeServer(server: Server, boundMs: number): Promise<void> {
  return new Promise((resolve) => {
    const sweep = setInterval(() => server.closeIdleConnections(), CLOSE_CHECK_MS);
    const cut = setTimeout(() => server.closeAllConnections(), boundMs);
    server.close(() => {
      clearInterval(sweep);
      clearTimeout(cut);
      resolve();
    });
    server.closeIdleConnections();
  });
}
