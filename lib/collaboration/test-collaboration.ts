import { randomUUID } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { HocuspocusProvider, HocuspocusProviderWebsocket } from "@hocuspocus/provider";
import { expect } from "vitest";
import WebSocket from "ws";
import { Doc } from "yjs";
import type { AccessFeed } from "../documents/live-requests/access-feed.ts";
import { AccessWatch } from "../documents/live-requests/access-watch.ts";
import type { Log } from "../platform/log.ts";
import type { BackendRequest, BackendResponse } from "./backend.ts";
import { type CollaborationOptions, CollaborationServer } from "./server.ts";
import { MemoryRoomStorage } from "./test-room-storage.ts";

export const ORIGIN = "http://docs.example";
const KEY = "a-key-for-tests";

/** What a fake user may do in a document. */
export interface FakeUser {
  readonly id: string;
  readonly name: string;
  retrieve: boolean;
  update: boolean;
}

/** The document service, as far as the collaboration server calls it: users are identified by cookie or token. */
export class FakeBackend {
  readonly users = new Map<string, FakeUser>();
  readonly tickets = new Map<string, string>();
  readonly requests: BackendRequest[] = [];
  isDown = false;
  /** What anonymous users may do. */
  anonymous: Pick<FakeUser, "retrieve" | "update"> | undefined;

  add(name: string, rights: Partial<Pick<FakeUser, "retrieve" | "update">> = {}): FakeUser {
    const user = { id: `id-${name}`, name, retrieve: true, update: true, ...rights };
    this.users.set(name, user);
    return user;
  }

  request = async (request: BackendRequest): Promise<BackendResponse> => {
    this.requests.push(request);
    if (this.isDown) throw new Error("down");
    const { path, headers, body } = request;
    if (request.method === "POST") return this.#service(path, headers, body as Record<string, string>);
    const name =
      headers.authorization?.replace("Bearer ", "") ?? /user=(\w+)/.exec(headers.cookie ?? "")?.[1];
    const user = this.users.get(name ?? "");
    if (user === undefined && this.anonymous !== undefined && path.startsWith("/api/v1.0/documents/"))
      return rightsOf(this.anonymous);
    if (user === undefined) return { status: 401, body: {} };
    if (path === "/api/v1.0/users/me/") return { status: 200, body: { id: user.id, full_name: user.name } };
    return rightsOf(user);
  };

  #service(path: string, headers: BackendRequest["headers"], body: Record<string, string>): BackendResponse {
    if (headers.authorization !== `Bearer ${KEY}`) return { status: 401, body: {} };
    if (path === "/api/v1.0/collaboration/access/")
      return rightsOf([...this.users.values()].find(({ id }) => id === body.user));
    const user = this.users.get(this.tickets.get(body.ticket ?? "") ?? "");
    this.tickets.delete(body.ticket ?? "");
    if (user === undefined) return { status: 404, body: {} };
    return {
      status: 200,
      body: { ...(rightsOf(user).body as object), user: { id: user.id, full_name: user.name } },
    };
  }
}

function rightsOf(user: Pick<FakeUser, "retrieve" | "update"> | undefined): BackendResponse {
  if (user?.retrieve !== true) return { status: 403, body: {} };
  return { status: 200, body: { abilities: { retrieve: true, update: user.update } } };
}

const SILENT_FEED: AccessFeed = {
  lagMs: 0,
  read: async () => ({ isReset: false, documents: [], relations: [], users: [] }),
  linesOf: async () => new Map(),
};

/** Follows the changes of a feed, for tests. */
export const watchAccess = (feed: AccessFeed, limits = { changesMs: 10, recheckMs: 60_000 }): AccessWatch =>
  new AccessWatch({ feed, limits, log });

const logged: { message: string; fields: unknown }[] = [];
const record = (message: string, fields?: unknown): void => void logged.push({ message, fields });
const log: Log = { debug: record, info: record, warn: record, error: record, with: () => log };

export interface ClientOptions {
  /** The query parameter; an empty one is not sent. */
  readonly room?: string;
  readonly name?: string;
  readonly token?: string | (() => string);
  readonly headers?: Readonly<Record<string, string>>;
  readonly document?: Doc;
}

export interface TestClient {
  readonly provider: HocuspocusProvider;
  readonly document: Doc;
  readonly reasons: string[];
  readonly closes: { code: number; reason: string }[];
  readonly stateless: string[];
  write(text: string): void;
  text(): string;
  /** Resolves when the server has the content and has acknowledged it. */
  saved(): Promise<void>;
  close(): void;
}

/** A collaboration server on a free port, with clients that are closed with it. */
export class TestCollaboration {
  readonly backend = new FakeBackend();
  readonly storage = new MemoryRoomStorage();
  readonly logged = logged;
  server!: CollaborationServer;
  url = "";
  #http!: Server;
  readonly #clients: TestClient[] = [];
  readonly #sockets: WebSocket[] = [];

  static async start(options: Partial<CollaborationOptions> = {}): Promise<TestCollaboration> {
    const test = new TestCollaboration();
    logged.length = 0;
    test.server = new CollaborationServer({
      request: test.backend.request,
      key: KEY,
      storage: test.storage,
      accessWatch: watchAccess(SILENT_FEED, { changesMs: 60_000, recheckMs: 60_000 }),
      isOriginAllowed: (origin) => origin === ORIGIN,
      log,
      ...options,
    });
    test.#http = createServer();
    test.#http.on("upgrade", (request, socket, head) => test.server.handleUpgrade(request, socket, head));
    await new Promise<void>((resolve) => test.#http.listen(0, "127.0.0.1", resolve));
    test.url = `ws://127.0.0.1:${(test.#http.address() as AddressInfo).port}/collaboration/ws/`;
    return test;
  }

  async close(): Promise<void> {
    for (const client of this.#clients) client.close();
    for (const socket of this.#sockets) socket.terminate();
    await this.server.close();
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
  }

  /** The stock provider over a real socket, by default with a user's cookie. */
  connect(
    user: string | undefined,
    { room = randomUUID(), name = room, ...options }: ClientOptions = {},
  ): TestClient {
    const headers = options.headers ?? {
      origin: ORIGIN,
      ...(user === undefined ? {} : { cookie: `user=${user}` }),
    };
    class SocketWithHeaders extends WebSocket {
      constructor(url: string) {
        super(url, { headers });
        // A socket that is closed while it connects has an error.
        this.on("error", () => {});
      }
    }
    const websocketProvider = new HocuspocusProviderWebsocket({
      url: room === "" ? this.url : `${this.url}?room=${room}`,
      preserveTrailingSlash: true,
      WebSocketPolyfill: SocketWithHeaders,
      delay: 50,
      minDelay: 50,
      jitter: false,
    });
    const document = options.document ?? new Doc();
    const reasons: string[] = [];
    const closes: { code: number; reason: string }[] = [];
    const stateless: string[] = [];
    const provider = new HocuspocusProvider({
      websocketProvider,
      name,
      document,
      token: options.token ?? null,
      onAuthenticationFailed: ({ reason }) => void reasons.push(reason),
      onClose: ({ event }) => void closes.push({ code: event.code, reason: event.reason }),
      onStateless: ({ payload }) => void stateless.push(payload),
    });
    provider.attach();
    const client: TestClient = {
      provider,
      document,
      reasons,
      closes,
      stateless,
      write: (text) => document.getText("text").insert(document.getText("text").length, text),
      text: () => document.getText("text").toString(),
      saved: async () => {
        await expect.poll(() => provider.unsyncedChanges === 0 && provider.isSynced).toBe(true);
      },
      close: () => {
        provider.destroy();
        websocketProvider.destroy();
      },
    };
    this.#clients.push(client);
    return client;
  }

  /** A bare socket that sends nothing by itself. */
  socket(room: string, headers: Readonly<Record<string, string>> = {}): WebSocket {
    const socket = new WebSocket(`${this.url}?room=${room}`, { headers });
    socket.on("error", () => {});
    this.#sockets.push(socket);
    return socket;
  }
}

/** Code and reason with which a socket closes. */
export const closed = (socket: WebSocket): Promise<{ code: number; reason: string }> =>
  new Promise((resolve) =>
    socket.on("close", (code, reason) => resolve({ code, reason: reason.toString() })),
  );
