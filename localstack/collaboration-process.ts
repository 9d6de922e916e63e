import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { handleApiRequest, unauthorized } from "../lib/collaboration/api.ts";
import { CollaborationNode } from "../lib/collaboration/collaboration-node.ts";
import { HttpAccessFeed } from "../lib/collaboration/http-access-feed.ts";
import { httpRequests } from "../lib/collaboration/http-requests.ts";
import { httpRoomStorage } from "../lib/collaboration/http-room-storage.ts";
import { nodeAddress } from "../lib/collaboration/node-address.ts";
import { RoomRouter } from "../lib/collaboration/room-router.ts";
import { CollaborationServer } from "../lib/collaboration/server.ts";
import { CHANGES_HEADER } from "../lib/documents/connections/live-connections.ts";
import { AccessWatch } from "../lib/documents/live-requests/access-watch.ts";
import { LIVE_LIMITS } from "../lib/documents/live-requests/limits.ts";
import { AwarenessHub } from "../lib/documents/updates/awareness-hub.ts";
import { jsonLog } from "../lib/platform/json-log.ts";
import { readSetting } from "../lib/settings/read.ts";
import { parseTarget } from "./request-target.ts";

/** Port of the reference's collaboration server. */
const PORT = "4444";
const HEADERS_TIMEOUT_MS = 10_000;
const CONNECTIONS_MAX = 5_000;
/** Time between two looks at the changes that a request to the document service has found, milliseconds. */
const CHANGES_MS = 100;

export interface CollaborationProcessOptions {
  /** The settings, as environment variables. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly writeLog: (line: string) => void;
}

export interface CollaborationProcess {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Runs the collaboration server as a process of its own, for a document service at COLLABORATION_BACKEND_BASE_URL. Rejects
 * if a setting is missing or invalid.
 */
export async function startCollaboration({
  environment,
  writeLog,
}: CollaborationProcessOptions): Promise<CollaborationProcess> {
  const { backendUrl, key, keys, origins, host, port, address, proxies } = readOptions(environment);
  const redact = (line: string): string => keys.reduce((text, one) => text.replaceAll(one, "***"), line);
  const log = jsonLog({ write: writeLog, level: "info", redact });
  const request = httpRequests(backendUrl);
  const server = createServer({ headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: HEADERS_TIMEOUT_MS });
  server.maxConnections = CONNECTIONS_MAX;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const actualPort = (server.address() as AddressInfo).port;
  const reachableAt = address ?? nodeAddress(host, actualPort, networkInterfaces());
  const node = new CollaborationNode({ request, key, address: reachableAt, log });
  const feed = new HttpAccessFeed({ request, key });
  const accessWatch = new AccessWatch({ feed, limits: { ...LIVE_LIMITS, changesMs: CHANGES_MS }, log });
  const awarenessHub = new AwarenessHub();
  const collaboration = new CollaborationServer({
    request,
    key,
    accessWatch,
    awarenessHub,
    storage: httpRoomStorage({ request, key, awarenessHub, log, node }),
    isOriginAllowed: (origin) => origins.includes(origin),
    log,
  });
  const router = new RoomRouter({ server: collaboration, node, key, proxies, log });
  server.on("request", (incoming: IncomingMessage, outgoing: ServerResponse) => {
    void responseTo({ collaboration, router, keys, feed }, incoming).then(({ status, body }) => {
      outgoing.writeHead(status, { "content-type": "application/json; charset=utf-8", connection: "close" });
      outgoing.end(JSON.stringify(body));
    });
  });
  server.on("upgrade", (incoming, socket, head) => {
    socket.on("error", () => {});
    if (parseTarget(incoming.url ?? "")?.routePath === "/collaboration/ws")
      router.handleUpgrade(incoming, socket, head);
    else socket.end("HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n");
  });
  node.start();
  log.info("collaboration started", {
    port: actualPort,
    address: reachableAt,
    backend: backendUrl,
    pid: process.pid,
  });
  return {
    port: actualPort,
    close: async () => {
      server.close();
      router.close();
      await collaboration.close();
      await node.close();
      accessWatch.close();
      feed.close();
      server.closeAllConnections();
      log.info("collaboration stopped");
    },
  };
}

interface Responders {
  readonly collaboration: CollaborationServer;
  readonly router: RoomRouter;
  readonly keys: readonly string[];
  readonly feed: HttpAccessFeed;
}

/** A request about a room that another process has is answered by that process. */
async function responseTo(
  { collaboration: { rooms }, router, keys, feed }: Responders,
  incoming: IncomingMessage,
): Promise<{ readonly status: number; readonly body: unknown }> {
  const { method = "GET", url = "", headers } = incoming;
  const { routePath: path = "", query = "" } = parseTarget(url) ?? {};
  if (method === "GET" && path === "/ping") return { status: 200, body: { message: "pong" } };
  if (method === "GET" && path === "/collaboration/api/status")
    return (
      unauthorized(keys, headers.authorization) ?? { status: 200, body: { backend: await feed.check() } }
    );
  const asked = new URLSearchParams(query);
  const response = handleApiRequest(rooms, keys, { method, path, query: asked, headers });
  // All processes read changes of access by themselves.
  if (headers[CHANGES_HEADER] !== undefined) return response;
  if (response.status !== 200 && response.status !== 404) return response;
  const owner = await router.ownerOf(incoming, asked.get("room"));
  return (owner && (await router.pass(incoming, owner))) ?? response;
}

function readOptions(environment: CollaborationProcessOptions["environment"]) {
  const backendUrl = readSetting(environment, "COLLABORATION_BACKEND_BASE_URL");
  if (backendUrl === undefined)
    throw new Error(
      "COLLABORATION_BACKEND_BASE_URL: set the URL of the document service, such as http://localhost:3000",
    );
  const providerKey = readSetting(environment, "Y_PROVIDER_API_KEY");
  const secret = readSetting(environment, "COLLABORATION_SERVER_SECRET");
  const key = providerKey ?? secret;
  if (key === undefined)
    throw new Error("Y_PROVIDER_API_KEY: set the same key here and in the document service");
  const publicUrl = readSetting(environment, "PUBLIC_URL");
  const allowed = readSetting(environment, "COLLABORATION_SERVER_ORIGIN");
  const defaults = [backendUrl, publicUrl].flatMap((url) => (url === undefined ? [] : [new URL(url).origin]));
  return {
    backendUrl,
    key,
    keys: [providerKey, secret].filter((one) => one !== undefined),
    origins: allowed.length > 0 ? allowed : defaults,
    address: readSetting(environment, "COLLABORATION_NODE_ADDRESS"),
    proxies: readSetting(environment, "COLLABORATION_TRUSTED_PROXIES"),
    host: readSetting(environment, "HOST"),
    port: readSetting({ ...environment, PORT: environment.PORT || PORT }, "PORT"),
  };
}
