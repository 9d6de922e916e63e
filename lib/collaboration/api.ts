import { hash, timingSafeEqual } from "node:crypto";
import type { Connection } from "@hocuspocus/server";
import { CHANGES_HEADER } from "../documents/connections/live-connections.ts";
import { CLOSE } from "./close-codes.ts";
import type { RoomContext, Rooms, Session } from "./rooms.ts";

/** A request to the API of the collaboration server. */
export interface ApiRequest {
  readonly method: string;
  /** Without the query and without a slash at the end. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

export interface ApiResponse {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

const FORBIDDEN: ApiResponse = { status: 403, body: { error: "Forbidden" } };
const NO_ROOM: ApiResponse = { status: 400, body: { error: "Room name not provided" } };

/**
 * The API that the document service of the reference calls. `keys` are COLLABORATION_SERVER_SECRET and
 * Y_PROVIDER_API_KEY. Reference: live-and-web 3.
 */
export function handleApiRequest(
  rooms: Rooms | undefined,
  keys: readonly string[],
  request: ApiRequest,
): ApiResponse {
  const handle = HANDLERS.get(`${request.method} ${request.path}`);
  if (handle === undefined) return FORBIDDEN;
  return unauthorized(keys, request.headers.authorization) ?? handle(rooms, request);
}

type Handle = (rooms: Rooms | undefined, request: ApiRequest) => ApiResponse;

const HANDLERS: ReadonlyMap<string, Handle> = new Map([
  ["POST /collaboration/api/reset-connections", resetConnections],
  ["GET /collaboration/api/get-connections", getConnections],
]);

/** The response to a request without one of the keys. */
export function unauthorized(
  keys: readonly string[],
  header: ApiRequest["headers"][string],
): ApiResponse | undefined {
  if (typeof header !== "string" || header === "") return refusal("Unauthorized: No credentials given");
  const sent = digest(header.replace(/^Bearer +/i, ""));
  // All keys are compared, each in constant time.
  const known = keys.filter((key) => timingSafeEqual(digest(key), sent));
  return known.length === 0 ? refusal("Unauthorized: Invalid API Key") : undefined;
}

const refusal = (error: string): ApiResponse => ({ status: 401, body: { error } });
const digest = (text: string): Buffer => hash("sha256", text, "buffer");

/**
 * Closes the sockets of a room, or those of the user in the header X-User-Id: a provider whose room alone was closed
 * would not reconnect. A change of access that can be read in the change feed closes only those that it concerns.
 */
function resetConnections(rooms: Rooms | undefined, { query, headers }: ApiRequest): ApiResponse {
  const room = query.get("room");
  if (!room) return NO_ROOM;
  const { "x-user-id": userId, [CHANGES_HEADER]: isFollowed } = headers;
  if (isFollowed !== undefined) return { status: 200, body: { message: "Access is checked" } };
  for (const { connection, session } of [...(rooms?.connections(room) ?? [])])
    if (userId === undefined || session.access.user?.id === userId)
      (connection.context as RoomContext).socket.close(CLOSE.reset);
  return { status: 200, body: { message: "Connections reset" } };
}

/** Counts the connections of a room that may write; `exists` if one belongs to the session. */
export function countConnections(
  rooms: Rooms,
  room: string,
  sessionKey: string,
): { readonly count: number; readonly exists: boolean } {
  const writable = [...rooms.connections(room)].filter(({ connection }) => !connection.readOnly);
  return { count: writable.length, exists: writable.some((one) => keyOf(one) === sessionKey) };
}

/** The session cookie, or what a ticket was issued for: as the document service identifies callers. */
function keyOf({ connection, session }: { connection: Connection; session: Session }): string | undefined {
  const { handshake } = (connection.context as RoomContext).socket;
  const { credentials } = session.access;
  if (handshake.sessionKey !== undefined || credentials.kind !== "redeemed") return handshake.sessionKey;
  return credentials.credential ?? "anonymous";
}

function getConnections(rooms: Rooms | undefined, { query }: ApiRequest): ApiResponse {
  const room = query.get("room");
  if (!room) return NO_ROOM;
  const sessionKey = query.get("sessionKey");
  if (!sessionKey) return { status: 400, body: { error: "Session key not provided" } };
  if (rooms?.documents.has(room) !== true) return { status: 404, body: { error: "Room not found" } };
  return { status: 200, body: countConnections(rooms, room, sessionKey) };
}
