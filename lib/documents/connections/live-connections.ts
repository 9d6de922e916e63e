import { randomUUID } from "node:crypto";
import type { Log } from "../../platform/log.ts";

/** Connections of a room that may write. Reference 4.2. */
export interface ConnectionCount {
  readonly count: number;
  /** One of them belongs to the session. */
  readonly exists: boolean;
}

export interface LiveStatus {
  readonly rooms: number;
  readonly connections: number;
}

/** What the document service asks of the collaboration server. */
export interface LiveConnections {
  count(document: string, sessionKey: string): Promise<ConnectionCount>;
  /** Reports that access to the document may have changed. */
  accessChanged(document: string): Promise<void>;
  /** Why editors cannot connect, and what to do, in one sentence; undefined if they can. */
  check(): Promise<string | undefined>;
  /** Of a server in this process. */
  readonly status?: (() => LiveStatus) | undefined;
}

/** Header that says that the change can be read as one of `GET /collaboration/changes`. */
export const CHANGES_HEADER = "x-weft-changes";

/** How a collaboration server finds the document service. */
export type BackendStatus = "ok" | "refused" | "unreachable";

const ADVICE: ReadonlyMap<string, string> = new Map<BackendStatus, string>([
  [
    "refused",
    "The document service refuses the key of the collaboration server: set the same Y_PROVIDER_API_KEY in both.",
  ],
  [
    "unreachable",
    "The collaboration server does not reach the document service: correct its COLLABORATION_BACKEND_BASE_URL.",
  ],
]);

const NONE: ConnectionCount = { count: 0, exists: false };
const TIMEOUT_MS = 10_000;
/** Readiness checks wait for it. */
const CHECK_MS = 1_500;

/** The collaboration server of this process. It reads changes of access itself. */
export class LocalConnections implements LiveConnections {
  /** Counts connections once the server has started. */
  counter: ((document: string, sessionKey: string) => ConnectionCount) | undefined;

  /** Open rooms and connections; undefined in a process without a server. */
  status: (() => LiveStatus) | undefined;

  async count(document: string, sessionKey: string): Promise<ConnectionCount> {
    return this.counter?.(document, sessionKey) ?? NONE;
  }

  async accessChanged(): Promise<void> {}

  async check(): Promise<undefined> {}
}

export interface CollaborationApi {
  /** `COLLABORATION_API_URL`. */
  readonly apiUrl: string;
  /** `COLLABORATION_SERVER_SECRET`. */
  readonly secret: string;
}

export interface RemoteConnectionsOptions extends CollaborationApi {
  readonly log: Log;
}

/**
 * A collaboration server of its own, by its API. Whatever it does not answer counts as no connection: an unreachable
 * server must not keep people from saving. Reference 4.2, 4.5.
 */
export function remoteConnections(options: RemoteConnectionsOptions): LiveConnections {
  const call = openApi(options);
  const { log } = options;
  return {
    count: async (document, sessionKey) => {
      try {
        const response = await call("GET", "get-connections/", { room: document, sessionKey });
        if (!response.ok) return NONE;
        const { count, exists } = (await response.json()) as Partial<ConnectionCount>;
        return { count: Number(count) || 0, exists: exists === true };
      } catch (error) {
        log.warn("the collaboration server could not be asked for its connections", { document, error });
        return NONE;
      }
    },
    // Its clients connect again, with their current access, unless the server follows the changes.
    accessChanged: async (document) => {
      const headers = { [CHANGES_HEADER]: "true" };
      await call("POST", "reset-connections/", { room: document }, { headers }).catch((error: unknown) =>
        log.warn("the collaboration server could not be asked to reset connections", { document, error }),
      );
    },
    check: () => checkCollaborationApi(options),
  };
}

/** Why a separate collaboration server does not work, and what to do, in one sentence; undefined if it works. */
export async function checkCollaborationApi(options: CollaborationApi): Promise<string | undefined> {
  const call = openApi(options);
  const ask = async (path: string, query = {}) => {
    const response = await call("GET", path, query, { timeoutMs: CHECK_MS });
    const body: unknown = await response.json().catch(() => undefined);
    return { status: response.status, body: (body ?? {}) as { backend?: unknown; error?: unknown } };
  };
  try {
    let { status, body } = await ask("status/");
    if (status === 200) return ADVICE.get(String(body.backend));
    // The server of the reference has no such endpoint.
    if (status !== 401)
      ({ status, body } = await ask("get-connections/", { room: randomUUID(), sessionKey: "-" }));
    if (status === 401)
      return "The collaboration server refuses COLLABORATION_SERVER_SECRET: set the same secret in both.";
    if (status === 200 || body.error === "Room not found") return undefined;
    return `COLLABORATION_API_URL responds with ${status}: set it to the URL of the collaboration server that ends with /collaboration/api/.`;
  } catch {
    return "The collaboration server at COLLABORATION_API_URL does not respond: start it with npx weft collaboration, or correct the URL.";
  }
}

interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
}

function openApi({ apiUrl, secret }: CollaborationApi) {
  const base = apiUrl.endsWith("/") ? apiUrl : `${apiUrl}/`;
  return async (
    method: string,
    path: string,
    query: Record<string, string>,
    { headers = {}, timeoutMs = TIMEOUT_MS }: CallOptions = {},
  ): Promise<Response> => {
    const url = new URL(path, base);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const signal = AbortSignal.timeout(timeoutMs);
    return fetch(url, { method, headers: { authorization: secret, ...headers }, signal, redirect: "error" });
  };
}
