import { hash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import * as jose from "jose";
import { Provider } from "oidc-provider";
import { CookieBrowser } from "./test-cookie-browser.ts";
import { releaseKeyPair, takeKeyPair } from "./test-keys.ts";

/** A person with an account at the provider. */
export interface TestAccount {
  readonly sub: string;
  readonly [claim: string]: unknown;
}

type Respond = (incoming: IncomingMessage, outgoing: ServerResponse) => unknown;

/** A real OpenID Connect provider on the loopback address, for tests. */
export interface TestOidcProvider extends AsyncDisposable {
  readonly issuer: string;
  readonly settings: Readonly<Record<string, string>>;
  /** Registers Weft at this URL as the client. */
  register(url: string): void;
  /** Who signs in when the login page is shown; nobody by default. */
  signIn(account: TestAccount | undefined): void;
  /** Replaces the response of a path. */
  respondWith(path: string, respond: Respond | undefined): void;
  /** Signs with the provider's key, with valid claims overridden by these; `undefined` removes a claim. */
  sign(
    claims: Readonly<Record<string, unknown>>,
    header?: Readonly<Record<string, unknown>>,
  ): Promise<string>;
  /** An access token of the other program for who signs in. */
  accessToken(scope?: string): Promise<string>;
  /** Number of requests to a path. */
  requestsTo(path: string): number;
}

export const TEST_CLIENT_ID = "weft";
export const TEST_CLIENT_SECRET = "the-client-secret-of-tests";
const TOKEN_LIFE_S = 300;

export async function startTestOidcProvider(): Promise<TestOidcProvider> {
  const pair = await takeKeyPair("RS256");
  const { privateKey } = pair;
  const jwk = { ...(await jose.exportJWK(privateKey)), kid: "key-1", alg: "RS256", use: "sig" };
  const accounts = new Map<string, TestAccount>();
  const responses = new Map<string, Respond>();
  const counts = new Map<string, number>();
  let signingIn: TestAccount | undefined;
  let provider: Provider | undefined;

  const server = createServer((incoming, outgoing) => {
    const path = new URL(incoming.url ?? "/", "http://provider").pathname;
    counts.set(path, (counts.get(path) ?? 0) + 1);
    const respond = responses.get(path);
    if (respond !== undefined) return void respond(incoming, outgoing);
    if (provider === undefined) return void outgoing.writeHead(503).end();
    if (!path.startsWith("/interaction/")) return void provider.callback()(incoming, outgoing);
    if (signingIn === undefined) return void outgoing.end("Sign in");
    void provider.interactionFinished(incoming, outgoing, { login: { accountId: signingIn.sub } });
  }).listen(0, "127.0.0.1");
  await new Promise<void>((resolve) => server.once("listening", () => resolve()));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    issuer,
    settings: {
      OIDC_OP_URL: issuer,
      OIDC_RP_CLIENT_ID: TEST_CLIENT_ID,
      OIDC_RP_CLIENT_SECRET: TEST_CLIENT_SECRET,
      OIDC_RP_SCOPES: "openid email profile",
      OIDC_TIMEOUT: "1",
    },
    register: (url) => {
      provider = new Provider(issuer, configurationFor(`${url}/api/v1.0`, jwk, accounts));
    },
    signIn: (account) => {
      signingIn = account;
      if (account !== undefined) accounts.set(account.sub, account);
    },
    respondWith: (path, respond) => {
      if (respond === undefined) responses.delete(path);
      else responses.set(path, respond);
    },
    sign: (claims, header = {}) => {
      const now = Math.floor(Date.now() / 1000);
      const valid = { iss: issuer, aud: TEST_CLIENT_ID, iat: now, exp: now + TOKEN_LIFE_S };
      return new jose.SignJWT({ ...valid, ...claims })
        .setProtectedHeader({ alg: "RS256", kid: "key-1", ...header })
        .sign(privateKey);
    },
    accessToken: async (scope = "openid email profile") => {
      const verifier = "v".repeat(43);
      const challenge = hash("sha256", verifier, "base64url");
      const request = {
        client_id: TEST_APP,
        response_type: "code",
        redirect_uri: APP_CALLBACK,
        scope,
        code_challenge: challenge,
        code_challenge_method: "S256",
      };
      const browser = new CookieBrowser();
      const { location } = await browser.visit(
        `${issuer}/auth?${new URLSearchParams(request)}`,
        (visited) => visited.location?.href.startsWith(APP_CALLBACK) === true,
      );
      const response = await fetch(`${issuer}/token`, {
        method: "POST",
        body: new URLSearchParams({
          client_id: TEST_APP,
          grant_type: "authorization_code",
          code: location?.searchParams.get("code") ?? "",
          redirect_uri: APP_CALLBACK,
          code_verifier: verifier,
        }),
      });
      const { access_token } = (await response.json()) as { access_token?: unknown };
      if (typeof access_token !== "string") throw new Error("the provider returned no access token");
      return access_token;
    },
    requestsTo: (path) => counts.get(path) ?? 0,
    [Symbol.asyncDispose]: async () => {
      releaseKeyPair("RS256", pair);
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** Another program, with whose access tokens users call the external API. */
export const TEST_APP = "app";
const APP_CALLBACK = "http://127.0.0.1:1/callback";
const INTROSPECTING_CLIENT = {
  client_secret: TEST_CLIENT_SECRET,
  token_endpoint_auth_method: "client_secret_post",
  redirect_uris: [],
  response_types: [],
  grant_types: [],
};

interface Context {
  readonly oidc: {
    readonly client: { readonly clientId: string };
    readonly session: { readonly accountId: string; grantIdFor(client: string): string | undefined };
    readonly provider: Provider;
  };
  body: string;
}

function configurationFor(
  service: string,
  jwk: jose.JWK,
  accounts: ReadonlyMap<string, TestAccount>,
): Readonly<Record<string, unknown>> {
  return {
    clients: [
      {
        client_id: TEST_CLIENT_ID,
        client_secret: TEST_CLIENT_SECRET,
        token_endpoint_auth_method: "client_secret_post",
        redirect_uris: [`${service}/callback/`],
        post_logout_redirect_uris: [`${service}/logout-callback/`],
        backchannel_logout_uri: `${service}/backchannel-logout/`,
        backchannel_logout_session_required: true,
      },
      {
        client_id: TEST_APP,
        token_endpoint_auth_method: "none",
        redirect_uris: [APP_CALLBACK],
      },
      {
        ...INTROSPECTING_CLIENT,
        client_id: "introspects-json",
      },
      {
        ...INTROSPECTING_CLIENT,
        client_id: "introspects-jwt",
        jwks_uri: `${service}/jwks`,
        introspection_signed_response_alg: "RS256",
        introspection_encrypted_response_alg: "RSA-OAEP",
        introspection_encrypted_response_enc: "A256GCM",
      },
    ],
    jwks: { keys: [jwk] },
    cookies: { keys: ["a key of tests"] },
    claims: {
      openid: ["sub", "sid"],
      email: ["email", "email_verified"],
      profile: ["first_name", "last_name"],
    },
    scopes: ["openid", "email", "profile"],
    ttl: {
      AccessToken: 300,
      AuthorizationCode: 60,
      Grant: 300,
      IdToken: 300,
      Interaction: 300,
      Session: 300,
    },
    features: {
      devInteractions: { enabled: false },
      introspection: { enabled: true, allowedPolicy: () => true },
      jwtIntrospection: { enabled: true },
      encryption: { enabled: true },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (context: Context, form: string) => {
          context.body = form;
        },
      },
    },
    // Its own dispatcher refuses loopback addresses.
    fetch: (url: string, { dispatcher: _, ...options }: RequestInit & { readonly dispatcher?: unknown }) =>
      fetch(url, options),
    interactions: { url: (_context: Context, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_context: Context, sub: string) => {
      const account = accounts.get(sub);
      return account === undefined ? undefined : { accountId: sub, claims: () => account };
    },
    // Everybody has consented. Codes of one session belong to one grant.
    loadExistingGrant: async ({ oidc }: Context) => {
      const known = oidc.session.grantIdFor(oidc.client.clientId);
      if (known !== undefined) return oidc.provider.Grant.find(known);
      const grant = new oidc.provider.Grant({
        clientId: oidc.client.clientId,
        accountId: oidc.session.accountId,
      });
      grant.addOIDCScope("openid email profile");
      await grant.save();
      return grant;
    },
  };
}
