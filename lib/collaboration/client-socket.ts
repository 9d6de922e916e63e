import { AsyncLocalStorage } from "node:async_hooks";
import type { Duplex } from "node:stream";
import type { Hocuspocus } from "@hocuspocus/server";
import type { RawData, WebSocket } from "ws";
import { TokenBucket } from "../documents/connections/token-bucket.ts";
import { CLOSE, type CloseReason, shorten } from "./close-codes.ts";
import { FirstSync } from "./first-sync.ts";
import type { CollaborationLimits } from "./limits.ts";
import { MESSAGE, type MessageHead, readMessageHead, SYNC } from "./message-type.ts";
import type { Seat } from "./seats.ts";

/** What a client sent when it opened the socket. */
export interface Handshake {
  readonly socketId: string;
  /** The query parameter `room`. */
  readonly room: string | undefined;
  /** Undefined if the request has no `Origin` header; browsers always send one. */
  readonly origin: string | undefined;
  readonly cookie: string | undefined;
  /** The value of the session cookie. */
  readonly sessionKey: string | undefined;
  readonly address: string;
}

type ClientConnection = ReturnType<Hocuspocus["handleConnection"]>;

/** Time that a closing socket has for its close frame, milliseconds. */
const CLOSING_MS = 2_000;

/** A WebSocket connection, and the limits of what it may send and leave unread. */
export class ClientSocket {
  readonly handshake: Handshake;
  /** Seats of its connections to rooms. */
  readonly seats = new Set<Seat>();
  /** Whether a client has authenticated on it. */
  isAuthenticated = false;
  /** The client has ended a connection to a room itself. */
  hasLeft = false;
  /** Receives each update that the socket accepts, before Hocuspocus handles the earlier ones. */
  onUpdate: ((update: Uint8Array) => void) | undefined;
  readonly #socket: WebSocket;
  readonly #limits: CollaborationLimits;
  readonly #updates: TokenBucket;
  readonly #awareness: TokenBucket;
  readonly #authentications: TokenBucket;
  readonly #others: TokenBucket;
  readonly #firstSync = new FirstSync();
  #client: ClientConnection | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #waitingBytes = 0;
  #waitingMessages = 0;
  readonly #stream: Duplex;
  #isCorked = false;
  #unsent: { bytes: number; since: number } | undefined;

  /** `stream` is the connection that the WebSocket writes to. */
  constructor(socket: WebSocket, stream: Duplex, handshake: Handshake, limits: CollaborationLimits) {
    this.#stream = stream;
    this.handshake = handshake;
    this.#socket = socket;
    this.#limits = limits;
    const now = performance.now();
    this.#updates = new TokenBucket(limits.updates, now);
    this.#awareness = new TokenBucket(limits.awareness, now);
    this.#authentications = new TokenBucket(limits.authentications, now);
    this.#others = new TokenBucket(limits.otherMessages, now);
  }

  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  get unsentBytes(): number {
    return this.#socket.bufferedAmount;
  }

  /**
   * Passes messages to Hocuspocus. If no authentication message arrives in time, the socket closes, with the reason of
   * the reference if the client can have no other credentials than cookies.
   */
  start(client: ClientConnection, onClose: () => void): void {
    this.#client = client;
    const reason = this.refusalWithoutToken ?? CLOSE.timeout;
    this.#deadline = setTimeout(() => this.close(reason), this.#limits.authenticationMs);
    // Bound to the context of the caller, in which the messages of Hocuspocus to the console go to the log.
    const receive = (data: RawData, isBinary: boolean): void => this.#receive(data, isBinary);
    this.#socket.on("message", AsyncLocalStorage.bind(receive));
    const end = (code: number, text: Buffer): void => {
      clearTimeout(this.#deadline);
      client.handleClose({ code, reason: text.toString() });
      for (const seat of this.seats) seat.release();
      this.seats.clear();
      onClose();
    };
    this.#socket.on("close", AsyncLocalStorage.bind(end));
  }

  /** Why the cookies of this socket are not accepted. Reference: live-and-web 3, "Handshake". */
  get refusalWithoutToken(): CloseReason | undefined {
    if (this.handshake.origin === undefined) return CLOSE.originNotAllowed;
    return this.handshake.cookie === undefined ? CLOSE.noCookies : undefined;
  }

  /** What Hocuspocus sees of the socket. */
  readonly endpoint = {
    send: (data: Uint8Array): void => this.#send(data),
    close: (code?: number, reason?: string): void =>
      this.close({ code: code ?? CLOSE.reset.code, reason: reason ?? CLOSE.reset.reason }),
  };

  get readyState(): number {
    return this.#socket.readyState;
  }

  /** Closes the socket; it is destroyed if the client does not respond. */
  close({ code, reason }: CloseReason): void {
    if (this.#socket.readyState > this.#socket.OPEN) return;
    this.#socket.close(code, shorten(reason));
    // A client that does not read never receives the close frame. If it was this process that was busy, the response is
    // read before the immediate runs.
    const end = (): unknown => setImmediate(() => this.#socket.terminate());
    setTimeout(end, CLOSING_MS).unref();
  }

  /** A message has been handled. */
  noteHandled(bytes: number): void {
    this.#waitingBytes = Math.max(0, this.#waitingBytes - bytes);
    this.#waitingMessages = Math.max(0, this.#waitingMessages - 1);
    if (this.#socket.isPaused && !this.#isFull()) this.#socket.resume();
  }

  /** Closes the socket if the client has received nothing for too long. */
  checkReader(now: number): void {
    const bytes = this.unsentBytes;
    if (bytes === 0) this.#unsent = undefined;
    else if (this.#unsent === undefined || bytes < this.#unsent.bytes) this.#unsent = { bytes, since: now };
    else if (now - this.#unsent.since > this.#limits.unsentMs) this.close(CLOSE.slowReader);
  }

  /** What one callback sends is written at once, after everything that its promises send. */
  #send(data: Uint8Array): void {
    if (!this.isOpen) return;
    if (!this.#isCorked) {
      this.#isCorked = true;
      this.#stream.cork();
      process.nextTick(() => {
        this.#isCorked = false;
        this.#stream.uncork();
      });
    }
    this.#socket.send(data);
    if (this.unsentBytes > this.#limits.unsentBytes) this.close(CLOSE.slowReader);
  }

  #receive(data: RawData, isBinary: boolean): void {
    if (!this.isOpen) return;
    if (!isBinary) {
      this.close(CLOSE.textMessage);
      return;
    }
    // A copy: Yjs keeps parts of it, which would keep the whole buffer of the socket.
    const message = new Uint8Array(data as Buffer);
    const head = readMessageHead(message);
    const refusal = head === undefined ? CLOSE.malformed : this.#refusalOf(head, message);
    if (refusal !== undefined) {
      this.close(refusal);
      return;
    }
    if (head !== undefined && this.#firstSync.isRepeated(head)) return;
    this.#waitingBytes += message.length;
    this.#waitingMessages += 1;
    if (this.isAuthenticated && this.#isFull()) this.#socket.pause();
    // With several sessions on one socket it is not known whose update it is.
    if (head?.sync === SYNC.update && head.payload !== undefined && this.seats.size === 1)
      this.onUpdate?.(head.payload);
    this.#client?.handleMessage(message);
  }

  #refusalOf(kind: MessageHead, message: Uint8Array): CloseReason | undefined {
    if (kind.type === MESSAGE.close) this.hasLeft = true;
    const now = performance.now();
    if (kind.type === MESSAGE.auth) {
      clearTimeout(this.#deadline);
      return this.#authentications.take(now) ? undefined : CLOSE.tooManyMessages;
    }
    if (!this.isAuthenticated) {
      const { unauthenticatedBytes, unauthenticatedMessages } = this.#limits;
      const isTooMuch =
        this.#waitingBytes + message.length > unauthenticatedBytes ||
        this.#waitingMessages >= unauthenticatedMessages;
      if (isTooMuch) return CLOSE.unauthenticated;
    }
    if (kind.type === MESSAGE.awareness) {
      if (message.length > this.#limits.awarenessBytes) return CLOSE.awarenessTooLarge;
      return this.#awareness.take(now) ? undefined : CLOSE.tooMuchAwareness;
    }
    if (kind.sync === SYNC.update || kind.sync === SYNC.step2)
      return this.#updates.take(now) ? undefined : CLOSE.tooManyUpdates;
    return this.#others.take(now) ? undefined : CLOSE.tooManyMessages;
  }

  #isFull(): boolean {
    const { waitingBytes, waitingMessages } = this.#limits;
    return this.#waitingBytes > waitingBytes || this.#waitingMessages > waitingMessages;
  }
}
