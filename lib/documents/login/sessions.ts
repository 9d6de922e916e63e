import { ApiError } from "../../errors.ts";
import { readAll } from "../../events/read-all.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Key, Write } from "../../platform/tables.ts";
import { credentialsEnded } from "../changes/change-log.ts";
import {
  EXPIRES,
  idTokenKey,
  idTokensTable,
  type StoredSession,
  sessionEntriesTable,
  sessionKey,
  sessionsOfProvider,
  sessionsOfUser,
  sessionsTable,
} from "../tables/sessions.ts";
import type { Scope, StoredUser } from "../tables/users.ts";
import { isEnded } from "./session-authenticator.ts";
import { type CookieDeps, type SessionRequest, sessionCookies } from "./session-cookies.ts";
import { createSessionId, hashSessionId } from "./session-id.ts";

type EndDeps = Pick<Ports, "tables" | "ids">;
export type SessionDeps = Pick<Ports, "tables" | "clock" | "ids"> & CookieDeps;

/** A login ends the least recently used session of a user who has more. */
const SESSIONS_PER_USER_MAX = 100;
/** Ended sessions that a login deletes at most. */
const SWEPT_MAX = 25;
/** Sessions that are read at once when they expire. The others are noticed within a minute. */
const EXPIRED_MAX = 1_000;
const USER_AGENT_MAX_LENGTH = 200;
/** Longest ID token that is stored, characters. A logout at the provider works without it. */
const ID_TOKEN_MAX_LENGTH = 16_384;
/** Services that a session gives access to unless its login says otherwise: workflows run programs. */
const DEFAULT_SCOPES: readonly Scope[] = ["documents"];

export interface SessionOptions {
  readonly request: SessionRequest;
  /** Default: documents only. */
  readonly scopes?: readonly Scope[];
  /** Ends with this login. */
  readonly previousSessionId?: string | undefined;
  /** Of the login at an OIDC provider. */
  readonly idToken?: string | undefined;
  readonly issuer?: string | undefined;
  /** The `sub` and `sid` claims, by which a backchannel logout names the session. */
  readonly oidcSubject?: string | undefined;
  readonly oidcSessionId?: string | undefined;
}

/**
 * Starts a session with a new secret id, of which only the hash is stored, and ends the previous one of the browser.
 * Returns the `Set-Cookie` headers. Throws `forbidden` for an inactive user.
 */
export async function startSession(
  deps: SessionDeps,
  user: StoredUser,
  options: SessionOptions,
): Promise<{ readonly id: string; readonly setCookies: string[] }> {
  if (!user.is_active) throw new ApiError("forbidden", "The user is not active");
  const { request, scopes = DEFAULT_SCOPES, previousSessionId, idToken } = options;
  const secret = createSessionId();
  const hash = hashSessionId(secret);
  if (hash === undefined) throw new Error("a new session id is invalid");
  const now = deps.clock.now();
  const { idleMs, maxMs } = deps.documents.sessions;
  const id = deps.ids.random();
  const session: StoredSession = {
    ...sessionKey(hash),
    id,
    user: user.id,
    scopes,
    created_at: new Date(now).toISOString(),
    last_used_at: new Date(now).toISOString(),
    expires_at: new Date(now + Math.min(idleMs, maxMs)).toISOString(),
    ends_at: new Date(now + maxMs).toISOString(),
    user_agent: (request.headers["user-agent"] ?? "").slice(0, USER_AGENT_MAX_LENGTH),
    partitions: providerPartitions(options),
    expires: EXPIRES,
  };
  const writes: Write[] = [
    { op: "put", table: sessionsTable, item: session },
    ...entryKeys(session).map(
      (key): Write => ({ op: "put", table: sessionEntriesTable, item: { ...key, hash } }),
    ),
  ];
  if (idToken !== undefined && idToken.length <= ID_TOKEN_MAX_LENGTH)
    writes.push({ op: "put", table: idTokensTable, item: { ...idTokenKey(hash), token: idToken } });
  if (previousSessionId !== undefined) await endSession(deps, previousSessionId);
  await endSurplusSessions(deps, user);
  await sweepSessions(deps);
  await deps.tables.write(writes);
  return { id, setCookies: sessionCookies(deps, request, secret) };
}

function providerPartitions({ issuer, oidcSubject, oidcSessionId }: SessionOptions): string[] {
  if (issuer === undefined) return [];
  return [
    ...(oidcSubject === undefined ? [] : [sessionsOfProvider("sub", issuer, oidcSubject)]),
    ...(oidcSessionId === undefined ? [] : [sessionsOfProvider("sid", issuer, oidcSessionId)]),
  ];
}

const entryKeys = ({ id, user, partitions }: StoredSession): Key[] =>
  [sessionsOfUser(user), ...partitions].map((pk) => ({ pk, sk: id }));

/** Ends the least recently used sessions of a user if there is no room for another. */
async function endSurplusSessions(deps: SessionDeps, { id }: StoredUser): Promise<void> {
  const sessions = await readSessions(deps, sessionsOfUser(id));
  await endSessions(deps, sessions.toSorted(byLastUse).slice(SESSIONS_PER_USER_MAX - 1));
}

const byLastUse = (one: StoredSession, other: StoredSession): number =>
  one.last_used_at === other.last_used_at ? 0 : one.last_used_at < other.last_used_at ? 1 : -1;

/** A session and the ID token of its login. */
export interface FoundSession {
  readonly session: StoredSession;
  readonly idToken: string | undefined;
}

/** Returns the session with this secret id; undefined if it does not exist or has ended. */
export async function findSession(
  { tables, clock }: Pick<Ports, "tables" | "clock">,
  sessionId: string,
): Promise<FoundSession | undefined> {
  const hash = hashSessionId(sessionId);
  if (hash === undefined) return undefined;
  const session = await tables.get(sessionsTable, sessionKey(hash));
  if (session === undefined || isEnded(session, clock)) return undefined;
  return { session, idToken: (await tables.get(idTokensTable, idTokenKey(hash)))?.token };
}

/** Returns the sessions of a user that have not ended, the most recently used first. */
export async function listSessions(
  deps: Pick<Ports, "tables" | "clock">,
  user: string,
): Promise<StoredSession[]> {
  const sessions = await readSessions(deps, sessionsOfUser(user));
  return sessions.filter((session) => !isEnded(session, deps.clock)).toSorted(byLastUse);
}

async function readSessions({ tables }: Pick<Ports, "tables">, partition: string): Promise<StoredSession[]> {
  const entries = await readAll({ tables }, sessionEntriesTable, { pk: partition });
  return tables.batchGet(
    sessionsTable,
    entries.map(({ hash }) => sessionKey(hash)),
  );
}

/** Ends the session with this secret id, if there is one. */
export async function endSession(deps: EndDeps, sessionId: string): Promise<void> {
  const hash = hashSessionId(sessionId);
  const session = hash === undefined ? undefined : await deps.tables.get(sessionsTable, sessionKey(hash));
  if (session !== undefined) await endSessions(deps, [session]);
}

/** Ends all sessions of a user, or all but one. Returns how many. */
export async function endSessionsOf(
  deps: EndDeps,
  user: Pick<StoredUser, "id">,
  options: { readonly exceptId?: string | undefined } = {},
): Promise<number> {
  const sessions = await readSessions(deps, sessionsOfUser(user.id));
  return endSessions(
    deps,
    sessions.filter(({ id }) => id !== options.exceptId),
  );
}

/** Ends one session of a user by its public id. Throws `not_found`. */
export async function endSessionOf(deps: EndDeps, user: Pick<StoredUser, "id">, id: string): Promise<void> {
  const entry = await deps.tables.get(sessionEntriesTable, { pk: sessionsOfUser(user.id), sk: id });
  const session = entry && (await deps.tables.get(sessionsTable, sessionKey(entry.hash)));
  if (session === undefined) throw new ApiError("not_found", "Session not found.");
  await endSessions(deps, [session]);
}

/**
 * Ends the sessions that a backchannel logout names: those of the provider's session, or of its subject if there is no
 * `sid`. Returns how many.
 */
export async function endSessionsByOidc(
  deps: EndDeps,
  issuer: string,
  { sub, sid }: { readonly sub?: string | undefined; readonly sid?: string | undefined },
): Promise<number> {
  const partition =
    sid === undefined
      ? sub && sessionsOfProvider("sub", issuer, sub)
      : sessionsOfProvider("sid", issuer, sid);
  return partition ? endSessions(deps, await readSessions(deps, partition)) : 0;
}

/**
 * Deletes some sessions that have ended, of any user. Each login does, and deletes more than it creates, so that no
 * scheduled function is needed.
 */
async function sweepSessions(deps: Pick<Ports, "tables" | "clock">): Promise<void> {
  const to = new Date(deps.clock.now()).toISOString();
  const { items } = await deps.tables.query(sessionsTable, {
    index: "expires",
    pk: EXPIRES,
    sk: { to },
    limit: SWEPT_MAX,
  });
  // The index may lag behind the table.
  const sessions = await deps.tables.batchGet(sessionsTable, items);
  await deleteSessions(
    deps,
    sessions.filter((session) => isEnded(session, deps.clock)),
  );
}

/** Deletes sessions, and reports it to the open connections of their users. */
const endSessions = (deps: EndDeps, sessions: readonly StoredSession[]): Promise<number> =>
  deleteSessions(deps, sessions, ({ user }) => credentialsEnded(deps, user));

async function deleteSessions(
  { tables }: Pick<Ports, "tables">,
  sessions: readonly StoredSession[],
  also: (session: StoredSession) => readonly Write[] = () => [],
): Promise<number> {
  await Promise.all(
    sessions.map((session) =>
      tables.write([
        { op: "delete", table: sessionsTable, key: sessionKey(session.pk) },
        { op: "delete", table: idTokensTable, key: idTokenKey(session.pk) },
        ...entryKeys(session).map((key): Write => ({ op: "delete", table: sessionEntriesTable, key })),
        ...also(session),
      ]),
    ),
  );
  return sessions.length;
}

/**
 * Users whose session has expired in a period, milliseconds: idle, or at its maximum age. They are read from an
 * index, because nothing is written when a session expires.
 */
export async function usersOfExpiredSessions(
  { tables }: Pick<Ports, "tables">,
  sinceMs: number,
  untilMs: number,
): Promise<readonly string[]> {
  const [from, to] = [sinceMs, untilMs].map((ms) => new Date(ms).toISOString());
  if (from === undefined || to === undefined || from >= to) return [];
  const { items } = await tables.query(sessionsTable, {
    index: "expires",
    pk: EXPIRES,
    sk: { from, to },
    limit: EXPIRED_MAX,
  });
  return [...new Set(items.map(({ user }) => user))];
}
