import type { JWTVerifyGetKey } from "jose";
import type { Configuration } from "openid-client";
import { ApiError } from "../../errors.ts";
import type { LoginSettings, OidcClientSettings } from "../../settings/oidc-login.ts";
import { createKeyResolver } from "../users/oidc-keys.ts";
import { CachedReading } from "./cached-reading.ts";
import { type MetadataDeps, openConfiguration } from "./oidc-metadata.ts";

export interface ProviderDeps extends MetadataDeps {
  readonly documents: { readonly login: LoginSettings };
}

/** The provider's endpoints and keys, for this client. */
export interface OidcProvider {
  /** The `iss` claim of its tokens. */
  readonly issuer: string;
  readonly client: OidcClientSettings;
  readonly configuration: Configuration;
  /** Undefined if the provider has no such endpoint. */
  readonly userinfoEndpoint: string | undefined;
  readonly endSessionEndpoint: string | undefined;
  readonly findKey: JWTVerifyGetKey;
}

/** By client, so that each installation in this process has its own. */
const providers = new WeakMap<OidcClientSettings, CachedReading<OidcProvider>>();

/** Returns the settings of the login. Throws `not_found` naming the missing settings. */
export function requireClient({ documents: { login } }: Pick<ProviderDeps, "documents">): OidcClientSettings {
  if (login.client !== undefined) return login.client;
  throw new ApiError("not_found", `Login is not configured: set ${login.missing.join(" and ")}.`);
}

/**
 * Opens the provider of the login. Throws `not_found` if login is not configured, and `unavailable` if the provider does
 * not respond as expected.
 */
export async function openProvider(deps: ProviderDeps): Promise<OidcProvider> {
  const client = requireClient(deps);
  const reading = providers.get(client) ?? new CachedReading(deps, () => readProvider(deps, client));
  providers.set(client, reading);
  return reading.get();
}

async function readProvider(deps: ProviderDeps, client: OidcClientSettings): Promise<OidcProvider> {
  const { issuer, clientId, clientSecret, endpoints, signAlgorithm, timeoutSeconds } = client;
  const { server, configuration } = await openConfiguration(
    deps,
    {
      issuer,
      clientId,
      clientSecret,
      endpoints: {
        authorization_endpoint: endpoints.authorization,
        token_endpoint: endpoints.token,
        userinfo_endpoint: endpoints.userinfo,
        jwks_uri: endpoints.jwks,
        end_session_endpoint: endpoints.endSession,
      },
      required: ["authorization_endpoint", "token_endpoint", "jwks_uri"],
      timeoutSeconds,
    },
    { id_token_signed_response_alg: signAlgorithm, userinfo_signing_alg_values_supported: [signAlgorithm] },
  );
  const keys = { jwksEndpoint: server.jwks_uri ?? "", timeoutMs: timeoutSeconds * 1000 };
  return {
    issuer: server.issuer,
    client,
    configuration,
    userinfoEndpoint: server.userinfo_endpoint,
    endSessionEndpoint: server.end_session_endpoint,
    findKey: createKeyResolver(keys, deps),
  };
}
