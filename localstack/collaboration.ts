import type { IncomingMessage } from "node:http";
import type { RoomStorage } from "../lib/collaboration/room-storage.ts";
import type { CollaborationServer, CollaborationStatus } from "../lib/collaboration/server.ts";
import { type LiveConnections, LocalConnections } from "../lib/documents/connections/live-connections.ts";
import type { AccessWatch } from "../lib/documents/live-requests/access-watch.ts";
import type { AwarenessHub } from "../lib/documents/updates/awareness-hub.ts";
import { ERROR_STATUS, toApiError } from "../lib/errors.ts";
import type { ProxyResult } from "../lib/http/handler.ts";
import { FAILED_AUTHENTICATION, type Throttle } from "../lib/http/throttle.ts";
import type { Log } from "../lib/platform/log.ts";
import { type InProcessOptions, inProcessRequests } from "./in-process-requests.ts";
import type { RequestTarget } from "./request-target.ts";
import type { UpgradeHandler } from "./upgrades.ts";

/** The part of the composition root that the collaboration server uses. */
export interface CollaborationDeps {
  readonly updateLogs: RoomStorage;
  readonly awarenessHub: AwarenessHub;
  readonly liveRequests: { readonly access: AccessWatch };
  /** Identifies the collaboration server of this process to the functions. */
  readonly collaborationKey: string;
  readonly throttle: Throttle;
  readonly publicUrl?: string | undefined;
  readonly documents: {
    readonly yProviderApiKey: string | undefined;
    readonly collaborationServerSecret: string | undefined;
    readonly collaborationServerOrigins: readonly string[];
  };
  /** Counts the connections of this process, if there is no separate collaboration server. */
  readonly liveConnections: LiveConnections;
}

export interface CollaborationOptions extends InProcessOptions {
  readonly deps: CollaborationDeps;
  readonly log: Log;
}

export interface Collaboration {
  readonly upgrades: ReadonlyMap<string, UpgradeHandler>;
  /** Handles requests whose path begins with `/collaboration/`. */
  handleRequest(incoming: IncomingMessage, target: RequestTarget): Promise<ProxyResult>;
  readonly status: CollaborationStatus;
  close(): Promise<void>;
}

const JSON_HEADERS = { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" };

/** The collaboration server of this process. It is loaded with the first connection. */
export function openCollaboration(options: CollaborationOptions): Collaboration {
  const { deps, log } = options;
  const { yProviderApiKey, collaborationServerSecret } = deps.documents;
  const keys = [yProviderApiKey, collaborationServerSecret].filter((key) => key !== undefined);
  let starting: Promise<CollaborationServer> | undefined;
  let running: CollaborationServer | undefined;
  const start = (): Promise<CollaborationServer> => {
    starting ??= startServer(options).then((server) => {
      running = server;
      return server;
    });
    return starting;
  };
  const status = (): CollaborationStatus => running?.status ?? { rooms: 0, connections: 0 };
  if (deps.liveConnections instanceof LocalConnections) deps.liveConnections.status = status;
  return {
    upgrades: new Map([
      [
        "/collaboration/ws",
        async (request, socket, head) => {
          const server = running ?? (await start());
          server.handleUpgrade(request, socket, head);
        },
      ],
    ]),
    handleRequest: async (incoming, { routePath, query }) => {
      const { handleApiRequest } = await import("../lib/collaboration/api.ts");
      const { headers } = incoming;
      const { status, body } = handleApiRequest(running?.rooms, keys, {
        method: incoming.method ?? "GET",
        path: routePath,
        query: new URLSearchParams(query),
        headers,
      });
      if (status === 401 && headers.authorization !== undefined) {
        log.warn("a request to the collaboration API has a wrong key", { path: routePath });
        try {
          deps.throttle.pass(FAILED_AUTHENTICATION, incoming.socket.remoteAddress ?? "", {});
        } catch (thrown) {
          const error = toApiError(thrown);
          const body = JSON.stringify({ error: error.message });
          return { statusCode: ERROR_STATUS[error.code], headers: JSON_HEADERS, body };
        }
      }
      return { statusCode: status, headers: JSON_HEADERS, body: JSON.stringify(body) };
    },
    get status() {
      return status();
    },
    close: async () => {
      const server = await starting?.catch(() => undefined);
      await server?.close();
    },
  };
}

async function startServer({ deps, log, ...gateway }: CollaborationOptions): Promise<CollaborationServer> {
  const [{ CollaborationServer }, { countConnections }] = await Promise.all([
    import("../lib/collaboration/server.ts"),
    import("../lib/collaboration/api.ts"),
  ]);
  const { updateLogs, awarenessHub, liveRequests, collaborationKey, liveConnections } = deps;
  const server = new CollaborationServer({
    request: inProcessRequests(gateway),
    key: collaborationKey,
    storage: updateLogs,
    awarenessHub,
    accessWatch: liveRequests.access,
    isOriginAllowed: originCheck(deps),
    log,
  });
  if (liveConnections instanceof LocalConnections) {
    liveConnections.counter = (room, sessionKey) => countConnections(server.rooms, room, sessionKey);
  }
  return server;
}

/** COLLABORATION_SERVER_ORIGIN; without it, the origin of PUBLIC_URL and that of the server itself. */
function originCheck({
  publicUrl,
  documents: { collaborationServerOrigins: allowed },
}: CollaborationDeps): (origin: string, host: string | undefined) => boolean {
  if (allowed.length > 0) return (origin) => allowed.includes(origin);
  const own = publicUrl === undefined ? undefined : new URL(publicUrl).origin;
  // The gateway accepts known hosts only. A proxy may speak HTTPS to the browser.
  return (origin, host) => origin === own || URL.parse(origin)?.host === host;
}
