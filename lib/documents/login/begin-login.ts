import type { RequestInfo } from "../../http/route.ts";
import type { Ports } from "../../platform/ports.ts";
import { endpointUrl } from "./endpoint-url.ts";
import { createLoginState, deriveSecret } from "./login-states.ts";
import { type OidcProvider, openProvider, type ProviderDeps, requireClient } from "./oidc-provider.ts";
import { checkRedirectTarget } from "./redirect-target.ts";

export type LoginDeps = ProviderDeps & Pick<Ports, "tables" | "clock" | "ids">;

export interface LoginRequest {
  readonly request: Pick<RequestInfo, "address">;
  /** The browser's secret. */
  readonly browser: string;
  readonly next: string | undefined;
  /** Without a prompt of the provider: succeeds only if the user has a session there. */
  readonly isSilent: boolean;
}

const NONCE_LENGTH = 43;

/**
 * Begins a login: returns the URL of the provider to which the browser is sent, or `next` for a silent login while the
 * provider does not respond. Throws `bad_request` for an invalid `next`, `not_found` if login is not configured,
 * `unavailable`. Reference 1.15.
 */
export async function beginLogin(deps: LoginDeps, login: LoginRequest): Promise<URL | string> {
  requireClient(deps);
  const { request, browser, isSilent } = login;
  const settings = deps.documents.login;
  const redirectUri = endpointUrl(request, "callback/");
  const next =
    login.next === undefined ? settings.redirectUrl : checkRedirectTarget(settings, redirectUri, login.next);
  let provider: OidcProvider;
  try {
    provider = await openProvider(deps);
  } catch (error) {
    if (isSilent) return next;
    throw error;
  }
  const fields = { next, ...(isSilent ? { is_silent: true as const } : {}) };
  const state = await createLoginState(deps, "login", browser, fields);
  const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await import("openid-client");
  const { nonce, verifier } = loginSecrets(provider, browser, state);
  return buildAuthorizationUrl(provider.configuration, {
    ...provider.client.extraParameters,
    redirect_uri: redirectUri.href,
    scope: provider.client.scope,
    state,
    ...(nonce === undefined ? {} : { nonce }),
    ...(verifier === undefined
      ? {}
      : { code_challenge: await calculatePKCECodeChallenge(verifier), code_challenge_method: "S256" }),
    ...(isSilent ? { prompt: "none" } : {}),
  });
}

/** The secrets that bind the provider's code and ID token to a login; undefined if the settings disable them. */
export function loginSecrets(
  { client }: Pick<OidcProvider, "client">,
  browser: string,
  state: string,
): { readonly nonce: string | undefined; readonly verifier: string | undefined } {
  return {
    nonce: client.usesNonce ? deriveSecret(browser, state, "nonce", NONCE_LENGTH) : undefined,
    verifier: client.usesPkce ? deriveSecret(browser, state, "verifier", client.verifierLength) : undefined,
  };
}
