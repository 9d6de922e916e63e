import type { RequestInfo } from "../../http/route.ts";
import type { StoredUser } from "../tables/users.ts";
import { identityOf } from "../users/oidc-tokens.ts";
import { resolveOidcUser } from "../users/oidc-users.ts";
import { type LoginDeps, loginSecrets } from "./begin-login.ts";
import { endpointUrl } from "./endpoint-url.ts";
import { useLoginState } from "./login-states.ts";
import { type OidcProvider, openProvider, requireClient } from "./oidc-provider.ts";

/** Parameters with which the provider sends the browser back. RFC 6749, 4.1.2; RFC 9207. */
export interface CallbackParameters {
  readonly code?: string | undefined;
  readonly state?: string | undefined;
  readonly iss?: string | undefined;
  readonly error?: string | undefined;
  readonly error_description?: string | undefined;
}

/** What a login leads to; without a user it failed. */
export interface FinishedLogin {
  /** A URL, or a path of this server. */
  readonly location: string;
  readonly login?: OidcLogin;
}

/** A login that the provider confirmed. */
export interface OidcLogin {
  readonly user: StoredUser;
  readonly issuer: string;
  /** Undefined if it is not to be stored. */
  readonly idToken: string | undefined;
  /** The `sub` and `sid` claims. */
  readonly oidcSubject: string;
  readonly oidcSessionId: string | undefined;
}

const SID_MAX_LENGTH = 255;

/**
 * Finishes a login after the provider has sent the browser back. A failure leads to LOGIN_REDIRECT_URL_FAILURE, one of a
 * silent login to its `next`; the log has the reason. Throws `not_found` if login is not configured. Reference 1.15.
 */
export async function finishLogin(
  deps: LoginDeps,
  request: Pick<RequestInfo, "address">,
  browser: string | undefined,
  parameters: CallbackParameters,
): Promise<FinishedLogin> {
  requireClient(deps);
  const { failureUrl, redirectUrl } = deps.documents.login;
  const state = await useLoginState(deps, "login", browser, parameters.state);
  if (state === undefined || browser === undefined || parameters.state === undefined) {
    deps.log.warn("a login failed", { reason: "the state is unknown, expired, used, or of another browser" });
    return { location: failureUrl };
  }
  const location = state.next ?? redirectUrl;
  try {
    const provider = await openProvider(deps);
    const redirectUri = endpointUrl(request, "callback/");
    return { location, login: await exchangeCode(deps, provider, redirectUri, browser, parameters) };
  } catch (error) {
    if (state.is_silent === true) return { location };
    deps.log.warn("a login failed", reasonOf(error));
    return { location: failureUrl };
  }
}

/** A login that is refused although the provider confirmed it. */
class LoginRefusedError extends Error {}

async function exchangeCode(
  deps: LoginDeps,
  provider: OidcProvider,
  redirectUri: URL,
  browser: string,
  parameters: CallbackParameters,
): Promise<OidcLogin> {
  const { authorizationCodeGrant, fetchUserInfo } = await import("openid-client");
  const { client, configuration } = provider;
  const state = parameters.state ?? "";
  const current = new URL(redirectUri);
  for (const [name, value] of Object.entries(parameters))
    if (typeof value === "string") current.searchParams.set(name, value);
  const { nonce, verifier } = loginSecrets(provider, browser, state);
  const tokens = await authorizationCodeGrant(configuration, current, {
    expectedState: state,
    idTokenExpected: true,
    ...(nonce === undefined ? {} : { expectedNonce: nonce }),
    ...(verifier === undefined ? {} : { pkceCodeVerifier: verifier }),
  });
  const own = tokens.claims();
  if (own === undefined) throw new LoginRefusedError("the provider returned no ID token");
  const userinfo =
    provider.userinfoEndpoint === undefined
      ? {}
      : await fetchUserInfo(configuration, tokens.access_token, own.sub);
  const claims = mergeClaims(own, userinfo);
  const missing = client.essentialClaims.filter((name) => !isPresent(claims, name));
  if (missing.length > 0) throw new LoginRefusedError(`these claims are missing: ${missing.join(", ")}`);
  const identity = identityOf(claims, client.users);
  const user = identity && (await resolveOidcUser(deps, client.users, identity));
  if (user === undefined)
    throw new LoginRefusedError(
      "the user is inactive or may not be created, or the email address belongs to another user or to the owner",
    );
  const sid = own.sid;
  return {
    user,
    issuer: provider.issuer,
    idToken: client.storesIdToken ? tokens.id_token : undefined,
    oidcSubject: own.sub,
    oidcSessionId: typeof sid === "string" && sid !== "" && sid.length <= SID_MAX_LENGTH ? sid : undefined,
  };
}

type Claims = Readonly<Record<string, unknown>>;

/** Claims of the userinfo response take precedence. Whether an address is verified is said by the one that states it. */
function mergeClaims(own: Claims, userinfo: Claims): Claims {
  const { email_verified, ...others } = own;
  if (Object.hasOwn(userinfo, "email")) return { ...others, ...userinfo };
  return { ...others, ...userinfo, email_verified };
}

const isPresent = (claims: Claims, name: string): boolean => {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
  return value !== undefined && value !== null && value !== "";
};

/** What the log may contain: no codes, tokens or responses. */
function reasonOf(error: unknown): { readonly reason: string; readonly code?: unknown } {
  if (error instanceof LoginRefusedError) return { reason: error.message };
  const { message, code, error: answered, cause } = error as Record<string, unknown>;
  const detail = (cause as { message?: unknown } | undefined)?.message;
  const parts = [message, answered, detail].filter((part) => typeof part === "string" && part !== "");
  return { reason: [...new Set(parts)].join(": ").slice(0, 500), ...(code === undefined ? {} : { code }) };
}
