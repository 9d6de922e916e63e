import { type Connection, type Document, Hocuspocus } from "@hocuspocus/server";
import type { AccessWatch } from "../documents/live-requests/access-watch.ts";
import type { AwarenessHub } from "../documents/updates/awareness-hub.ts";
import { mayAddRoot } from "../documents/updates/may-add-root.ts";
import { addsSecondRoot } from "../documents/updates/second-root.ts";
import { ApiError } from "../errors.ts";
import type { Log } from "../platform/log.ts";
import { shownUser, stampStates } from "./awareness.ts";
import {
  type Access,
  BackendUnavailableError,
  type CollaborationBackend,
  type Credentials,
  type Rights,
} from "./backend.ts";
import type { ClientSocket } from "./client-socket.ts";
import { CLOSE, type CloseReason } from "./close-codes.ts";
import { containsUpdate } from "./contains-update.ts";
import { EarlyAppends } from "./early-appends.ts";
import type { CollaborationLimits } from "./limits.ts";
import { SYNC } from "./message-type.ts";
import type { Metrics } from "./metrics.ts";
import { RefusedUpdates } from "./refused-updates.ts";
import { closeFor, isLasting, Rejection, reject } from "./rejection.ts";
import { acknowledge, announceOtherContent, announceRights } from "./rights-message.ts";
import { connectAwareness } from "./room-awareness.ts";
import { RoomLog } from "./room-log.ts";
import type { RoomStorage } from "./room-storage.ts";
import type { Seat, Seats } from "./seats.ts";
import { readToken } from "./token.ts";

/** What a connection may do, and what it was authenticated with. */
export interface Session {
  access: Access;
  readonly seat: Seat;
  readonly shown: { readonly name: string; readonly color: string };
  /** When the access was asked for, milliseconds of `performance.now()`. */
  authorizedAt: number;
  readonly early: EarlyAppends;
  /** The document accepts no further updates from this connection, whatever the access is. */
  isRefused: boolean;
  /** Ends the watch of its access. */
  unwatch?: () => void;
  readonly refused: RefusedUpdates;
}

export interface RoomContext {
  readonly socket: ClientSocket;
  /** Set when the client is authenticated. */
  readonly session?: Session;
}

export interface RoomsOptions {
  readonly backend: CollaborationBackend;
  readonly accessWatch: AccessWatch;
  readonly storage: RoomStorage;
  /** Clients of this process that are connected over HTTP. */
  readonly awarenessHub?: AwarenessHub | undefined;
  readonly seats: Seats;
  readonly limits: CollaborationLimits;
  readonly metrics: Metrics;
  readonly log: Log;
}

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
const WRONG_ROOM = "Wrong room name: Unauthorized";
const DENIED = "permission-denied";

/** How long a client waits until a room whose log has ended is unloaded, milliseconds. */
const UNLOAD_MAX_MS = 5_000;

/**
 * The rooms of this process. An update is appended to the log of its document, and on disk, before it is applied,
 * acknowledged or broadcast. Choice: infra/decisions/0111.
 */
export class Rooms extends Hocuspocus<RoomContext> {
  readonly #options: RoomsOptions;
  readonly #logs = new WeakMap<Document, RoomLog>();
  /** Checks in progress, which connections with the same credentials share. */
  readonly #checks = new Map<string, Promise<Rights>>();

  constructor(options: RoomsOptions) {
    const { limits } = options;
    super({
      quiet: true,
      timeout: limits.idleMs,
      unloadImmediately: true,
      flushDelay: 0,
      maxUnauthenticatedQueueSize: limits.unauthenticatedBytes,
      maxUnauthenticatedQueueMessages: limits.unauthenticatedMessages,
      maxPendingDocuments: limits.connectionsPerSocket,
      onConnect: async ({ documentName, context }) => checkRoom(documentName, context.socket),
      onAuthenticate: ({ token, documentName, context, connectionConfig }) =>
        this.#authenticate(token, documentName, context.socket, connectionConfig),
      onTokenSync: ({ token, connection }) => this.#renew(token, connection),
      onLoadDocument: ({ document }) => this.#load(document),
      connected: async ({ connection, context }) => {
        if (connection.document.isDestroyed) context.socket.close(CLOSE.unavailable);
        context.socket.onUpdate = (update) => this.#appendEarly(update, connection);
        this.#watch(connection, context.session);
      },
      beforeSync: ({ type, payload, connection, document }) =>
        this.#store(type, payload, connection, document),
      afterHandleMessage: async ({ context, update }) => context.socket.noteHandled(update.length),
      beforeHandleAwareness: async ({ states, connection, document }) => {
        if (connection !== undefined) stamp(states, connection, document, limits.awarenessClients);
      },
      onDisconnect: async ({ document, context: { socket, session } }) => {
        if (session === undefined) return;
        const room = this.#logs.get(document);
        session.early.drop((update) => room?.applyStored(update));
        session.unwatch?.();
        session.seat.release();
        socket.seats.delete(session.seat);
        // A provider whose connection ends while its socket stays open would never connect again.
        if (!socket.hasLeft) socket.close(CLOSE.reset);
      },
    });
    this.#options = options;
  }

  /** Nothing is stored later: the log has every update before it is applied. */
  override storeDocumentHooks(): Promise<void> {
    return Promise.resolve();
  }

  /** All connections, or those of a room. */
  *connections(room?: string): Generator<{ readonly connection: Connection; readonly session: Session }> {
    for (const document of room === undefined ? this.documents.values() : [this.documents.get(room)])
      for (const connection of document?.getConnections() ?? []) {
        const { session } = connection.context as RoomContext;
        if (session !== undefined) yield { connection, session };
      }
  }

  async #authenticate(
    token: string,
    document: string,
    socket: ClientSocket,
    config: { readOnly: boolean },
  ): Promise<Partial<RoomContext>> {
    const { seats, limits } = this.#options;
    const sent = readToken(token);
    const authorizedAt = performance.now();
    const access = await this.#authorize(document, socket, sent.credentials);
    if (access === undefined) throw new Rejection(DENIED);
    if (sent.generation !== undefined) await this.#checkGeneration(document, socket, sent.generation);
    await this.#waitForUnload(document, socket);
    if (!socket.isOpen) throw new Rejection(DENIED);
    if (socket.seats.size >= limits.connectionsPerSocket)
      throw new Rejection(`Too many sessions of one socket: at most ${limits.connectionsPerSocket}`);
    const seat = seats.take(document, access.user?.id);
    if (typeof seat === "string") throw new Rejection(seat);
    socket.seats.add(seat);
    socket.isAuthenticated = true;
    config.readOnly = !access.canUpdate;
    const shown = shownUser(access.user, socket.handshake.socketId);
    return {
      session: {
        access,
        seat,
        shown,
        authorizedAt,
        early: new EarlyAppends(),
        isRefused: false,
        refused: new RefusedUpdates(),
      },
    };
  }

  /** The access of a client; undefined if it may not open the document. */
  async #authorize(
    document: string,
    socket: ClientSocket,
    credentials: Exclude<Credentials, { kind: "cookie" }> | undefined,
  ): Promise<Access | undefined> {
    const { origin, cookie = "", address } = socket.handshake;
    if (credentials === undefined && socket.refusalWithoutToken !== undefined)
      reject(socket, socket.refusalWithoutToken);
    try {
      return await this.#options.backend.authorize(
        document,
        credentials ?? { kind: "cookie", cookie, origin },
        address,
      );
    } catch (error) {
      if (!(error instanceof BackendUnavailableError)) throw error;
      this.#options.log.warn("the access of a collaboration client could not be checked", { error });
      // The provider connects again after a close, but not after a rejection.
      return reject(socket, CLOSE.unavailable);
    }
  }

  async #checkGeneration(document: string, socket: ClientSocket, generation: number): Promise<void> {
    const open = this.documents.get(document);
    const known = open === undefined ? undefined : this.#logs.get(open);
    let current = known?.hasEnded === false ? known.generation : undefined;
    if (current === undefined) {
      const log = await this.#options.storage.open(document).catch((error: unknown) => {
        if (isLasting(error)) throw new Rejection(error.message);
        return reject(socket, closeFor(error));
      });
      current = log.generation;
      log.close();
    }
    if (generation !== current) throw new Rejection(`generation:${current}`);
  }

  /** A room whose log has ended is not joined: its connections are being closed. */
  async #waitForUnload(document: string, socket: ClientSocket): Promise<void> {
    const open = this.documents.get(document);
    const log = open === undefined ? undefined : this.#logs.get(open);
    if (log?.hasEnded !== true) return;
    const { promise: late, resolve } = Promise.withResolvers<"late">();
    const timer = setTimeout(() => resolve("late"), UNLOAD_MAX_MS);
    const outcome = await Promise.race([log.closed, late]);
    clearTimeout(timer);
    if (outcome === "late") reject(socket, CLOSE.unavailable);
  }

  /** The client has sent a new token on an open connection. */
  async #renew(token: string, connection: Connection): Promise<void> {
    const { socket, session } = connection.context as RoomContext;
    const { credentials } = readToken(token);
    if (session === undefined || credentials === undefined) return;
    try {
      const access = await this.#authorize(connection.document.name, socket, credentials);
      // Another user's token would leave the seat and the shown name with the first one.
      if (access === undefined || access.user?.id !== session.access.user?.id) socket.close(CLOSE.accessLost);
      else {
        session.access = access;
        this.#changeRights(connection, session, access);
      }
    } catch {
      socket.close(CLOSE.unavailable);
    }
  }

  /** Follows changes of what the client may do. It asks as at the beginning, so it decides nothing itself. */
  #watch(connection: Connection, session: Session | undefined): void {
    const { document } = connection;
    if (session === undefined || !document.hasConnection(connection)) return;
    const { address } = (connection.context as RoomContext).socket.handshake;
    session.unwatch = this.#options.accessWatch.watch({
      document: document.name,
      user: session.access.user?.id,
      authorizedAt: session.authorizedAt,
      check: async () => {
        const rights = await this.#check(document.name, session.access, address);
        if (document.hasConnection(connection)) this.#changeRights(connection, session, rights);
      },
    });
  }

  async #check(document: string, access: Access, address: string): Promise<Rights> {
    const name = JSON.stringify([document, access.credentials]);
    const known = this.#checks.get(name);
    if (known !== undefined) return known;
    const check = this.#options.backend.check(document, access, address);
    this.#checks.set(name, check);
    return check.finally(() => this.#checks.delete(name));
  }

  /**
   * Changes what a connection may do. Its client is told with the message of Hocuspocus that the scope comes from, and
   * with a stateless message; a client that may write again is asked for what it has not sent.
   */
  #changeRights(connection: Connection, session: Session, rights: Rights): void {
    const { socket } = connection.context as RoomContext;
    if (!rights.canRetrieve) {
      socket.close(CLOSE.accessLost);
      return;
    }
    session.access = { ...session.access, ...rights };
    const readOnly = !rights.canUpdate || session.isRefused;
    if (readOnly === connection.readOnly) return;
    connection.readOnly = readOnly;
    announceRights(connection, { asks: !readOnly && session.refused.ask() });
  }

  /**
   * Opens the room of a document for a connection. If it cannot be loaded now, this closes the socket of each connection
   * that waits for it: they share the error, and a client whose connection is rejected does not try again.
   */
  override async createDocument(
    ...[document, request, socketId, config, context]: Parameters<Hocuspocus<RoomContext>["createDocument"]>
  ): Promise<Document> {
    try {
      return await super.createDocument(document, request, socketId, config, context);
    } catch (error) {
      const { socket, session } = context as RoomContext;
      session?.seat.release();
      if (session !== undefined) socket.seats.delete(session.seat);
      if (isLasting(error)) throw new Rejection(error.message);
      return reject(socket, closeFor(error));
    }
  }

  async #load(document: Document): Promise<void> {
    const { storage, awarenessHub, log } = this.#options;
    try {
      const room = await RoomLog.open(storage, document, {
        log,
        onEnd: (why) => closeRoom(document, why === "moved" ? CLOSE.moved : CLOSE.replaced),
      });
      this.#logs.set(document, room);
      if (awarenessHub !== undefined) connectAwareness(document, awarenessHub, log);
    } catch (error) {
      if (!(error instanceof ApiError))
        log.error("a document could not be loaded", { document: document.name, error });
      throw error;
    }
  }

  /** Begins to append an update that Hocuspocus handles after those before it. */
  #appendEarly(update: Uint8Array, { document, readOnly, context }: Connection): void {
    const { session } = context as RoomContext;
    const room = this.#logs.get(document);
    if (readOnly || session === undefined || room === undefined || document.isDestroyed) return;
    if (mayAddRoot(update)) return;
    session.early.add(update, room.append(update, session.access.user?.id ?? null));
  }

  /** Called before a sync message is applied. If the update is refused, the client keeps it as not synced. */
  async #store(type: number, update: Uint8Array, connection: Connection, document: Document): Promise<void> {
    if (type !== SYNC.step2 && type !== SYNC.update) return;
    const { socket, session } = connection.context as RoomContext;
    const room = this.#logs.get(document);
    const early = type === SYNC.update ? session?.early.take(update) : undefined;
    if (connection.readOnly && early === undefined) {
      const isKnown = type === SYNC.step2 && containsUpdate(document, update);
      if (isKnown) acknowledge(connection, session?.refused.accept(type) ?? 0);
      else session?.refused.refuse(type);
      return;
    }
    if (room === undefined || session === undefined || document.isDestroyed)
      reject(socket, CLOSE.unavailable);
    const startedAt = performance.now();
    try {
      if (type === SYNC.step2 && containsUpdate(document, update)) {
        acknowledge(connection, session.refused.accept(type));
        return;
      }
      // Updates that may add a root are not appended early.
      if (early === undefined && mayAddRoot(update) && addsSecondRoot(document, update)) {
        this.#options.metrics.noteRefusal();
        session.isRefused = true;
        connection.readOnly = true;
        announceOtherContent(connection, room.generation);
        return;
      }
      await (early ?? room.append(update, session.access.user?.id ?? null));
    } catch (error) {
      this.#options.metrics.noteRefusal();
      if (error instanceof ApiError && error.code === "payload_too_large") {
        // The connection stays open for reading: the client would send the same again after each reconnect.
        session.isRefused = true;
        connection.readOnly = true;
        announceRights(connection, { reason: error.message });
        return;
      }
      const reason = closeFor(error);
      if (reason.code === CLOSE.unavailable.code)
        this.#options.log.error("an update could not be stored", { document: document.name, error });
      return reject(socket, reason);
    }
    this.#options.metrics.noteAppend(performance.now() - startedAt);
    acknowledge(connection, session.refused.accept(type));
    if (!connection.readOnly) return;
    // The connection lost its rights meanwhile, so Hocuspocus neither applies nor acknowledges the update.
    room.applyStored(update);
    if (type === SYNC.update) acknowledge(connection, 1);
  }
}

function checkRoom(document: string, { handshake }: ClientSocket): void {
  if (document !== handshake.room || !UUID_V4.test(document)) throw new Rejection(WRONG_ROOM);
}

function closeRoom(document: Document, reason: CloseReason): void {
  for (const connection of document.getConnections())
    (connection.context as RoomContext).socket.close(reason);
}

function stamp(
  states: Map<number, Record<string, unknown>>,
  connection: Connection,
  document: Document,
  max: number,
): void {
  const { session } = connection.context as RoomContext;
  if (session === undefined) {
    states.clear();
    return;
  }
  const owned = document.getClients(connection);
  const isForeign = (client: number): boolean =>
    !owned.has(client) && (owned.size >= max || document.awareness.getStates().has(client));
  stampStates(states, { user: session.shown, isForeign }, max);
}
