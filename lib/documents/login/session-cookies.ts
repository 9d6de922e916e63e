import { serializeCookie } from "../../http/cookies.ts";
import { CSRF_COOKIE, csrfToken } from "../../http/csrf.ts";
import { requestOrigin } from "../../http/request-origin.ts";
import type { SessionSettings } from "../../settings/document-config.ts";
import { SESSION_COOKIE } from "./session-id.ts";

export interface CookieDeps {
  readonly publicUrl?: string | undefined;
  readonly documents: { readonly sessions: SessionSettings };
}

/** A request as far as it matters to its session. */
export interface SessionRequest {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Returns the `Set-Cookie` headers of a new session: its secret id, which scripts cannot read, and the CSRF token, which
 * they can. Browsers keep both for the maximum age of a session, because use extends it only on the server.
 */
export function sessionCookies(deps: CookieDeps, request: SessionRequest, sessionId: string): string[] {
  const options = {
    isSecure: isHttps(deps, request),
    maxAgeSeconds: Math.floor(deps.documents.sessions.maxMs / 1000),
  };
  return [
    serializeCookie(SESSION_COOKIE, sessionId, options),
    serializeCookie(CSRF_COOKIE, csrfToken(sessionId), { ...options, isHttpOnly: false }),
  ];
}

/** Returns the `Set-Cookie` headers that delete both cookies. */
export function deletedSessionCookies(
  deps: Pick<CookieDeps, "publicUrl">,
  request: SessionRequest,
): string[] {
  const options = { isSecure: isHttps(deps, request), maxAgeSeconds: 0 };
  return [
    serializeCookie(SESSION_COOKIE, "", options),
    serializeCookie(CSRF_COOKIE, "", { ...options, isHttpOnly: false }),
  ];
}

const isHttps = ({ publicUrl }: Pick<CookieDeps, "publicUrl">, { headers }: SessionRequest): boolean =>
  new URL(publicUrl ?? requestOrigin(headers)).protocol === "https:";
