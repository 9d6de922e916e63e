import { ApiError } from "../../errors.ts";
import type { LoginDeps } from "./begin-login.ts";
import { isLogoutTokenUsed, recordLogoutToken } from "./login-states.ts";
import { type OidcProvider, openProvider } from "./oidc-provider.ts";
import { endSessionsByOidc } from "./sessions.ts";

/** Characters. */
const TOKEN_MAX_LENGTH = 16_384;
const CLAIM_MAX_LENGTH = 255;
const EVENT = "http://schemas.openid.net/event/backchannel-logout";
const TYPES = /^(?:application\/)?(?:logout\+jwt|jwt)$/i;
/** A token is accepted for this time after `iat`, and remembered for as long as it could be accepted. */
const MAX_AGE_S = 600;
const CLOCK_TOLERANCE_S = 60;

/**
 * Ends the sessions that a logout token of the provider names by `sid`, or by `sub`. Throws `bad_request` for an invalid
 * or used token, `not_found` if login is not configured, `unavailable`. OpenID Connect Back-Channel Logout 1.0, 2.6.
 */
export async function logOutByToken(deps: LoginDeps, token: string | undefined): Promise<void> {
  const provider = await openProvider(deps);
  if (token === undefined || token.length > TOKEN_MAX_LENGTH)
    throw invalidRequest("logout_token is required, once, as a form field");
  const { jti, sub, sid } = await verifyLogoutToken(deps, provider, token);
  const { issuer } = provider;
  const id = JSON.stringify([issuer, jti]);
  if (await isLogoutTokenUsed(deps, id)) throw invalidRequest("the logout token was used before");
  await endSessionsByOidc(deps, issuer, { sub, sid });
  // Recorded last, so that the provider may repeat a request that failed.
  await recordLogoutToken(deps, id, MAX_AGE_S + 2 * CLOCK_TOLERANCE_S);
}

interface LogoutToken {
  readonly jti: string;
  readonly sub: string | undefined;
  readonly sid: string | undefined;
}

async function verifyLogoutToken(
  { clock }: Pick<LoginDeps, "clock">,
  { client, issuer, findKey }: OidcProvider,
  token: string,
): Promise<LogoutToken> {
  const { jwtVerify } = await import("jose");
  const verified = await jwtVerify(token, findKey, {
    issuer,
    audience: client.clientId,
    algorithms: [client.signAlgorithm],
    requiredClaims: ["iat", "jti", "events"],
    maxTokenAge: MAX_AGE_S,
    clockTolerance: CLOCK_TOLERANCE_S,
    currentDate: new Date(clock.now()),
  }).catch((error: unknown) => {
    if (error instanceof ApiError) throw error;
    throw invalidRequest("the logout token is invalid or expired");
  });
  const { payload, protectedHeader } = verified;
  if (!TYPES.test(protectedHeader.typ ?? "JWT"))
    throw invalidRequest("the type of the token is not logout+jwt");
  const { events } = payload;
  const event = isObject(events) && Object.hasOwn(events, EVENT) ? events[EVENT] : undefined;
  if (!isObject(event)) throw invalidRequest(`events must contain ${EVENT}`);
  // An ID token has a nonce: it must not be usable as a logout token.
  if (payload.nonce !== undefined) throw invalidRequest("a logout token must not contain nonce");
  const [jti, sub, sid] = [payload.jti, payload.sub, payload.sid].map(readClaim);
  if (jti === undefined) throw invalidRequest("jti must be a text");
  if (sub === undefined && sid === undefined) throw invalidRequest("the logout token requires sub or sid");
  return { jti, sub, sid };
}

function readClaim(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "string" && value !== "" && value.length <= CLAIM_MAX_LENGTH) return value;
  throw invalidRequest(`sub, sid and jti must have 1 to ${CLAIM_MAX_LENGTH} characters`);
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const invalidRequest = (description: string): ApiError =>
  new ApiError("bad_request", description, {
    body: { error: "invalid_request", error_description: description },
  });
