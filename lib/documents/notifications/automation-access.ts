import { readAll } from "../../events/read-all.ts";
import type { Ports } from "../../platform/ports.ts";
import { isEnded } from "../login/session-authenticator.ts";
import { sessionEntriesTable, sessionKey, sessionsOfUser, sessionsTable } from "../tables/sessions.ts";
import { accessTokensTable, TOKEN_ENTRIES, tokenEntriesTable, tokenKey } from "../tables/users.ts";
import { OWNER_ID } from "../users/users.ts";

export type AutomationDeps = Pick<Ports, "tables" | "clock">;

/**
 * Whether a user may see runs: the owner of the installation, and everybody who has a valid token or session for the
 * workflow service.
 */
export async function mayUseAutomation(deps: AutomationDeps, user: string): Promise<boolean> {
  return user === OWNER_ID || (await hasSession(deps, user)) || (await hasToken(deps, user));
}

async function hasSession(deps: AutomationDeps, user: string): Promise<boolean> {
  const entries = await readAll(deps, sessionEntriesTable, { pk: sessionsOfUser(user) });
  const sessions = await deps.tables.batchGet(
    sessionsTable,
    entries.map(({ hash }) => sessionKey(hash)),
  );
  return sessions.some((session) => session.scopes.includes("automation") && !isEnded(session, deps.clock));
}

async function hasToken(deps: AutomationDeps, user: string): Promise<boolean> {
  const entries = await readAll(deps, tokenEntriesTable, { pk: TOKEN_ENTRIES });
  const tokens = await deps.tables.batchGet(
    accessTokensTable,
    entries.map(({ hash }) => tokenKey(hash)),
  );
  return tokens.some(
    ({ user: of, scopes, expires_at }) =>
      of === user &&
      scopes.includes("automation") &&
      (expires_at === null || Date.parse(expires_at) > deps.clock.now()),
  );
}
