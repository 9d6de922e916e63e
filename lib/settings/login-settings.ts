import type { Setting } from "./setting-types.ts";
import {
  boolean,
  integer,
  list,
  mapped,
  oneOf,
  type SettingType,
  text,
  url,
  validText,
} from "./setting-types.ts";

const URL_MAX = 2000;
const SECRET_MAX = 16_384;

export const endpoint = url({ without: ["username", "hash"], maxLength: URL_MAX });
const anyTarget = url({ without: ["username"], maxLength: URL_MAX, orPath: true });
/** A path that begins with two slashes would name another host. */
const urlOrPath: SettingType<string> = {
  parse: (value) => {
    if (/^\/[/\\]|[\s\p{Cc}]/u.test(value))
      throw new Error("must be a URL, or a path that begins with one slash");
    return anyTarget.parse(value);
  },
};
export const secret = text(SECRET_MAX);

const SCOPES = validText(
  (value) =>
    value.length <= 500 && /^[\x21\x23-\x5b\x5d-\x7e ]+$/.test(value) && value.split(/ +/).includes("openid"),
  "scopes separated by spaces, among them openid",
);

const HOST = /^(?:[a-z0-9_](?:[a-z0-9_.-]{0,252}[a-z0-9_])?|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;

const redirectHosts = mapped(
  list((host) => HOST.test(host), "host names, each with an optional port, separated by commas"),
  (hosts) => hosts.map((host) => host.toLowerCase()),
);

const PARAMETERS_MAX = 20;
const PARAMETER_MAX = 500;
/** Parameters of an authorization request that have settings of their own, or that change how the login works. */
const RESERVED_PARAMETERS: ReadonlySet<string> = new Set([
  "client_id",
  "code_challenge",
  "code_challenge_method",
  "nonce",
  "redirect_uri",
  "request",
  "request_uri",
  "response_mode",
  "response_type",
  "scope",
  "state",
]);

const extraParameters: SettingType<Readonly<Record<string, string>>> = {
  parse: (value) => {
    const parameters = parseObject(value);
    const entries = Object.entries(parameters ?? {});
    const isValid = ([name, each]: [string, unknown]): boolean =>
      /^[\w.-]{1,100}$/.test(name) && typeof each === "string" && each.length <= PARAMETER_MAX;
    if (parameters === undefined || entries.length > PARAMETERS_MAX || !entries.every(isValid))
      throw new Error('must be a JSON object of strings such as {"acr_values":"eidas1"}');
    const reserved = entries.find(([name]) => RESERVED_PARAMETERS.has(name))?.[0];
    if (reserved !== undefined) throw new Error(`must not contain ${reserved}, which Weft sets`);
    return parameters as Readonly<Record<string, string>>;
  },
};

function parseObject(value: string): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(value);
    return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)
      ? (parsed as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Asymmetric algorithms only. */
export const signAlgorithm = oneOf(
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
);

/** The settings of the login at an OpenID Connect provider. Reference: documents 1.15, 7.1. */
export const loginSettings = {
  OIDC_RP_CLIENT_ID: {
    type: text(255),
    description: "Client id of this installation at the OpenID Connect provider (OIDC_OP_URL); enables login",
  },
  OIDC_RP_CLIENT_SECRET: {
    type: secret,
    isSecret: true,
    description: "Client secret at the provider; without it this installation is a public client",
  },
  OIDC_OP_AUTHORIZATION_ENDPOINT: {
    type: endpoint,
    documentedDefault: "discovered",
    description: "Authorization endpoint of the provider",
  },
  OIDC_OP_TOKEN_ENDPOINT: {
    type: endpoint,
    documentedDefault: "discovered",
    description: "Token endpoint of the provider",
  },
  OIDC_OP_USER_ENDPOINT: {
    type: endpoint,
    documentedDefault: "discovered",
    description: "Userinfo endpoint of the provider, whose response may be JSON or a signed JWT",
  },
  OIDC_OP_LOGOUT_ENDPOINT: {
    type: endpoint,
    documentedDefault: "discovered",
    description: "End-session endpoint of the provider",
  },
  OIDC_RP_SIGN_ALGO: {
    type: signAlgorithm,
    default: "RS256",
    description: "Algorithm with which the provider signs ID tokens and logout tokens",
  },
  OIDC_RP_SCOPES: {
    type: SCOPES,
    default: "openid email",
    description: "Requested scopes, separated by spaces",
  },
  OIDC_AUTH_REQUEST_EXTRA_PARAMS: {
    type: extraParameters,
    default: "{}",
    description: "Further parameters of the authorization request, as a JSON object of strings",
  },
  OIDC_USE_NONCE: {
    type: boolean,
    default: "true",
    description: "Whether ID tokens are bound to the login by a nonce",
  },
  OIDC_USE_PKCE: {
    type: boolean,
    default: "true",
    description: "Whether codes are bound to the login by PKCE (S256)",
  },
  OIDC_PKCE_CODE_CHALLENGE_METHOD: {
    type: oneOf("S256"),
    default: "S256",
    description: "Code challenge method of PKCE; `plain` is not supported",
  },
  OIDC_PKCE_CODE_VERIFIER_SIZE: {
    type: integer(43, 128),
    default: "64",
    description: "Length of the code verifier of PKCE",
  },
  OIDC_STORE_ID_TOKEN: {
    type: boolean,
    default: "true",
    description: "Whether the ID token is stored for the logout at the provider; if false, logout is local",
  },
  USER_OIDC_ESSENTIAL_CLAIMS: {
    type: list(),
    default: "",
    description: "Claims without which a login is refused, separated by commas",
  },
  LOGIN_REDIRECT_URL: {
    type: urlOrPath,
    default: "/",
    description: "URL or path to which a login without `next` leads",
  },
  LOGIN_REDIRECT_URL_FAILURE: {
    type: urlOrPath,
    default: "/",
    description: "URL or path to which a failed login leads",
  },
  LOGOUT_REDIRECT_URL: { type: urlOrPath, default: "/", description: "URL or path to which a logout leads" },
  ALLOW_LOGOUT_GET_METHOD: {
    type: boolean,
    default: "true",
    description: "Whether GET logout/ logs out too; otherwise only POST does",
  },
  OIDC_REDIRECT_ALLOWED_HOSTS: {
    type: redirectHosts,
    default: "",
    description: "Hosts besides this server's to which `next` of a login may lead, separated by commas",
  },
  OIDC_REDIRECT_REQUIRE_HTTPS: {
    type: boolean,
    default: "false",
    description: "Whether a URL in `next` must begin with https://",
  },
} satisfies Record<string, Setting>;

/** Settings of the compatible service that have no effect here, and what to do instead. Other values stop the start. */
export const UNSUPPORTED_SETTINGS: Readonly<
  Record<string, { readonly accepts?: string; readonly instead: string }>
> = {
  OIDC_VERIFY_SSL: {
    accepts: "true",
    instead:
      "certificates are always verified; to trust a private authority, set NODE_EXTRA_CA_CERTS to its certificate's file",
  },
  OIDC_STORE_ACCESS_TOKEN: {
    accepts: "false",
    instead: "access tokens of the provider are not stored; remove it",
  },
  OIDC_STORE_REFRESH_TOKEN: {
    accepts: "false",
    instead: "refresh tokens of the provider are not stored; remove it",
  },
  OIDC_STORE_REFRESH_TOKEN_KEY: { instead: "refresh tokens of the provider are not stored; remove it" },
  OIDC_OP_USER_ENDPOINT_FORMAT: {
    accepts: "auto",
    instead: "the content type of the response determines its format; remove it",
  },
  OIDC_PROXY: { instead: "proxies are not supported; remove it" },
  OIDC_AUTHENTICATE_CLASS: { instead: "classes of Python have no effect; remove it" },
  OIDC_CALLBACK_CLASS: { instead: "classes of Python have no effect; remove it" },
  OIDC_RS_BACKEND_CLASS: { instead: "classes of Python have no effect; remove it" },
};
