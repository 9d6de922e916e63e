import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import type { AccessWatch } from "../documents/live-requests/access-watch.ts";
import type { AwarenessHub } from "../documents/updates/awareness-hub.ts";
import type { Log } from "../platform/log.ts";
import { CollaborationBackend, type RequestBackend } from "./backend.ts";
import { ClientSocket, type Handshake } from "./client-socket.ts";
import { CLOSE, type CloseReason } from "./close-codes.ts";
import { COLLABORATION_LIMITS, type CollaborationLimits } from "./limits.ts";
import { Metrics } from "./metrics.ts";
import { withQuietConsole } from "./quiet-console.ts";
import type { RoomStorage } from "./room-storage.ts";
import { Rooms } from "./rooms.ts";
import { Seats } from "./seats.ts";

export interface CollaborationOptions {
  readonly request: RequestBackend;
  /** Identifies this server to the document service. */
  readonly key: string;
  readonly storage: RoomStorage;
  /** Clients of this process that are connected over HTTP. */
  readonly awarenessHub?: AwarenessHub;
  readonly accessWatch: AccessWatch;
  /** Whether a page of this origin may connect to this host. */
  readonly isOriginAllowed: (origin: string, host: string | undefined) => boolean;
  readonly log: Log;
  readonly limits?: Partial<CollaborationLimits>;
}

/** What is known about a connection before it is accepted. */
export interface UpgradeOptions {
  /** The client's address, if it is not that of the socket. */
  readonly address?: string;
  /** Why the connection is refused. */
  readonly refusal?: CloseReason;
}

export interface CollaborationStatus {
  readonly rooms: number;
  readonly connections: number;
}

/**
 * Hocuspocus needs a request for each socket; what the hooks use of it is in the context. Without a URL, because it parses
 * the URL three times for each message.
 */
const NO_REQUEST = { url: "", headers: new Headers() } as Request;

/** Time between two checks of slow readers, and between two metrics in the log, milliseconds. */
const READERS_MS = 1_000;
const METRICS_MS = 60_000;
const STOP_CHECK_MS = 10;

/** The collaboration server: WebSocket connections, their rooms, and what both may use. */
export class CollaborationServer {
  readonly rooms: Rooms;
  readonly #options: CollaborationOptions;
  readonly #limits: CollaborationLimits;
  readonly #server: WebSocketServer;
  readonly #metrics = new Metrics();
  readonly #sockets = new Set<ClientSocket>();
  #timer: NodeJS.Timeout | undefined;
  #reportedAt = performance.now();
  #isClosing = false;

  constructor(options: CollaborationOptions) {
    const { log, storage, awarenessHub, accessWatch, request, key } = options;
    this.#options = options;
    const limits = { ...COLLABORATION_LIMITS, ...options.limits };
    this.#limits = limits;
    this.#server = new WebSocketServer({
      noServer: true,
      maxPayload: limits.messageBytes,
      perMessageDeflate: false,
      clientTracking: false,
    });
    const backend = new CollaborationBackend({ request, key });
    const metrics = this.#metrics;
    this.rooms = new Rooms({
      backend,
      accessWatch,
      storage,
      awarenessHub,
      seats: new Seats(limits),
      limits,
      metrics,
      log,
    });
  }

  get status(): CollaborationStatus {
    return { rooms: this.rooms.getDocumentsCount(), connections: this.#sockets.size };
  }

  /** Accepts a WebSocket connection. The reasons to refuse it are sent in a close frame, which browsers show. */
  handleUpgrade(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    { address = request.socket.remoteAddress ?? "", refusal }: UpgradeOptions = {},
  ): void {
    this.#server.handleUpgrade(request, socket, head, (webSocket) => {
      webSocket.on("error", () => {});
      withQuietConsole(this.#options.log, () => this.#accept(webSocket, socket, request, address, refusal));
    });
  }

  /** Writes what clients have sent, closes their sockets, and unloads the rooms. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const deadline = performance.now() + this.#limits.stopMs;
    const pending = [...this.rooms.connections()].map(({ connection }) =>
      connection.waitForPendingMessages(),
    );
    const late = new Promise((resolve) => setTimeout(resolve, this.#limits.stopMs).unref());
    await Promise.race([Promise.allSettled(pending), late]);
    for (const socket of this.#sockets) socket.close(CLOSE.stopping);
    while (this.#sockets.size + this.rooms.getDocumentsCount() > 0 && performance.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, STOP_CHECK_MS));
    clearInterval(this.#timer);
    this.#server.close();
  }

  #accept(
    webSocket: WebSocket,
    stream: Duplex,
    request: IncomingMessage,
    address: string,
    refused: CloseReason | undefined,
  ): void {
    const handshake = readHandshake(request, address);
    const socket = new ClientSocket(webSocket, stream, handshake, this.#limits);
    const refusal = refused ?? this.#refusalOf(handshake, request.headers.host);
    if (refusal !== undefined) {
      socket.close(refusal);
      return;
    }
    this.#sockets.add(socket);
    this.#startTimer();
    const endpoint = {
      ...socket.endpoint,
      get readyState() {
        return socket.readyState;
      },
    };
    const client = this.rooms.handleConnection(endpoint as never, NO_REQUEST, { socket });
    socket.start(client, () => this.#sockets.delete(socket));
  }

  #refusalOf({ origin, address }: Handshake, host: string | undefined) {
    if (this.#isClosing) return CLOSE.stopping;
    if (origin !== undefined && !this.#options.isOriginAllowed(origin, host)) return CLOSE.originNotAllowed;
    const { sockets, connectionsPerAddress, pendingPerAddress } = this.#limits;
    if (this.#sockets.size >= sockets) return CLOSE.tooManySockets;
    let all = 0;
    let pending = 0;
    for (const socket of this.#sockets) {
      if (socket.handshake.address !== address) continue;
      all += 1;
      if (!socket.isAuthenticated) pending += 1;
    }
    return all >= connectionsPerAddress || pending >= pendingPerAddress ? CLOSE.tooManyOfAddress : undefined;
  }

  #startTimer(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setInterval(() => {
      this.#checkReaders();
      this.#report();
      if (this.#sockets.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    }, READERS_MS);
    this.#timer.unref();
  }

  /** Closes readers that make no progress, and the slowest ones if all together leave too much unread. */
  #checkReaders(): void {
    const now = performance.now();
    const slow: ClientSocket[] = [];
    for (const socket of this.#sockets) {
      socket.checkReader(now);
      if (socket.unsentBytes > 0) slow.push(socket);
    }
    let total = slow.reduce((sum, { unsentBytes }) => sum + unsentBytes, 0);
    for (const socket of slow.toSorted((one, other) => other.unsentBytes - one.unsentBytes)) {
      if (total <= this.#limits.unsentBytesTotal) return;
      total -= socket.unsentBytes;
      socket.close(CLOSE.slowReader);
    }
  }

  #report(): void {
    const now = performance.now();
    if (now - this.#reportedAt < METRICS_MS && this.#sockets.size > 0) return;
    this.#reportedAt = now;
    const report = this.#metrics.report();
    if (report !== undefined) this.#options.log.info("collaboration", { ...this.status, ...report });
  }
}

/** The session cookie of the reference and of Weft. */
const SESSION_COOKIE = /(?:^|;\s*)docs_sessionid=([^;]*)/;

function readHandshake(request: IncomingMessage, address: string): Handshake {
  const { origin, cookie } = request.headers;
  const url = URL.parse(request.url ?? "", "http://localhost");
  return {
    socketId: randomUUID(),
    room: url?.searchParams.get("room") ?? undefined,
    origin,
    cookie: cookie === "" ? undefined : cookie,
    sessionKey: SESSION_COOKIE.exec(cookie ?? "")?.[1],
    address,
  };
}
