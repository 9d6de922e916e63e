import * as jose from "jose";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CookieBrowser } from "#lib/testing/test-cookie-browser.ts";
import { ADA, LOGGED_OUT, type OidcLoginTest, openOidcLogin } from "#lib/testing/test-oidc-login.ts";
import { browserHeaders, signIn } from "#lib/testing/test-sessions.ts";

let login: OidcLoginTest;
beforeEach(async () => {
  login = await openOidcLogin();
});
afterEach(() => login[Symbol.asyncDispose]());
const reopen = async (settings: Readonly<Record<string, string>>): Promise<void> => {
  await login[Symbol.asyncDispose]();
  login = await openOidcLogin(settings);
};

describe("a logout", () => {
  /** Sends the form of the provider's page. */
  async function confirm(page: { readonly url: string; readonly text: string }) {
    const field = (name: string): string =>
      new RegExp(`name="${name}" value="([^"]*)"`).exec(page.text)?.[1] ?? "";
    const action = /action="([^"]*)"/.exec(page.text)?.[1] ?? "";
    const body = new URLSearchParams({ xsrf: field("xsrf"), logout: "yes" });
    return login.browser.request(new URL(action, page.url), { method: "POST", body });
  }

  it("ends the session here and at the provider, and returns", async () => {
    await login.logIn();
    const begun = await login.browser.request(login.at("/logout/"));
    expect(Object.fromEntries(begun.location?.searchParams ?? [])).toEqual({
      client_id: "weft",
      id_token_hint: expect.stringMatching(/^ey/),
      post_logout_redirect_uri: login.at("/logout-callback/"),
      state: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect((await login.me()).status).toBe(401);
    const page = await login.browser.visit(begun.location ?? "");
    const confirmed = await confirm(page);
    expect(confirmed.location?.href).toMatch(login.at("/logout-callback/?state="));
    expect(login.targetOf(await login.browser.request(confirmed.location ?? ""))).toBe(LOGGED_OUT);
    // The provider has ended its session too.
    login.provider.signIn(undefined);
    expect((await login.browser.visit(login.at("/authenticate/"))).text).toBe("Sign in");
  });

  it("deletes the cookies of the session", async () => {
    await login.logIn();
    const { headers } = await login.browser.request(login.at("/logout/"));
    const deleted = headers.getSetCookie().filter((cookie) => cookie.includes("Max-Age=0"));
    expect(deleted.map((cookie) => cookie.split("=", 1)[0])).toEqual(["docs_sessionid", "csrftoken"]);
  });

  it("is local without a session, without an ID token, without an endpoint, and while the provider does not respond", async () => {
    expect(login.targetOf(await login.browser.request(login.at("/logout/")))).toBe(LOGGED_OUT);
    const { headers } = await signIn(login.test.deps, undefined);
    const answer = await fetch(login.at("/logout/"), {
      headers: { cookie: headers["cookie"] ?? "" },
      redirect: "manual",
    });
    expect(answer.headers.get("location")).toBe(LOGGED_OUT);
    const me = await fetch(login.at("/users/me/"), { headers: { cookie: headers["cookie"] ?? "" } });
    expect(me.status).toBe(401);
    await reopen({ OIDC_STORE_ID_TOKEN: "false" });
    await login.logIn();
    expect(login.targetOf(await login.browser.request(login.at("/logout/")))).toBe(LOGGED_OUT);
    expect((await login.me()).status).toBe(401);
  });

  it("by POST requires this server as the origin; GET can be disabled", async () => {
    await reopen({ ALLOW_LOGOUT_GET_METHOD: "false" });
    await login.logIn();
    const { status, headers, text } = await login.browser.request(login.at("/logout/"));
    expect([status, headers.get("allow"), JSON.parse(text)]).toEqual([
      405,
      "POST",
      { detail: 'Method "GET" not allowed.' },
    ]);
    for (const origin of ["https://evil.example", "null", undefined]) {
      const init = { method: "POST", headers: origin === undefined ? {} : { origin } };
      expect((await login.browser.request(login.at("/logout/"), init)).status).toBe(403);
    }
    expect((await login.me()).status).toBe(200);
    const init = { method: "POST", headers: { origin: login.gateway.url } };
    expect((await login.browser.request(login.at("/logout/"), init)).location?.origin).toBe(
      login.provider.issuer,
    );
    expect((await login.me()).status).toBe(401);
  });

  it("callback requires a state of this browser, once", async () => {
    await login.logIn();
    const begun = await login.browser.request(login.at("/logout/"));
    const callback = login.at(`/logout-callback/?state=${begun.location?.searchParams.get("state")}`);
    for (const [url, browser] of [
      [login.at("/logout-callback/"), login.browser],
      [login.at("/logout-callback/?state=x"), login.browser],
      [callback, new CookieBrowser()],
    ] as const)
      expect((await browser.request(url)).status).toBe(400);
    expect(login.targetOf(await login.browser.request(callback))).toBe(LOGGED_OUT);
    expect((await login.browser.request(callback)).status).toBe(400);
  });
});

const EVENTS = { "http://schemas.openid.net/event/backchannel-logout": {} };
const TYPE = { typ: "logout+jwt" };
const send = async (body: string, headers: Readonly<Record<string, string>> = {}) => {
  const type = { "content-type": "application/x-www-form-urlencoded" };
  const answer = await fetch(login.at("/backchannel-logout/"), {
    method: "POST",
    body,
    headers: { ...type, ...headers },
  });
  const text = await answer.text();
  return {
    status: answer.status,
    cache: answer.headers.get("cache-control"),
    body: text === "" ? "" : JSON.parse(text),
  };
};
const sendToken = (token: string) => send(new URLSearchParams({ logout_token: token }).toString());
const sign = (
  claims: Readonly<Record<string, unknown>> = {},
  header: Readonly<Record<string, unknown>> = TYPE,
) => login.provider.sign({ sub: ADA.sub, jti: crypto.randomUUID(), events: EVENTS, ...claims }, header);
const now = (): number => Math.floor(Date.now() / 1000);

describe("a logout token", () => {
  it("of the provider ends its session here when the user logs out elsewhere", async () => {
    await login.logIn();
    const other = new CookieBrowser();
    await login.logIn("", other);
    const tokens = login.provider.requestsTo("/session/end/confirm");
    const page = await login.browser.visit(`${login.provider.issuer}/session/end`);
    const xsrf = /name="xsrf" value="([^"]*)"/.exec(page.text)?.[1] ?? "";
    await login.browser.request(`${login.provider.issuer}/session/end/confirm`, {
      method: "POST",
      body: new URLSearchParams({ xsrf, logout: "yes" }),
    });
    expect(login.provider.requestsTo("/session/end/confirm")).toBe(tokens + 1);
    expect((await login.me()).status).toBe(401);
    expect((await login.me(other)).status).toBe(200);
  });

  it("with sub ends all sessions of the user, and none of others", async () => {
    await login.logIn();
    const bob = new CookieBrowser();
    login.provider.signIn({ ...ADA, sub: "bob-1", email: "bob@example.com" });
    await login.logIn("", bob);
    expect(await sendToken(await sign())).toEqual({ status: 200, cache: "no-store", body: "" });
    expect((await login.me()).status).toBe(401);
    expect((await login.me(bob)).status).toBe(200);
  });

  it("is accepted once", async () => {
    const token = await sign();
    expect((await sendToken(token)).status).toBe(200);
    await login.logIn();
    expect((await sendToken(token)).body).toEqual({
      error: "invalid_request",
      error_description: "the logout token was used before",
    });
    expect((await login.me()).status).toBe(200);
  });

  const unsigned = async (): Promise<string> => {
    const claims = jose.decodeJwt(await sign());
    const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
    return `${encode({ alg: "none" })}.${encode(claims)}.`;
  };
  const foreignKey = async (): Promise<string> => {
    const { privateKey } = await jose.generateKeyPair("RS256");
    const claims = jose.decodeJwt(await sign());
    return new jose.SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: "key-1" }).sign(privateKey);
  };
  it.each<readonly [string, () => Promise<string>]>([
    ["of another key", foreignKey],
    ["with alg none", unsigned],
    ["of another issuer", () => sign({ iss: "https://evil.example" })],
    ["for another client", () => sign({ aud: "another" })],
    ["for nobody", () => sign({ aud: undefined })],
    ["without iat", () => sign({ iat: undefined })],
    ["that is old", () => sign({ iat: now() - 700, exp: undefined })],
    ["that is for later", () => sign({ iat: now() + 120 })],
    ["that has expired", () => sign({ exp: now() - 61 })],
    ["without jti", () => sign({ jti: undefined })],
    ["with an empty jti", () => sign({ jti: "" })],
    ["with a jti that is too long", () => sign({ jti: "x".repeat(256) })],
    ["without events", () => sign({ events: undefined })],
    ["with other events", () => sign({ events: { "https://example.org/other": {} } })],
    ["with events that are a list", () => sign({ events: Object.keys(EVENTS) })],
    ["with an event that is no object", () => sign({ events: { [Object.keys(EVENTS)[0] ?? ""]: true } })],
    ["with a nonce, like an ID token", () => sign({ nonce: "n" })],
    ["without sub and sid", () => sign({ sub: undefined })],
    ["with a sub that is no text", () => sign({ sub: undefined, sid: 7 })],
    ["of another type", () => sign({}, { typ: "at+jwt" })],
    ["that is not a token", async () => "x"],
    ["that is too long", async () => "x".repeat(20_000)],
  ])("%s is refused and ends nothing", async (_, make) => {
    await login.logIn();
    const { status, body, cache } = await sendToken(await make());
    expect([status, cache, body]).toEqual([
      400,
      "no-store",
      { error: "invalid_request", error_description: expect.stringMatching(/./) },
    ]);
    expect((await login.me()).status).toBe(200);
  });

  it("is required once", async () => {
    for (const body of ["", "logout_token", "logout_token=a&logout_token=b", "{}", "\u00ff", "%ff=%"])
      expect(await send(body)).toMatchObject({ status: 400, body: { error: "invalid_request" } });
  });

  it("is answered with 503 while the keys cannot be read, so that the provider repeats it", async () => {
    await login.begin();
    login.provider.respondWith("/jwks", (_incoming, outgoing) => outgoing.destroy());
    expect((await sendToken(await sign())).status).toBe(503);
  });
});

describe("a session that a login link began", () => {
  it("is not ended by a logout token", async () => {
    const { setCookies } = await signIn(login.test.deps, undefined);
    const { headers } = browserHeaders(setCookies);
    expect((await sendToken(await sign())).status).toBe(200);
    const me = await fetch(login.at("/users/me/"), { headers: { cookie: headers["cookie"] ?? "" } });
    expect(me.status).toBe(200);
  });
});
