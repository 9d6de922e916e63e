import { describe, expect, it } from "vitest";
import { readConfig } from "./config.ts";

const LOGIN = { OIDC_OP_URL: "https://login.example.org", OIDC_RP_CLIENT_ID: "weft" };

describe("settings of the login", () => {
  it("are complete with an issuer and a client id, and missing ones are named", () => {
    const { login } = readConfig(LOGIN).documents;
    expect(login.client).toMatchObject({
      clientId: "weft",
      clientSecret: undefined,
      scope: "openid email",
      signAlgorithm: "RS256",
      usesNonce: true,
      usesPkce: true,
      verifierLength: 64,
    });
    expect(readConfig({}).documents.login).toMatchObject({
      client: undefined,
      missing: ["OIDC_OP_URL", "OIDC_RP_CLIENT_ID"],
    });
  });

  it.each(["http://localhost:8080", "http://127.0.0.1:8080", "http://[::1]:8080"])(
    "permit %s without encryption",
    (issuer) => {
      expect(readConfig({ ...LOGIN, OIDC_OP_URL: issuer }).documents.login.client?.issuer).toBe(issuer);
    },
  );

  it.each<readonly [Readonly<Record<string, string>>, string]>([
    [{ OIDC_OP_URL: "http://login.example.org" }, "OIDC_OP_URL: must begin with https://"],
    [{ OIDC_OP_URL: "http://127.0.0.1.example.org" }, "OIDC_OP_URL: must begin with https://"],
    [{ OIDC_OP_TOKEN_ENDPOINT: "http://x/token" }, "OIDC_OP_TOKEN_ENDPOINT: must begin with https://"],
    [{ OIDC_OP_USER_ENDPOINT: "javascript:x" }, "OIDC_OP_USER_ENDPOINT: must be a URL"],
    [{ OIDC_RP_SCOPES: "email" }, "OIDC_RP_SCOPES: must be scopes"],
    [{ OIDC_RP_SIGN_ALGO: "HS256" }, "OIDC_RP_SIGN_ALGO: must be RS256"],
    [{ OIDC_RP_SIGN_ALGO: "none" }, "OIDC_RP_SIGN_ALGO: must be RS256"],
    [{ OIDC_PKCE_CODE_CHALLENGE_METHOD: "plain" }, "OIDC_PKCE_CODE_CHALLENGE_METHOD: must be S256"],
    [{ OIDC_PKCE_CODE_VERIFIER_SIZE: "42" }, "OIDC_PKCE_CODE_VERIFIER_SIZE: must be"],
    [{ OIDC_AUTH_REQUEST_EXTRA_PARAMS: "[]" }, "OIDC_AUTH_REQUEST_EXTRA_PARAMS: must be a JSON object"],
    [{ OIDC_AUTH_REQUEST_EXTRA_PARAMS: '{"a":1}' }, "OIDC_AUTH_REQUEST_EXTRA_PARAMS: must be a JSON object"],
    [{ OIDC_AUTH_REQUEST_EXTRA_PARAMS: '{"state":"x"}' }, "must not contain state"],
    [{ OIDC_AUTH_REQUEST_EXTRA_PARAMS: '{"redirect_uri":"x"}' }, "must not contain redirect_uri"],
    [{ OIDC_REDIRECT_ALLOWED_HOSTS: "https://x" }, "OIDC_REDIRECT_ALLOWED_HOSTS: must be host names"],
    [{ OIDC_REDIRECT_ALLOWED_HOSTS: "*" }, "OIDC_REDIRECT_ALLOWED_HOSTS: must be host names"],
    [{ LOGIN_REDIRECT_URL: "//evil.example" }, "LOGIN_REDIRECT_URL: must be a URL, or a path"],
    [
      { LOGIN_REDIRECT_URL_FAILURE: "/\\evil.example" },
      "LOGIN_REDIRECT_URL_FAILURE: must be a URL, or a path",
    ],
    [{ LOGOUT_REDIRECT_URL: "javascript:alert(1)" }, "LOGOUT_REDIRECT_URL: must be a URL"],
    [{ OIDC_VERIFY_SSL: "false" }, "OIDC_VERIFY_SSL: certificates are always verified"],
    [
      { OIDC_STORE_ACCESS_TOKEN: "true" },
      "OIDC_STORE_ACCESS_TOKEN: access tokens of the provider are not stored",
    ],
    [{ OIDC_STORE_REFRESH_TOKEN_KEY: "k" }, "OIDC_STORE_REFRESH_TOKEN_KEY: refresh tokens"],
    [{ OIDC_PROXY: "http://proxy" }, "OIDC_PROXY: proxies are not supported"],
    [{ OIDC_CALLBACK_CLASS: "a.b" }, "OIDC_CALLBACK_CLASS: classes of Python have no effect"],
    [{ DOCUMENT_SETTINGS: '{"OIDC_RP_CLIENT_SECRET":"x"}' }, "not secrets; remove OIDC_RP_CLIENT_SECRET"],
    [
      { DOCUMENT_SETTINGS: '{"OIDC_VERIFY_SSL":"false"}' },
      "OIDC_VERIFY_SSL: certificates are always verified",
    ],
  ])("that are invalid or have no effect stop the start (%j)", (given, said) => {
    expect(() => readConfig({ ...LOGIN, ...given })).toThrow(said);
  });

  it("that state the only possible value are accepted", () => {
    const same = {
      OIDC_VERIFY_SSL: "True",
      OIDC_STORE_ACCESS_TOKEN: "false",
      OIDC_OP_USER_ENDPOINT_FORMAT: "AUTO",
    };
    expect(() => readConfig({ ...LOGIN, ...same })).not.toThrow();
  });

  it("hide the client secrets in logs", () => {
    const { secrets } = readConfig({ OIDC_RP_CLIENT_SECRET: "one", OIDC_RS_CLIENT_SECRET: "two" }).documents;
    expect(secrets).toEqual(expect.arrayContaining(["one", "two"]));
  });
});
