import { HocuspocusProvider, HocuspocusProviderWebsocket } from "@hocuspocus/provider";
import { WebSocket } from "ws";
import * as Y from "yjs";
import { WeftProvider } from "./weft-provider.ts";

/** How a client is connected: Weft's provider by socket, by a stream of events or by polling; or the stock provider. */
export const CLIENT_KINDS = ["socket", "stream", "poll", "stock"] as const;
export type ClientKind = (typeof CLIENT_KINDS)[number];

/** Close codes that are shown if a test fails. */
const CLOSES_MAX = 10;

export interface TestClientOptions {
  readonly kind: ClientKind;
  readonly origin: string;
  /** Null for an anonymous client. */
  readonly token: string | null;
  /** Of a browser with a session, instead of a token. */
  readonly browser?: Readonly<Record<string, string>>;
  readonly id: string;
}

/** A client of a document whose network can be cut. */
export class TestClient {
  readonly doc = new Y.Doc();
  readonly kind: ClientKind;
  readonly #cable = new Cable();
  readonly #provider: WeftProvider | HocuspocusProvider;
  readonly #websocket: HocuspocusProviderWebsocket | undefined;
  /** Why the client was disconnected for good; undefined if it was not. */
  refusal: string | undefined;
  onSaved: () => void = () => {};
  /** How its sockets closed, the last ones. */
  readonly #closes: string[] = [];

  constructor({ kind, origin, token, browser, id }: TestClientOptions) {
    this.kind = kind;
    const { doc: document } = this;
    if (kind === "stock") {
      this.#websocket = new HocuspocusProviderWebsocket({
        url: `${origin.replace(/^http/, "ws")}/collaboration/ws/?room=${id}`,
        preserveTrailingSlash: true,
        WebSocketPolyfill: this.#cable.socketClass(browser),
        delay: 50,
        minDelay: 50,
        maxDelay: 200,
        jitter: false,
      });
      const provider = new HocuspocusProvider({
        websocketProvider: this.#websocket,
        name: id,
        document,
        token: token ?? (browser === undefined ? () => anonymousTicket(origin, id) : null),
        onAuthenticationFailed: ({ reason }) => {
          this.refusal = reason;
        },
      });
      for (const name of ["unsyncedChanges", "synced"]) provider.on(name, () => this.#noteSaved());
      this.#websocket.on("close", ({ event }: { event: { code: number; reason: string } }) => {
        this.#closes.push(`${event.code} ${event.reason}`);
        if (this.#closes.length > CLOSES_MAX) this.#closes.shift();
      });
      provider.attach();
      this.#provider = provider;
      return;
    }
    const provider = new WeftProvider({
      origin,
      id,
      document,
      headers: () => browser ?? (token === null ? {} : { authorization: `Bearer ${token}` }),
      fetch: this.#cable.fetch(kind === "poll"),
      WebSocket: kind === "socket" ? this.#cable.socketClass() : BlockedSocket,
      // A client with a socket uses HTTP meanwhile, as after each cut.
      socketMs: kind === "socket" ? 2_000 : 20,
      probeMs: kind === "socket" ? 100 : 60_000,
      ...(kind === "poll" ? { streamMs: 50 } : {}),
    });
    provider.on("unsynced", () => this.#noteSaved());
    provider.on("generation", () => {
      this.refusal = "generation";
    });
    provider.on("permissions", ({ canRead }) => {
      if (!canRead) this.refusal = "permissions";
    });
    this.#provider = provider;
  }

  get isOffline(): boolean {
    return this.#cable.isCut;
  }

  /** Whether the provider shows that everything is saved. */
  get isSaved(): boolean {
    const provider = this.#provider;
    return provider.unsyncedChanges === 0 && (!(provider instanceof HocuspocusProvider) || provider.isSynced);
  }

  /** Whether the connection is the one of its kind. */
  get isConnected(): boolean {
    if (this.#provider instanceof HocuspocusProvider) return this.#provider.isSynced;
    return this.#provider.status === (this.kind === "socket" ? "socket" : "http");
  }

  /** What the client shows that it may do; undefined while it is not connected. */
  get rights(): "write" | "read" | "none" | undefined {
    if (this.refusal !== undefined) return "none";
    const provider = this.#provider;
    if (provider instanceof WeftProvider)
      return this.isConnected ? (provider.readOnly ? "read" : "write") : undefined;
    return provider.isAuthenticated
      ? provider.authorizedScope === "readonly"
        ? "read"
        : "write"
      : undefined;
  }

  /** What the client knows about its connection. */
  describe(): string {
    const provider = this.#provider;
    const { kind, isOffline, isSaved, isConnected, refusal } = this;
    const status =
      this.#websocket?.status ?? (provider instanceof WeftProvider ? provider.status : undefined);
    const { unsyncedChanges } = provider;
    const known = { isOffline, status, isConnected, isSaved, unsyncedChanges, refusal, closes: this.#closes };
    return `${kind} ${this.doc.clientID} ${JSON.stringify(known)}`;
  }

  /** Cuts all connections at once, or allows new ones. */
  setOffline(isOffline: boolean): void {
    this.#cable.set(isOffline);
  }

  close(): void {
    this.#provider.destroy();
    this.#websocket?.destroy();
    this.#cable.set(true);
  }

  #noteSaved(): void {
    if (this.isSaved) this.onSaved();
  }
}

async function anonymousTicket(origin: string, id: string): Promise<string> {
  const response = await fetch(`${origin}/api/v1.0/documents/${id}/collaboration-ticket/`, {
    method: "POST",
  });
  if (!response.ok) throw new Error(`no ticket: ${response.status}`);
  const { ticket, generation } = (await response.json()) as { ticket: string; generation: number };
  return `${generation}:${ticket}`;
}

/** A WebSocket behind a proxy that does not let it through. */
class BlockedSocket extends EventTarget {
  readonly readyState = 0;
  constructor() {
    super();
    setTimeout(() => this.dispatchEvent(new Event("error")), 1);
  }
  close(): void {}
}

/** The network of a client. */
class Cable {
  isCut = false;
  #controller = new AbortController();
  readonly #sockets = new Set<WebSocket>();

  set(isCut: boolean): void {
    this.isCut = isCut;
    if (!isCut) return;
    this.#controller.abort();
    this.#controller = new AbortController();
    for (const socket of this.#sockets) socket.terminate();
    this.#sockets.clear();
  }

  /** `fetch` on this network; with `holdsStreams`, a proxy holds back responses that do not end. */
  fetch(holdsStreams: boolean): typeof fetch {
    return (url, init) => {
      if (this.isCut) return Promise.reject(new Error("offline"));
      const signal = AbortSignal.any([this.#controller.signal, ...(init?.signal ? [init.signal] : [])]);
      const isStream = new Headers(init?.headers).get("accept") === "text/event-stream";
      if (!holdsStreams || !isStream) return fetch(url, { ...init, signal });
      const start = (controller: ReadableStreamDefaultController): void =>
        signal.addEventListener("abort", () => controller.error(new Error("aborted")));
      return Promise.resolve(new Response(new ReadableStream({ start })));
    };
  }

  /** A WebSocket on this network, with these headers. */
  socketClass(headers: Readonly<Record<string, string>> = {}): unknown {
    const cable = this;
    return class extends WebSocket {
      constructor(url: string) {
        // Nothing listens there.
        super(cable.isCut ? "ws://127.0.0.1:1" : url, {
          headers: { ...headers, origin: new URL(url).origin.replace(/^ws/, "http") },
        });
        this.on("error", () => {});
        cable.#sockets.add(this);
        this.on("close", () => cable.#sockets.delete(this));
      }
    };
  }
}
