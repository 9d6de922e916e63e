import { type OidcUserSettings, toOidcUserSettings } from "./oidc.ts";
import type { SettingValues } from "./settings.ts";

/** Endpoints of an OpenID Connect provider; undefined ones are discovered. */
export interface OidcEndpoints {
  readonly authorization: string | undefined;
  readonly token: string | undefined;
  readonly userinfo: string | undefined;
  readonly jwks: string | undefined;
  readonly endSession: string | undefined;
}

/** This installation as a client of an OpenID Connect provider. Reference: documents 1.15, 7.1. */
export interface OidcClientSettings {
  readonly issuer: string;
  readonly endpoints: OidcEndpoints;
  readonly clientId: string;
  /** Undefined for a public client. */
  readonly clientSecret: string | undefined;
  /** Of ID tokens and logout tokens. */
  readonly signAlgorithm: string;
  readonly scope: string;
  readonly extraParameters: Readonly<Record<string, string>>;
  readonly usesNonce: boolean;
  readonly usesPkce: boolean;
  /** Characters. */
  readonly verifierLength: number;
  readonly storesIdToken: boolean;
  readonly essentialClaims: readonly string[];
  readonly timeoutSeconds: number;
  readonly users: OidcUserSettings;
}

/** Login and logout in a browser. */
export interface LoginSettings {
  /** Undefined if there is no login at a provider. */
  readonly client: OidcClientSettings | undefined;
  /** The settings that are missing for it. */
  readonly missing: readonly string[];
  /** URLs or paths. */
  readonly redirectUrl: string;
  readonly failureUrl: string;
  readonly logoutUrl: string;
  readonly allowsLogoutByGet: boolean;
  /** Lower-case host names with an optional port, besides this server's. */
  readonly redirectHosts: readonly string[];
  readonly requiresHttps: boolean;
}

/** Throws an Error for an endpoint whose requests could be read on the network. */
export function toLoginSettings(values: SettingValues): LoginSettings {
  const { OIDC_OP_URL: issuer, OIDC_RP_CLIENT_ID: clientId } = values;
  const needed = { OIDC_OP_URL: issuer, OIDC_RP_CLIENT_ID: clientId };
  return {
    client: issuer === undefined || clientId === undefined ? undefined : toClient(values, issuer, clientId),
    missing: Object.entries(needed).flatMap(([name, value]) => (value === undefined ? [name] : [])),
    redirectUrl: values.LOGIN_REDIRECT_URL,
    failureUrl: values.LOGIN_REDIRECT_URL_FAILURE,
    logoutUrl: values.LOGOUT_REDIRECT_URL,
    allowsLogoutByGet: values.ALLOW_LOGOUT_GET_METHOD,
    redirectHosts: values.OIDC_REDIRECT_ALLOWED_HOSTS,
    requiresHttps: values.OIDC_REDIRECT_REQUIRE_HTTPS,
  };
}

type EndpointSetting = Extract<keyof SettingValues, `OIDC_OP_${string}`>;

/** Throws an Error for an endpoint whose requests could be read on the network. */
export function refuseExposedEndpoints(values: SettingValues, names: readonly EndpointSetting[]): void {
  const exposed = names.find((name) => {
    const value = values[name];
    return value !== undefined && !isConfidential(new URL(value));
  });
  if (exposed !== undefined)
    throw new Error(`${exposed}: must begin with https://, unless its host is a loopback address`);
}

function toClient(values: SettingValues, issuer: string, clientId: string): OidcClientSettings {
  refuseExposedEndpoints(values, [
    "OIDC_OP_URL",
    "OIDC_OP_AUTHORIZATION_ENDPOINT",
    "OIDC_OP_TOKEN_ENDPOINT",
    "OIDC_OP_USER_ENDPOINT",
    "OIDC_OP_JWKS_ENDPOINT",
    "OIDC_OP_LOGOUT_ENDPOINT",
  ]);
  return {
    issuer,
    endpoints: {
      authorization: values.OIDC_OP_AUTHORIZATION_ENDPOINT,
      token: values.OIDC_OP_TOKEN_ENDPOINT,
      userinfo: values.OIDC_OP_USER_ENDPOINT,
      jwks: values.OIDC_OP_JWKS_ENDPOINT,
      endSession: values.OIDC_OP_LOGOUT_ENDPOINT,
    },
    clientId,
    clientSecret: values.OIDC_RP_CLIENT_SECRET,
    signAlgorithm: values.OIDC_RP_SIGN_ALGO,
    scope: values.OIDC_RP_SCOPES,
    extraParameters: values.OIDC_AUTH_REQUEST_EXTRA_PARAMS,
    usesNonce: values.OIDC_USE_NONCE,
    usesPkce: values.OIDC_USE_PKCE,
    verifierLength: values.OIDC_PKCE_CODE_VERIFIER_SIZE,
    storesIdToken: values.OIDC_STORE_ID_TOKEN,
    essentialClaims: values.USER_OIDC_ESSENTIAL_CLAIMS,
    timeoutSeconds: values.OIDC_TIMEOUT,
    users: toOidcUserSettings(values),
  };
}

const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Whether requests to a URL are encrypted or stay on this machine. */
const isConfidential = ({ protocol, hostname }: URL): boolean =>
  protocol === "https:" || LOOPBACK_HOST.test(hostname);
