import type { ClientMetadata, Configuration, CustomFetch, ServerMetadata } from "openid-client";
import { createFetch } from "../../network/fetch-adapter.ts";
import { type Network, openNetwork } from "../../network/network.ts";
import type { Ports } from "../../platform/ports.ts";

export interface MetadataDeps extends Pick<Ports, "clock" | "log"> {
  readonly network: Pick<Network, "policy">;
}

type EndpointName =
  | "authorization_endpoint"
  | "token_endpoint"
  | "userinfo_endpoint"
  | "jwks_uri"
  | "end_session_endpoint"
  | "introspection_endpoint";

export interface MetadataSource {
  readonly issuer: string;
  readonly clientId: string;
  /** Undefined for a public client. */
  readonly clientSecret: string | undefined;
  /** Endpoints of the settings take precedence; undefined ones are discovered. */
  readonly endpoints: Readonly<Partial<Record<EndpointName, string | undefined>>>;
  readonly required: readonly EndpointName[];
  readonly timeoutSeconds: number;
}

const RESPONSE_MAX_BYTES = 256 * 1024;
/** Accepted clock difference. */
const CLOCK_TOLERANCE_S = 60;

/**
 * Opens a provider for a client: with the endpoints of the settings, and with those of its discovery document if a
 * required one is not set. Requests follow no redirects, end after the timeout, and never reach metadata addresses.
 * Throws an Error if the provider does not respond as expected.
 */
export async function openConfiguration(
  deps: MetadataDeps,
  source: MetadataSource,
  algorithms: Partial<ClientMetadata> & Pick<ServerMetadata, "userinfo_signing_alg_values_supported">,
): Promise<{ readonly server: ServerMetadata; readonly configuration: Configuration }> {
  const openid = await import("openid-client");
  const { clientId, clientSecret, timeoutSeconds } = source;
  const fetch = createProviderFetch(deps);
  const { userinfo_signing_alg_values_supported: userinfo, ...client } = algorithms;
  const server = {
    ...(userinfo === undefined ? {} : { userinfo_signing_alg_values_supported: userinfo }),
    ...(await readServer(openid, fetch, source)),
  };
  const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_post"];
  const isBasic = methods.includes("client_secret_basic") && !methods.includes("client_secret_post");
  const authentication =
    clientSecret === undefined
      ? openid.None()
      : isBasic
        ? openid.ClientSecretBasic(clientSecret)
        : openid.ClientSecretPost(clientSecret);
  const clock = {
    [openid.clockSkew]: Math.round((deps.clock.now() - Date.now()) / 1000),
    [openid.clockTolerance]: CLOCK_TOLERANCE_S,
  };
  const configuration = new openid.Configuration(server, clientId, { ...client, ...clock }, authentication);
  configuration[openid.customFetch] = fetch;
  configuration.timeout = timeoutSeconds;
  // Signatures are verified although tokens come directly from the provider.
  openid.enableNonRepudiationChecks(configuration);
  if (endpointsOf(server).some(isInsecure)) openid.allowInsecureRequests(configuration);
  return { server, configuration };
}

async function readServer(
  openid: typeof import("openid-client"),
  fetch: CustomFetch,
  { issuer, clientId, endpoints, required, timeoutSeconds }: MetadataSource,
): Promise<ServerMetadata> {
  const isComplete = required.every((name) => endpoints[name] !== undefined);
  const discovered = isComplete
    ? { issuer }
    : (
        await openid.discovery(new URL(issuer), clientId, undefined, openid.None(), {
          [openid.customFetch]: fetch,
          timeout: timeoutSeconds,
          execute: isInsecure(issuer) ? [openid.allowInsecureRequests] : [],
        })
      ).serverMetadata();
  const own = Object.entries(endpoints).filter(([, url]) => url !== undefined);
  const server: ServerMetadata = { ...discovered, ...Object.fromEntries(own) };
  const missing = required.find((name) => typeof server[name] !== "string");
  if (missing !== undefined) throw new Error(`the discovery document has no ${missing}`);
  const exposed = endpointsOf(server).find(
    (url) => isInsecure(url) && !Object.values(endpoints).includes(url) && !isOnSameMachine(url, issuer),
  );
  if (exposed !== undefined)
    throw new Error(`the discovery document names an endpoint without encryption: ${exposed}`);
  return server;
}

const endpointsOf = (server: ServerMetadata): string[] =>
  [
    server.authorization_endpoint,
    server.token_endpoint,
    server.userinfo_endpoint,
    server.jwks_uri,
    server.end_session_endpoint,
    server.introspection_endpoint,
  ].filter((url) => url !== undefined);

/** Endpoints without encryption are those of a provider on this machine: the settings permit no other issuer. */
const isOnSameMachine = (url: string, issuer: string): boolean =>
  isInsecure(issuer) && URL.parse(url)?.hostname === new URL(issuer).hostname;

const isInsecure = (url: string): boolean => URL.parse(url)?.protocol !== "https:";

function createProviderFetch({ network }: Pick<MetadataDeps, "network">): CustomFetch {
  const { loopback } = network.policy;
  const limited = createFetch(openNetwork({ privateAddresses: "allow", loopback }), {
    maxBytes: RESPONSE_MAX_BYTES,
  });
  return (url, { body, signal, ...options }) =>
    limited(url, {
      ...options,
      ...(signal === undefined ? {} : { signal }),
      ...(body === undefined || body === null ? {} : { body: String(body) }),
    });
}
