import { HocuspocusProvider, HocuspocusProviderWebsocket } from "@hocuspocus/provider";
import { Awareness } from "y-protocols/awareness";
import type * as Y from "yjs";
import { Events } from "./events.ts";
import { HttpConnection } from "./http-connection.ts";

export type ConnectionStatus = "connecting" | "socket" | "http" | "offline";

export interface WeftProviderOptions {
  /** Origin of the server, such as `https://docs.example.org`. */
  readonly origin: string;
  /** Id of the document on the server. */
  readonly id: string;
  readonly document: Y.Doc;
  /** The generation of the content that the document has already, such as from a cache. */
  readonly generation?: number;
  /** Number of changes in the document that the server may not have, such as from a cache. */
  readonly unsynced?: number;
  /** Headers of each request: a bearer token, or the CSRF token of a session. */
  readonly headers?: () => Readonly<Record<string, string>>;
  readonly fetch?: typeof fetch;
  /** Replaces the browser's own. */
  readonly WebSocket?: unknown;
  /** Time for the WebSocket before HTTP is used, milliseconds. */
  readonly socketMs?: number;
  /** Time after which the WebSocket is tried again, at first, milliseconds. It doubles up to 32 times its value. */
  readonly probeMs?: number;
  /** Time for the first event of an HTTP stream before polling is used, milliseconds. */
  readonly streamMs?: number;
}

export interface ProviderEvents {
  status: ConnectionStatus;
  /** The document has everything that the server had at this moment. */
  synced: undefined;
  /** Number of changes that are not on the server's disk. */
  unsynced: number;
  permissions: { readonly canRead: boolean; readonly canEdit: boolean };
  /**
   * Why the server does not accept the unsynced changes, such as that they are too large: nothing is saved until the
   * document is smaller. Undefined when they are accepted after all.
   */
  refused: string | undefined;
  /**
   * The content was replaced as a whole, so the document cannot be synchronized any more: the caller keeps a copy of it
   * if there are unsynced changes, and opens the document again.
   */
  generation: undefined;
}

const SOCKET_MS = 4_000;
const PROBE_MS = 10_000;
const PROBES_MAX = 5;
/** How often a synchronized socket may close before the changes are saved: one of them may be the cause. */
const UNSAVED_CLOSES_MAX = 2;

/** Whether an update comes from the server. */
const isRemote = (origin: unknown): boolean =>
  origin instanceof HocuspocusProvider || origin instanceof HttpConnection;

/** An awareness that outlives the provider of a socket. */
class LastingAwareness extends Awareness {
  override destroy(): void {}

  end(): void {
    super.destroy();
  }
}

/**
 * Keeps a document in sync with a Weft server: by WebSocket, and by HTTP while that does not work. `unsyncedChanges` is
 * 0 when every change is on the server's disk.
 */
export class WeftProvider extends Events<ProviderEvents> {
  readonly awareness: Awareness;
  readonly #awareness: LastingAwareness;
  readonly #options: WeftProviderOptions;
  #status: ConnectionStatus = "connecting";
  #unsynced = 0;
  #readOnly = false;
  #refusal: string | undefined;
  #generation: number | undefined;
  /** The attempt to connect by WebSocket in progress. */
  #attempt: symbol | undefined;
  #websocket: HocuspocusProviderWebsocket | undefined;
  #socket: HocuspocusProvider | undefined;
  #http: HttpConnection | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #probes = 0;
  #unsavedCloses = 0;
  #isDestroyed = false;

  constructor(options: WeftProviderOptions) {
    super();
    this.#options = options;
    this.#generation = options.generation;
    this.#unsynced = options.unsynced ?? 0;
    this.#awareness = new LastingAwareness(options.document);
    this.awareness = this.#awareness;
    options.document.on("update", this.#onUpdate);
    this.#openSocket();
  }

  get status(): ConnectionStatus {
    return this.#status;
  }

  /** The generation of the content; undefined until it is known. */
  get generation(): number | undefined {
    return this.#generation;
  }

  get unsyncedChanges(): number {
    return this.#unsynced;
  }

  get readOnly(): boolean {
    return this.#readOnly;
  }

  /** Why the unsynced changes are not accepted; undefined if they are. */
  get refusal(): string | undefined {
    return this.#refusal;
  }

  /** Ends the connection until `reconnect`, which sends what was not saved. */
  disconnect(): void {
    clearTimeout(this.#timer);
    this.#closeSocket();
    this.#closeHttp();
    this.#setStatus("offline");
  }

  /** Connects again at once. For a caller that learns that the network has changed: a socket notices that late. */
  reconnect(): void {
    if (this.#isDestroyed) return;
    this.#probes = 0;
    this.#useHttp();
    this.#openSocket();
  }

  destroy(): void {
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    this.#options.document.off("update", this.#onUpdate);
    this.disconnect();
    this.#awareness.end();
  }

  readonly #onUpdate = (_update: Uint8Array, origin: unknown): void => {
    if (!isRemote(origin)) this.#setUnsynced(this.#unsynced + 1);
  };

  /** Connects by WebSocket: HTTP goes on until that works, or is used if it does not work in time. */
  #openSocket(): void {
    this.#wait(this.#options.socketMs ?? SOCKET_MS, () => this.#useHttp());
    const attempt = Symbol("attempt");
    this.#attempt = attempt;
    this.#requestTicket().then(
      (token) => {
        if (this.#attempt === attempt) this.#connect(token);
      },
      () => {
        if (this.#attempt === attempt) this.#useHttp();
      },
    );
  }

  #connect(token: string): void {
    const { origin, id, document, WebSocket: WebSocketPolyfill } = this.#options;
    const websocket = new HocuspocusProviderWebsocket({
      url: `${origin.replace(/^http/, "ws")}/collaboration/ws/?room=${id}`,
      preserveTrailingSlash: true,
      ...(WebSocketPolyfill === undefined ? {} : { WebSocketPolyfill }),
    });
    this.#websocket = websocket;
    const synchronize = (): void => {
      if (this.#websocket !== websocket || this.#socket !== undefined) return;
      const socket = new HocuspocusProvider({
        websocketProvider: websocket,
        name: id,
        document,
        awareness: this.#awareness,
        token,
        onSynced: () => this.#onSocketSynced(),
        onUnsyncedChanges: ({ number }) => {
          if (number === 0) this.#setUnsynced(0);
        },
        onStateless: ({ payload }) => this.#onStateless(payload),
        onAuthenticated: ({ scope }) => this.#setPermissions(true, scope !== "readonly"),
        onAuthenticationFailed: ({ reason }) => {
          if (reason.startsWith("generation:")) this.#onReplaced();
          else this.#useHttp();
        },
      });
      this.#socket = socket;
      socket.attach();
    };
    // Attached only to an open socket: Hocuspocus would take the acknowledgement of an update that waited for the socket
    // for that of the whole synchronization.
    websocket.on("open", () => queueMicrotask(synchronize));
    // Each connection needs a new ticket, so Hocuspocus must not connect again by itself.
    websocket.on("close", () => queueMicrotask(() => this.#onSocketClosed(websocket)));
  }

  #onSocketSynced(): void {
    clearTimeout(this.#timer);
    this.#probes = 0;
    this.#closeHttp();
    this.#setStatus("socket");
    this.emit("synced", undefined);
  }

  /** The server no longer accepts changes by this connection, for a reason: HTTP finds out whether that lasts. */
  #onStateless(payload: string): void {
    const { type, update, reason } = parseObject(payload);
    if (type !== "rights" || update !== false || typeof reason !== "string") return;
    queueMicrotask(() => {
      if (this.#socket !== undefined) this.#useHttp();
    });
  }

  #onSocketClosed(websocket: HocuspocusProviderWebsocket): void {
    if (this.#websocket !== websocket) return;
    const wasSynced = this.#status === "socket";
    this.#closeSocket();
    if (this.#unsynced > 0) this.#unsavedCloses += 1;
    if (wasSynced && this.#unsavedCloses < UNSAVED_CLOSES_MAX) {
      this.#setStatus("connecting");
      this.#openSocket();
    } else this.#useHttp();
  }

  /** Ends the attempts to connect by WebSocket for a while. */
  #useHttp(): void {
    const { origin, id, document, headers = () => ({}), probeMs = PROBE_MS } = this.#options;
    this.#closeSocket();
    this.#http ??= new HttpConnection({
      url: `${origin}/api/v1.0/documents/${id}/updates/`,
      fetch: this.#options.fetch ?? globalThis.fetch.bind(globalThis),
      headers,
      document,
      awareness: this.#awareness,
      generation: this.#generation,
      isRemote,
      hasUnsaved: () => this.#unsynced > 0,
      onConnected: (isConnected) => this.#setStatus(isConnected ? "http" : "offline"),
      onSynced: (generation) => {
        this.#generation = generation;
        this.emit("synced", undefined);
      },
      onSaved: () => this.#setUnsynced(0),
      onPermissions: (canRead, canEdit) => this.#setPermissions(canRead, canEdit),
      onReplaced: () => this.#onReplaced(),
      onRefused: (reason) => {
        this.#setRefusal(reason);
        if (reason === undefined) this.#useHttp();
        else this.#stopProbing();
      },
      streamMs: this.#options.streamMs,
    });
    this.#wait(probeMs * 2 ** Math.min(this.#probes, PROBES_MAX), () => this.#openSocket());
    this.#probes += 1;
  }

  /** What HTTP refuses, the WebSocket does too: it would be closed again and again. */
  #stopProbing(): void {
    clearTimeout(this.#timer);
    this.#probes = 0;
    this.#closeSocket();
  }

  /** The token of Hocuspocus: a ticket for one connection, with the generation that the document has. */
  async #requestTicket(): Promise<string> {
    const { origin, id, headers, fetch: send = globalThis.fetch.bind(globalThis) } = this.#options;
    const response = await send(`${origin}/api/v1.0/documents/${id}/collaboration-ticket/`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers?.() },
      body: "{}",
      signal: AbortSignal.timeout(SOCKET_MS),
    });
    if (!response.ok) throw new Error(`the server responds with ${response.status}`);
    const { ticket, generation } = (await response.json()) as { ticket: string; generation: number };
    this.#generation ??= generation;
    if (generation !== this.#generation) this.#onReplaced();
    return `${this.#generation}:${ticket}`;
  }

  #onReplaced(): void {
    if (this.#isDestroyed) return;
    this.destroy();
    this.emit("generation", undefined);
  }

  #closeSocket(): void {
    this.#attempt = undefined;
    const [websocket, socket] = [this.#websocket, this.#socket];
    [this.#websocket, this.#socket] = [undefined, undefined];
    // It removes the local state, which belongs to the editor.
    const state = this.#awareness.getLocalState();
    socket?.destroy();
    websocket?.destroy();
    if (socket !== undefined && !this.#isDestroyed) this.#awareness.setLocalState(state);
  }

  #closeHttp(): void {
    this.#http?.close({ isLeaving: this.#isDestroyed });
    this.#http = undefined;
  }

  #wait(milliseconds: number, then: () => void): void {
    clearTimeout(this.#timer);
    if (!this.#isDestroyed) this.#timer = setTimeout(then, milliseconds);
  }

  #setStatus(status: ConnectionStatus): void {
    if (this.#status === status) return;
    this.#status = status;
    this.emit("status", status);
  }

  #setUnsynced(count: number): void {
    if (count === 0) this.#unsavedCloses = 0;
    if (this.#unsynced === count) return;
    this.#unsynced = count;
    this.emit("unsynced", count);
  }

  #setRefusal(reason: string | undefined): void {
    if (this.#refusal === reason) return;
    this.#refusal = reason;
    this.emit("refused", reason);
  }

  #setPermissions(canRead: boolean, canEdit: boolean): void {
    if (!canRead) this.destroy();
    const isSame = canRead && this.#readOnly === !canEdit;
    this.#readOnly = !canEdit;
    if (!isSame) this.emit("permissions", { canRead, canEdit });
  }
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
