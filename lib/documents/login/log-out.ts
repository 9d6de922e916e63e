import { ApiError } from "../../errors.ts";
import type { RequestInfo } from "../../http/route.ts";
import type { LoginDeps } from "./begin-login.ts";
import { endpointUrl } from "./endpoint-url.ts";
import { createLoginState, useLoginState } from "./login-states.ts";
import { openProvider } from "./oidc-provider.ts";
import { endSession, findSession } from "./sessions.ts";

/**
 * Ends the session with this secret id. Returns where the browser is sent: to the provider, which ends its own session
 * and sends the browser back to `logout-callback/`, or else to LOGOUT_REDIRECT_URL. Reference 1.15.
 */
export async function logOut(
  deps: LoginDeps,
  request: Pick<RequestInfo, "address">,
  browser: string,
  sessionId: string | undefined,
): Promise<URL | string> {
  const { login } = deps.documents;
  if (sessionId === undefined) return login.logoutUrl;
  const found = await findSession(deps, sessionId);
  // Here the session ends in any case: the user may not come back from the provider.
  await endSession(deps, sessionId);
  if (found?.idToken === undefined || login.client === undefined) return login.logoutUrl;
  const provider = await openProvider(deps).catch(() => undefined);
  if (provider?.endSessionEndpoint === undefined) return login.logoutUrl;
  const { buildEndSessionUrl } = await import("openid-client");
  return buildEndSessionUrl(provider.configuration, {
    id_token_hint: found.idToken,
    state: await createLoginState(deps, "logout", browser),
    post_logout_redirect_uri: endpointUrl(request, "logout-callback/").href,
  });
}

/** Returns where a logout at the provider leads to. Throws `bad_request` for a `state` that is not this browser's. */
export async function finishLogout(
  deps: LoginDeps,
  browser: string | undefined,
  state: string | undefined,
): Promise<string> {
  if ((await useLoginState(deps, "logout", browser, state)) === undefined)
    throw new ApiError("bad_request", "The state is unknown, expired or used.");
  return deps.documents.login.logoutUrl;
}
