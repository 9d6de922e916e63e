import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import type { Connections } from "./connections.ts";
import { parseTarget } from "./request-target.ts";
import { writeToSocket } from "./response.ts";

/** Connections that are upgraded at the same time. */
const UPGRADED_MAX = 4000;
/** Idle time after which TCP checks whether the peer still exists, milliseconds. */
const KEEP_ALIVE_DELAY_MS = 30_000;

const WEBSOCKET = "websocket";

/**
 * Takes over a connection that asks for `Upgrade: websocket`. It authenticates the request, checks its `Origin` header,
 * and writes the response: 101, or an error. `head` is what the client sent after its request. When `signal` aborts, the
 * server stops: the handler then ends the socket, which is destroyed after the time for a clean stop. If the handler
 * throws, the socket is destroyed.
 */
export type UpgradeHandler = (
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  signal: AbortSignal,
) => void | Promise<void>;

export interface UpgradeOptions {
  /** Handlers by the path of their requests, without a slash at the end. */
  readonly handlers: ReadonlyMap<string, UpgradeHandler>;
  /** The reason to refuse a request by its `Host` header, or undefined. */
  readonly checkHost: (request: IncomingMessage) => string | undefined;
  readonly connections: Connections;
  readonly onError: (error: unknown) => void;
  readonly upgradedMax?: number | undefined;
}

/** The upgraded connections of a server. */
export class Upgrades {
  readonly #options: UpgradeOptions;
  readonly #sockets = new Set<Duplex>();
  readonly #stop = new AbortController();

  constructor(options: UpgradeOptions) {
    this.#options = options;
  }

  /**
   * Whether a request is handled as an upgrade. Any other is handled as if it had no `Upgrade` header, such as one that
   * offers HTTP/2 (`h2c`), and one whose connection is still sending the response to an earlier request.
   */
  isUpgrade = ({ method, headers, socket }: IncomingMessage): boolean =>
    this.#options.handlers.size > 0 &&
    method === "GET" &&
    headers.upgrade?.toLowerCase() === WEBSOCKET &&
    !this.#options.connections.isBusy(socket);

  /** Handles the `upgrade` events of a server. */
  listen(server: Server): void {
    server.on("upgrade", (request, socket, head) => this.#accept(request, socket, head));
  }

  /** Asks the handlers to end their connections, and destroys those that are open after `boundMs`. */
  async close(boundMs: number): Promise<void> {
    this.#stop.abort();
    const timer = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy();
    }, boundMs);
    await Promise.all([...this.#sockets].map((socket) => closed(socket)));
    clearTimeout(timer);
  }

  #accept(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // Node has removed its own listener: without one, a reset connection would end the process.
    socket.on("error", () => {});
    const path = parseTarget(request.url ?? "")?.routePath;
    const handler = this.#handlerOf(request, path);
    if (typeof handler !== "function") {
      writeToSocket(socket, handler.status, handler.message, path);
      return;
    }
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    // The gateway's own timeout is for requests and their responses.
    request.socket.setTimeout(0).setKeepAlive(true, KEEP_ALIVE_DELAY_MS);
    this.#run(handler, request, socket, head).catch((error: unknown) => {
      socket.destroy();
      this.#options.onError(error);
    });
  }

  /** The handler of a request, or the error that refuses it. */
  #handlerOf(
    request: IncomingMessage,
    path = "",
  ): UpgradeHandler | { readonly status: number; readonly message: string } {
    const { handlers, upgradedMax = UPGRADED_MAX, checkHost } = this.#options;
    const wrongHost = checkHost(request);
    if (wrongHost !== undefined) return { status: 400, message: wrongHost };
    const handler = handlers.get(path);
    if (handler === undefined) return { status: 404, message: "Not found" };
    const isFull = this.#stop.signal.aborted || this.#sockets.size >= upgradedMax;
    return isFull
      ? { status: 503, message: "The server has too many open connections, try again later" }
      : handler;
  }

  async #run(handler: UpgradeHandler, request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    await handler(request, socket, head, this.#stop.signal);
  }
}

const closed = (socket: Duplex): Promise<void> =>
  new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once("close", () => resolve());
  });
