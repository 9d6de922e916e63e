import type { Authenticator, SessionAuthenticator } from "../../http/auth.ts";
import type { Principal } from "../../http/route.ts";
import type { Ports } from "../../platform/ports.ts";
import type { SessionSettings } from "../../settings/document-config.ts";
import {
  type StoredSession,
  sessionEntriesTable,
  sessionKey,
  sessionsOfUser,
  sessionsTable,
} from "../tables/sessions.ts";
import { userKey, usersTable } from "../tables/users.ts";
import { OWNER_ID } from "../users/users.ts";
import { hashSessionId, SESSION_COOKIE } from "./session-id.ts";

type Deps = Pick<Ports, "tables" | "clock" | "log">;

/** The use of a session is recorded at most this often, milliseconds. */
const RECORD_INTERVAL_MS = 60_000;

/** Authenticates requests by the session cookie, and records when a session was used. */
export function createSessionAuthenticator(deps: Deps, settings: SessionSettings): SessionAuthenticator {
  return {
    cookieName: SESSION_COOKIE,
    authenticate: async (sessionId) => {
      const hash = hashSessionId(sessionId);
      const session = hash === undefined ? undefined : await deps.tables.get(sessionsTable, sessionKey(hash));
      if (session === undefined || isEnded(session, deps.clock)) return undefined;
      const user = await deps.tables.get(usersTable, userKey(session.user));
      if (user?.is_active !== true) return undefined;
      await recordUse(deps, settings, session);
      return principalOf(session);
    },
  };
}

/** Whether a session has been idle too long, or has reached its maximum age. */
export const isEnded = (
  { expires_at, ends_at }: Pick<StoredSession, "expires_at" | "ends_at">,
  clock: Ports["clock"],
): boolean => Math.min(Date.parse(expires_at), Date.parse(ends_at)) <= clock.now();

/**
 * The owner's session authenticates the installation's owner if it includes the workflow service; otherwise it
 * authenticates the owner's account, like any user's, within its scopes.
 */
function principalOf({ id, user, scopes, ends_at }: StoredSession): Principal {
  const credential = { id: `${CREDENTIAL_PREFIX}${user}/${id}`, expiresAt: Date.parse(ends_at) };
  return user === OWNER_ID && scopes.includes("automation")
    ? { kind: "owner", id: "owner", credential }
    : { kind: "user", id: user, scopes, credential };
}

async function recordUse(
  { tables, clock, log }: Deps,
  { idleMs }: SessionSettings,
  { pk, sk, id, last_used_at, ends_at }: StoredSession,
): Promise<void> {
  const now = clock.now();
  if (now - Date.parse(last_used_at) < Math.min(RECORD_INTERVAL_MS, idleMs / 10)) return;
  const set = {
    last_used_at: new Date(now).toISOString(),
    expires_at: new Date(Math.min(now + idleMs, Date.parse(ends_at))).toISOString(),
  };
  // One of several concurrent requests writes, and none recreates a session that has just ended.
  await tables
    .update(sessionsTable, { pk, sk }, { set }, [["last_used_at", "=", last_used_at]])
    .catch((error: unknown) => log.warn("recording the use of a session failed", { session: id, error }));
}

const CREDENTIAL_PREFIX = "session:";

/** The user and the public id of the session of a credential; undefined for other kinds of credentials. */
export function sessionOfCredential(
  credentialId: string | undefined,
): { readonly user: string; readonly id: string } | undefined {
  if (credentialId?.startsWith(CREDENTIAL_PREFIX) !== true) return undefined;
  const [user = "", id = ""] = credentialId.slice(CREDENTIAL_PREFIX.length).split("/", 2);
  return { user, id };
}

/** Adds the credentials of sessions to those that an authenticator knows. */
export function withSessionCredentials(auth: Authenticator, deps: Deps): Authenticator {
  return {
    authenticate: (token, scope) => auth.authenticate(token, scope),
    isValid: async (credentialId) => {
      const session = sessionOfCredential(credentialId);
      return session === undefined ? auth.isValid(credentialId) : isSessionValid(deps, session);
    },
  };
}

async function isSessionValid(
  { tables, clock }: Deps,
  { user, id }: { readonly user: string; readonly id: string },
): Promise<boolean> {
  const entry = await tables.get(sessionEntriesTable, { pk: sessionsOfUser(user), sk: id });
  const session = entry && (await tables.get(sessionsTable, sessionKey(entry.hash)));
  return session !== undefined && !isEnded(session, clock);
}
