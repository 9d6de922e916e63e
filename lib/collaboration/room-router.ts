import { request as httpRequest, type IncomingMessage } from "node:http";
import { type Duplex, pipeline } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../platform/log.ts";
import { CLOSE } from "./close-codes.ts";
import type { CollaborationNode, OtherNode } from "./collaboration-node.ts";
import { clientAddress, FORWARDED_HEADER, readForwarded, signForwarded } from "./forwarding.ts";
import type { CollaborationServer } from "./server.ts";

export interface RoomRouterOptions {
  readonly server: CollaborationServer;
  readonly node: CollaborationNode;
  /** Signs requests to other processes. */
  readonly key: string;
  /** Proxies in front of this process that append to `X-Forwarded-For`. */
  readonly proxies: number;
  readonly log: Log;
}

/** How long a client waits while the owner of its room does not respond, and between two attempts, milliseconds. */
const WAIT_MS = 15_000;
const RETRY_MS = 500;
/** Time for the owner's response, milliseconds. */
const RESPONSE_MS = 5_000;
/** Clients that wait for an owner. */
const WAITING_MAX = 2_000;
/** Time between two warnings that an owner does not respond, milliseconds. */
const WARNING_MS = 5_000;
const RESPONSE_MAX_BYTES = 64 * 1024;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Accepts connections to rooms of this process, and passes those to other rooms on to the processes that own them.
 * Choice: infra/decisions/0116.
 */
export class RoomRouter {
  readonly #options: RoomRouterOptions;
  /** Connections that are passed on. */
  readonly #passed = new Map<Duplex, { readonly room: string; readonly node: string }>();
  #waiting = 0;
  #warnedAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(options: RoomRouterOptions) {
    this.#options = options;
    options.node.onNodes = (nodes) => void this.#closeStale(nodes);
  }

  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { server, key, proxies, log } = this.#options;
    const forwarded = readForwarded(key, request.headers, Date.now());
    if (forwarded === "invalid") {
      log.warn("a forwarded connection has a wrong signature", { from: request.socket.remoteAddress });
      respond(socket, "403 Forbidden");
    } else if (forwarded !== undefined) {
      // The sender tries again, until another process has the room.
      if (this.#isClosed) respond(socket, "503 Service Unavailable");
      else server.handleUpgrade(request, socket, head, forwarded);
    } else void this.#route(request, socket, head, clientAddress(request, proxies));
  }

  /** The process that a request about a room is passed on to; undefined if it is for this one. */
  async ownerOf(request: IncomingMessage, room: string | null): Promise<OtherNode | undefined> {
    const { node, key, log } = this.#options;
    const isForwarded = readForwarded(key, request.headers, Date.now()) !== undefined;
    if (isForwarded || this.#isClosed || room === null || !UUID.test(room) || node.owns(room))
      return undefined;
    return node.find(room).catch((error: unknown) => {
      log.warn("the owner of a room could not be found", { room, error });
      return undefined;
    });
  }

  /** Sends a request without a body to another process. Undefined if it does not respond. */
  async pass(
    request: IncomingMessage,
    owner: OtherNode,
  ): Promise<{ readonly status: number; readonly body: unknown } | undefined> {
    const { key, proxies } = this.#options;
    const { authorization = "", "x-user-id": userId } = request.headers;
    try {
      const response = await fetch(`http://${owner.address}${request.url}`, {
        method: request.method ?? "GET",
        headers: {
          authorization,
          [FORWARDED_HEADER]: signForwarded(key, { address: clientAddress(request, proxies) }, Date.now()),
          ...(typeof userId === "string" ? { "x-user-id": userId } : {}),
        },
        redirect: "error",
        signal: AbortSignal.timeout(RESPONSE_MS),
      });
      const text = await response.text();
      if (text.length > RESPONSE_MAX_BYTES) throw new RangeError("the response is too large");
      return { status: response.status, body: JSON.parse(text) as unknown };
    } catch (error) {
      this.#warn(owner, error);
      return undefined;
    }
  }

  /** Ends the connections that are passed on: their clients connect again, elsewhere. */
  close(): void {
    this.#isClosed = true;
    for (const socket of this.#passed.keys()) socket.destroy();
  }

  async #route(request: IncomingMessage, socket: Duplex, head: Buffer, address: string): Promise<void> {
    const { server } = this.#options;
    const room = URL.parse(request.url ?? "", "http://localhost")?.searchParams.get("room") ?? null;
    const deadline = performance.now() + WAIT_MS;
    let owner = await this.ownerOf(request, room);
    if (owner !== undefined && this.#waiting >= WAITING_MAX) {
      server.handleUpgrade(request, socket, head, { address, refusal: CLOSE.tooManySockets });
      return;
    }
    this.#waiting += 1;
    try {
      while (room !== null && owner !== undefined && !socket.destroyed) {
        if (await this.#forward(request, socket, head, { address, room }, owner)) return;
        if (performance.now() > deadline) {
          server.handleUpgrade(request, socket, head, { address, refusal: CLOSE.unavailable });
          return;
        }
        await sleep(RETRY_MS);
        owner = await this.ownerOf(request, room);
      }
    } finally {
      this.#waiting -= 1;
    }
    if (!socket.destroyed) server.handleUpgrade(request, socket, head, { address });
  }

  /** Connects a client to the owner of its room; false if that is not possible now. */
  #forward(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    { address, room }: { readonly address: string; readonly room: string },
    owner: OtherNode,
  ): Promise<boolean> {
    const { key } = this.#options;
    const target = new URL(`http://${owner.address}`);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const passed = httpRequest({
      host: target.hostname.replace(/^\[|\]$/g, ""),
      port: target.port,
      path: request.url,
      headers: [
        ...withoutForwarded(request.rawHeaders),
        FORWARDED_HEADER,
        signForwarded(key, { address }, Date.now()),
      ],
      agent: false,
      timeout: RESPONSE_MS,
    });
    passed.on("timeout", () => passed.destroy(new Error("no response in time")));
    passed.on("error", (error) => {
      this.#warn(owner, error);
      resolve(false);
    });
    passed.on("response", (response) => {
      response.destroy();
      resolve(false);
    });
    passed.on("upgrade", (response, upstream, first) => {
      upstream.on("error", () => {});
      upstream.setTimeout(0);
      if (socket.destroyed || this.#isClosed) {
        upstream.destroy();
        resolve(socket.destroyed);
        return;
      }
      socket.write(headOf(response));
      if (first.length > 0) socket.write(first);
      if (head.length > 0) upstream.write(head);
      this.#passed.set(socket, { room, node: owner.node });
      pipeline(socket, upstream, socket, () => this.#passed.delete(socket));
      resolve(true);
    });
    passed.end();
    return promise;
  }

  /** Many clients may wait for the same owner, and try again. */
  #warn({ address }: OtherNode, error: unknown): void {
    if (performance.now() - this.#warnedAt < WARNING_MS) return;
    this.#warnedAt = performance.now();
    this.#options.log.warn("another process of the collaboration server does not respond", {
      address,
      error,
    });
  }

  /** Ends connections to processes whose lease has ended: they may hang instead of closing their sockets. */
  async #closeStale(nodes: ReadonlySet<string>): Promise<void> {
    for (const [socket, { room, node }] of [...this.#passed]) {
      if (nodes.has(node)) continue;
      // The list of nodes may lag behind; the row of the room does not.
      const owner = await this.#options.node.find(room).catch(() => ({ node }));
      if (owner?.node !== node) socket.destroy();
    }
  }
}

const respond = (socket: Duplex, status: string): unknown =>
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);

/** Names and values in turn, without the header that this process sets. */
function withoutForwarded(rawHeaders: readonly string[]): string[] {
  return rawHeaders.filter((_, at) => rawHeaders[at - (at % 2)]?.toLowerCase() !== FORWARDED_HEADER);
}

function headOf({ rawHeaders }: IncomingMessage): string {
  const lines = rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${rawHeaders[at + 1]}`] : []));
  return ["HTTP/1.1 101 Switching Protocols", ...lines, "", ""].join("\r\n");
}
