import { hash, timingSafeEqual } from "node:crypto";
import { ApiError } from "../errors.ts";
import { parseCookies } from "./cookies.ts";
import { requireCsrfToken } from "./csrf.ts";
import { requestOrigin } from "./request-origin.ts";
import { DEFAULT_CALLERS, type Principal, type Route } from "./route.ts";

/** Longest bearer token that is checked, characters. */
const TOKEN_MAX_LENGTH = 8192;

const FINGERPRINT_LENGTH = 6;

/** Hashes of the last tokens: several authenticators look at a token, and a client sends the same one again and again. */
const HASHED_MAX = 32;
const hashed = new Map<string, Buffer>();

/** SHA-256 of a token, which is stored in its place. */
export function hashToken(token: string): Buffer {
  // A map compares texts only if their hashes are equal, so its time does not tell how much of a token was guessed.
  const known = hashed.get(token);
  if (known !== undefined) return known;
  const found = hash("sha256", token, "buffer");
  if (hashed.size >= HASHED_MAX) hashed.clear();
  hashed.set(token, found);
  return found;
}

/** The token of an `Authorization: Bearer` header; the scheme in any case. Seed: workflow 5. */
export function bearerToken(header: string | undefined): string | undefined {
  if (header === undefined || header.length > TOKEN_MAX_LENGTH) return undefined;
  const match = /^bearer +([^\s]+) *$/i.exec(header);
  return match?.[1];
}

/** Authenticates requests by the token of their `Authorization` header. */
export interface Authenticator {
  /**
   * The principal of a token, or undefined. Some tokens are valid for one service only: `scope` is the `tokenScope` of
   * the requested one. The response time does not depend on how much of the owner's token was guessed.
   */
  authenticate(token: string, scope?: string): Promise<Principal | undefined>;
  /** Whether the token of this credential has not been revoked since. */
  isValid(credentialId: string): Promise<boolean>;
}

/** Authenticates requests by a session cookie. */
export interface SessionAuthenticator {
  readonly cookieName: string;
  /** The principal of a session, or undefined if the session does not exist or has ended. */
  authenticate(sessionId: string): Promise<Principal | undefined>;
}

/** Authenticates the installation's own token, of which only the hash is known. */
export function ownerAuthenticator(tokenHash: Buffer): Authenticator {
  // Too short to find a token by.
  const fingerprint = hash("sha256", tokenHash, "base64url").slice(0, FINGERPRINT_LENGTH);
  const credential = { id: `owner:${fingerprint}` };
  const owner: Principal = { kind: "owner", id: "owner", credential };
  return {
    authenticate: async (token) => (timingSafeEqual(hashToken(token), tokenHash) ? owner : undefined),
    isValid: async (id) => id === credential.id,
  };
}

export interface AuthenticationDeps {
  readonly auth: Authenticator;
  readonly sessions?: SessionAuthenticator | undefined;
  readonly publicUrl?: string | undefined;
}

/** The parts of a request that authenticate it. */
export interface Credentials {
  readonly method: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * The principal of a request; undefined for an anonymous one. An `Authorization` header takes precedence over a session
 * cookie. Throws `unauthorized` for missing or invalid credentials, `forbidden` for a principal that may not call the
 * route. Seed: workflow 5.2; reference: documents 1.0.
 */
export async function authenticateRequest(
  route: Pick<Route, "auth" | "callers" | "service">,
  credentials: Credentials,
  deps: AuthenticationDeps,
): Promise<Principal | undefined> {
  if (route.auth === "none") return undefined;
  const { headers } = credentials;
  const principal =
    headers.authorization === undefined
      ? await authenticateSession(credentials, deps)
      : await authenticateToken(headers.authorization, route, deps.auth);
  if (principal === undefined) {
    if (route.auth === "optional") return undefined;
    throw new ApiError("unauthorized", route.service.errorFormat.missingCredentials);
  }
  const { tokenScope } = route.service;
  if (tokenScope !== undefined && principal.scopes?.includes(tokenScope) === false)
    throw new ApiError(
      "forbidden",
      `The ${headers.authorization === undefined ? "session" : "token"} does not include the scope of this service`,
    );
  if (!(route.callers ?? DEFAULT_CALLERS).includes(principal.kind))
    throw new ApiError("forbidden", "This endpoint is not available to this kind of caller");
  return principal;
}

async function authenticateToken(
  header: string,
  { service }: Pick<Route, "service">,
  auth: Authenticator,
): Promise<Principal> {
  const token = bearerToken(header);
  const principal = token === undefined ? undefined : await auth.authenticate(token, service.tokenScope);
  if (principal === undefined) throw new ApiError("unauthorized", "Invalid token");
  return principal;
}

/** The origin of this server's pages, as browsers name it in the `Origin` header. */
export const ownOrigin = (headers: Readonly<Record<string, string>>, publicUrl: string | undefined): string =>
  new URL(publicUrl ?? requestOrigin(headers)).origin;

/**
 * Browsers add cookies to requests that other sites cause, so a request that may change something is accepted only with
 * an `Origin` header that names this server and with the session's CSRF token. A bearer token needs no such check: no
 * browser sends it by itself.
 */
async function authenticateSession(
  { method, headers }: Credentials,
  { sessions, publicUrl }: AuthenticationDeps,
): Promise<Principal | undefined> {
  if (sessions === undefined) return undefined;
  const sessionId = parseCookies(headers.cookie).get(sessions.cookieName);
  const principal = sessionId === undefined ? undefined : await sessions.authenticate(sessionId);
  if (sessionId === undefined || principal === undefined) return undefined;
  if (!SAFE_METHODS.has(method)) {
    const own = ownOrigin(headers, publicUrl);
    if (headers.origin === undefined || headers.origin !== own)
      throw new ApiError("forbidden", `A request with a session cookie requires the header Origin: ${own}`);
    requireCsrfToken(sessionId, headers);
  }
  return principal;
}
