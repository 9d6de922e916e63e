import type { Configuration } from "openid-client";
import type { Authenticator } from "../../http/auth.ts";
import type { Principal } from "../../http/route.ts";
import type { ResourceServerSettings } from "../../settings/resource-server.ts";
import { identityOf } from "../users/oidc-tokens.ts";
import { resolveOidcUser } from "../users/oidc-users.ts";
import type { UserDeps } from "../users/users.ts";
import { CachedReading, providerUnavailable } from "./cached-reading.ts";
import { type MetadataDeps, openConfiguration } from "./oidc-metadata.ts";

type Deps = MetadataDeps & UserDeps;

/** Credential id of all introspected tokens: each request introspects its token again. */
const CREDENTIAL = "introspected";
const PRINTABLE = /^[!-~]+$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Authenticates requests by access tokens of the provider, which introspects them. Reference 1.16. */
export function resourceServerAuthenticator(deps: Deps, settings: ResourceServerSettings): Authenticator {
  const reading = new CachedReading(deps, () => readConfiguration(deps, settings));
  return {
    authenticate: async (token) => {
      const claims = await introspect(deps, await reading.get(), unwrapToken(token));
      return isAccepted(settings, claims, deps.clock.now()) ? principalOf(deps, settings, claims) : undefined;
    },
    isValid: async (id) => id === CREDENTIAL,
  };
}

type Claims = Readonly<Record<string, unknown>>;

async function readConfiguration(deps: Deps, settings: ResourceServerSettings): Promise<Configuration> {
  const { issuer, clientId, clientSecret, decryption, signAlgorithm, timeoutSeconds } = settings;
  const { configuration } = await openConfiguration(
    deps,
    {
      issuer,
      clientId,
      clientSecret,
      endpoints: { introspection_endpoint: settings.introspectionEndpoint, jwks_uri: settings.jwksEndpoint },
      // Keys verify signed responses, which are requested if they can be decrypted.
      required:
        decryption === undefined ? ["introspection_endpoint"] : ["introspection_endpoint", "jwks_uri"],
      timeoutSeconds,
    },
    decryption === undefined ? {} : { introspection_signed_response_alg: signAlgorithm },
  );
  if (decryption !== undefined) {
    const [{ enableDecryptingResponses }, { importPKCS8 }] = await Promise.all([
      import("openid-client"),
      import("jose"),
    ]);
    const key = await importPKCS8(decryption.privateKey, decryption.algorithm);
    enableDecryptingResponses(configuration, [decryption.encoding], {
      key,
      alg: decryption.algorithm,
      kid: decryption.keyId,
    });
  }
  return configuration;
}

/** Returns the token in base64 that some clients send, or else the token itself. */
function unwrapToken(token: string): string {
  if (!BASE64.test(token)) return token;
  const unwrapped = Buffer.from(token, "base64").toString("latin1");
  return PRINTABLE.test(unwrapped) ? unwrapped : token;
}

/** Throws `unavailable` if the provider does not respond as expected: the token may be valid. */
async function introspect({ log }: Deps, configuration: Configuration, token: string): Promise<Claims> {
  const { tokenIntrospection } = await import("openid-client");
  try {
    return await tokenIntrospection(configuration, token);
  } catch (error) {
    const { message, code } = error as { message?: unknown; code?: unknown };
    log.warn("introspecting an access token failed", { reason: String(message).slice(0, 500), code });
    throw providerUnavailable();
  }
}

/** Whether a token is active, of this issuer, for one of the audiences, and has the scopes. */
function isAccepted(
  { issuer, audienceClaim, audiences, scopes }: ResourceServerSettings,
  claims: Claims,
  now: number,
): boolean {
  const { active, iss, exp, scope } = claims;
  if (active !== true || (iss !== undefined && iss !== issuer)) return false;
  if (exp !== undefined && !(typeof exp === "number" && exp * 1000 > now)) return false;
  const given = Object.hasOwn(claims, audienceClaim) ? [claims[audienceClaim]].flat() : [];
  if (!given.some((audience) => typeof audience === "string" && audiences.includes(audience))) return false;
  const granted = typeof scope === "string" ? scope.split(" ") : [];
  return scopes.every((each) => granted.includes(each));
}

async function principalOf(
  deps: Deps,
  { users }: ResourceServerSettings,
  claims: Claims,
): Promise<Principal | undefined> {
  const identity = identityOf(claims, users);
  const user = identity && (await resolveOidcUser(deps, users, identity));
  if (user === undefined) return undefined;
  const { exp } = claims;
  const expiresAt = typeof exp === "number" ? exp * 1000 : undefined;
  return { kind: "user", id: user.id, scopes: ["documents"], credential: { id: CREDENTIAL, expiresAt } };
}
