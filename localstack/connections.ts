import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

/** Limit of waiting pipelined requests, on all connections together. Each uses some 3 KB. */
const WAITING_MAX = 20_000;

/** Limit of response bytes that clients have not read yet, on all connections together. */
const UNSENT_MAX_BYTES = 64 * 1024 * 1024;

/** A client that reads nothing of its response for this long is disconnected, milliseconds. */
const STALL_TIMEOUT_MS = 30_000;

export interface ConnectionLimits {
  readonly waitingMax?: number;
  readonly unsentMaxBytes?: number;
  readonly stallTimeoutMs?: number;
}

interface Connection {
  /** The response that is being prepared or sent. */
  active: ServerResponse | undefined;
  /** Starts the requests that have been received after it, in order. */
  readonly waiting: (() => void)[];
}

/**
 * Limits the memory that clients use. The requests of one connection are handled one after another: the next one starts
 * when the previous response has been sent, and nothing more is read from the socket meanwhile. A client that does not
 * read its response is disconnected. If the unsent bytes exceed their limit, the connections with the oldest unsent
 * responses are closed.
 */
export class Connections {
  readonly #waitingMax: number;
  readonly #unsentMaxBytes: number;
  readonly #connections = new WeakMap<Socket, Connection>();
  /** Responses whose client has not read all that was written, oldest first. */
  readonly #unsent = new Map<ServerResponse, number>();
  readonly #closeWatched = new WeakSet<ServerResponse>();
  #unsentBytes = 0;
  #waiting = 0;

  constructor(
    server: Server,
    {
      waitingMax = WAITING_MAX,
      unsentMaxBytes = UNSENT_MAX_BYTES,
      stallTimeoutMs = STALL_TIMEOUT_MS,
    }: ConnectionLimits = {},
  ) {
    this.#waitingMax = waitingMax;
    this.#unsentMaxBytes = unsentMaxBytes;
    // Node restarts the timer whenever bytes move in either direction.
    server.setTimeout(stallTimeoutMs, (socket: Socket) => {
      const active = this.#connections.get(socket)?.active;
      const isAwaitingFunction = active !== undefined && socket.writableLength === 0;
      if (!isAwaitingFunction) socket.destroy();
    });
  }

  /**
   * Whether a response on this connection has begun, or its request has been received completely. A parser error then
   * belongs to a later request, and an error response would be taken for the response to the earlier one.
   */
  isResponding(socket: Duplex): boolean {
    const active = this.#connections.get(socket as Socket)?.active;
    return active !== undefined && (active.headersSent || active.req.complete);
  }

  /** Whether a response on this connection is being prepared or sent. */
  isBusy(socket: Duplex): boolean {
    return this.#connections.get(socket as Socket)?.active !== undefined;
  }

  /** Calls `start` when it is this request's turn on its connection; never if the connection closes before. */
  handle(incoming: IncomingMessage, outgoing: ServerResponse, start: () => void): void {
    const { socket } = incoming;
    const connection = this.#connections.get(socket) ?? this.#open(socket);
    if (connection.active === undefined) {
      this.#start(connection, socket, outgoing, start);
      return;
    }
    if (socket.destroyed) return;
    if (this.#waiting >= this.#waitingMax) {
      socket.destroy();
      return;
    }
    this.#waiting += 1;
    connection.waiting.push(() => this.#start(connection, socket, outgoing, start));
    // Node resumes the socket as soon as it has parsed this request.
    if (connection.waiting.length === 1) process.nextTick(pauseWhileWaiting, connection, socket);
  }

  /** Counts the unsent bytes of a response until it is closed or drained. */
  noteUnsent(outgoing: ServerResponse, bytes: number): void {
    if (outgoing.writableLength === 0 && (outgoing.socket?.writableLength ?? 0) === 0) return;
    const before = this.#unsent.get(outgoing);
    // A stream may be unsent and sent again thousands of times.
    if (!this.#closeWatched.has(outgoing)) {
      this.#closeWatched.add(outgoing);
      outgoing.once("close", () => this.noteSent(outgoing));
    }
    this.#unsent.set(outgoing, (before ?? 0) + bytes);
    this.#unsentBytes += bytes;
    for (const [oldest] of this.#unsent) {
      if (this.#unsentBytes <= this.#unsentMaxBytes) return;
      this.noteSent(oldest);
      oldest.destroy();
    }
  }

  /** The client has read all that was written to the response. */
  noteSent(outgoing: ServerResponse): void {
    this.#unsentBytes -= this.#unsent.get(outgoing) ?? 0;
    this.#unsent.delete(outgoing);
  }

  #open(socket: Socket): Connection {
    const connection: Connection = { active: undefined, waiting: [] };
    this.#connections.set(socket, connection);
    socket.on("resume", () => pauseWhileWaiting(connection, socket));
    socket.once("close", () => {
      this.#waiting -= connection.waiting.length;
      connection.waiting.length = 0;
    });
    return connection;
  }

  #start(connection: Connection, socket: Socket, outgoing: ServerResponse, start: () => void): void {
    connection.active = outgoing;
    outgoing.on("close", () => {
      connection.active = undefined;
      const next = connection.waiting.shift();
      if (next === undefined) return;
      this.#waiting -= 1;
      next();
      if (connection.waiting.length === 0) socket.resume();
    });
    start();
  }
}

function pauseWhileWaiting(connection: Connection, socket: Socket): void {
  if (connection.waiting.length > 0) socket.pause();
}
