import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import * as jose from "jose";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CookieBrowser } from "#lib/testing/test-cookie-browser.ts";
import { ADA, FAILED, type OidcLoginTest, openOidcLogin } from "#lib/testing/test-oidc-login.ts";
import { TEST_CLIENT_SECRET } from "#lib/testing/test-oidc-provider.ts";

const MINUTE_MS = 60_000;

let login: OidcLoginTest;
beforeEach(async () => {
  login = await openOidcLogin({ OIDC_REDIRECT_ALLOWED_HOSTS: "docs.example.org" });
});
afterEach(() => login[Symbol.asyncDispose]());

const reopen = async (settings: Readonly<Record<string, string>>): Promise<void> => {
  await login[Symbol.asyncDispose]();
  login = await openOidcLogin(settings);
};
/** Expects that nobody is signed in, and that the browser gets no error page of the server. */
async function expectRefused(target: string, browser = login.browser): Promise<void> {
  expect(target).toBe(FAILED);
  expect(browser.cookie(login.gateway.url, "docs_sessionid")).toBeUndefined();
  expect((await login.me(browser)).status).toBe(401);
}
const finish = async (url: string | URL, browser = login.browser): Promise<string> =>
  login.targetOf(await browser.request(url));

describe("next", () => {
  it.each([
    "https://evil.example/",
    "http://docs.example.org.evil.example/",
    "https://evil.example/docs.example.org",
    "https://docs.example.org@evil.example/",
    "https://docs.example.org:secret@docs.example.org/",
    "https://docs.example.org:8443/",
    "https://evil.example#@docs.example.org/",
    "https://evil.example\\@docs.example.org/",
    "//evil.example/",
    "///evil.example/",
    "/\\evil.example/",
    "\\\\evil.example/",
    "/\t/evil.example/",
    "\t//evil.example/",
    " https://evil.example/",
    "https:evil.example",
    "https:/evil.example",
    "https:///evil.example",
    "http:\\\\evil.example",
    "/.//evil.example/",
    "/x/..//evil.example/",
    "/%2e//evil.example/",
    "/x/%2E%2e//evil.example/",
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "java\nscript:alert(1)",
    "data:text/html,x",
    "ftp://docs.example.org/",
    "blob:https://docs.example.org/x",
    "evil.example",
    "?x",
    "#x",
    ".",
    "\0/",
    "/\u2028/",
    "https://docs。example.org.evil.example/",
    "https://[::ffff:1.2.3.4]/",
    "https://",
    `/${"x".repeat(2000)}`,
  ])("%j is refused by name, and nothing is stored", async (next) => {
    const visited = await login.browser.request(login.at(`/authenticate/?${new URLSearchParams({ next })}`));
    expect([visited.status, Object.keys(JSON.parse(visited.text))]).toEqual([400, ["next"]]);
    expect(visited.headers.getSetCookie()).toEqual([]);
  });

  it.each(["/a//b", "/a?next=https://evil.example/", "/a/../b", "/%2F%2Fevil.example", "/@evil.example"])(
    "%j stays on this server",
    async (next) => {
      const target = new URL(await login.logIn(`?${new URLSearchParams({ next })}`), login.gateway.url);
      expect(target.origin).toBe(login.gateway.url);
    },
  );

  it("must begin with https:// if a setting requires it", async () => {
    await reopen({ OIDC_REDIRECT_ALLOWED_HOSTS: "docs.example.org", OIDC_REDIRECT_REQUIRE_HTTPS: "true" });
    const refused = await login.browser.request(login.at("/authenticate/?next=http://docs.example.org/"));
    expect(JSON.parse(refused.text)).toEqual({ next: ["Must begin with https://."] });
    expect(await login.logIn("?next=https://docs.example.org/")).toBe("https://docs.example.org/");
  });
});

describe("a callback is refused", () => {
  it("if it was used before", async () => {
    const callback = await login.approve();
    expect(await finish(callback)).toBe("/");
    const tokens = login.provider.requestsTo("/token");
    expect(await finish(callback)).toBe(FAILED);
    expect(login.provider.requestsTo("/token")).toBe(tokens);
  });

  it("if it is sent twice at once", async () => {
    const callback = await login.approve();
    const targets = await Promise.all([finish(callback), finish(callback), finish(callback)]);
    expect(targets.toSorted()).toEqual(["/", FAILED, FAILED]);
    expect(login.provider.requestsTo("/token")).toBe(1);
  });

  it("if the code was used for another state", async () => {
    const [first, second] = [await login.approve(), await login.approve()];
    await finish(first);
    second.searchParams.set("code", first.searchParams.get("code") ?? "");
    expect(await finish(second)).toBe(FAILED);
  });

  it("in a browser that did not begin the login (login CSRF), and still works in the one that did", async () => {
    const callback = await login.approve();
    const victim = new CookieBrowser();
    await expectRefused(await finish(callback, victim), victim);
    await login.begin("", victim);
    await expectRefused(await finish(callback, victim), victim);
    expect(await finish(callback)).toBe("/");
  });

  it("after ten minutes", async () => {
    const callback = await login.approve();
    login.clock.advance(10 * MINUTE_MS);
    await expectRefused(await finish(callback));
  });

  it.each([
    ["without a state", (url: URL) => url.searchParams.delete("state")],
    ["with an empty state", (url: URL) => url.searchParams.set("state", "")],
    ["with another state", (url: URL) => url.searchParams.set("state", "x".repeat(43))],
    ["without a code", (url: URL) => url.searchParams.delete("code")],
    ["with another code", (url: URL) => url.searchParams.set("code", "x")],
    ["of another issuer (mix-up)", (url: URL) => url.searchParams.set("iss", "https://evil.example")],
    ["without an issuer, which the provider announces", (url: URL) => url.searchParams.delete("iss")],
    ["with an error", (url: URL) => url.searchParams.set("error", "access_denied")],
  ])("%s", async (_, change) => {
    const callback = await login.approve();
    change(callback);
    await expectRefused(await finish(callback));
  });

  it("with a parameter that is too long, by name", async () => {
    const { status, text } = await login.browser.request(login.at(`/callback/?state=${"x".repeat(5000)}`));
    expect([status, Object.keys(JSON.parse(text))]).toEqual([400, ["state"]]);
  });

  it("if the code verifier is not the one of the login", async () => {
    const [first, second] = [await login.approve(), await login.approve()];
    const [one, other] = [first.searchParams.get("code"), second.searchParams.get("code")];
    first.searchParams.set("code", other ?? "");
    second.searchParams.set("code", one ?? "");
    await expectRefused(await finish(first));
    await expectRefused(await finish(second));
    expect(login.reasons().every((reason) => reason.includes("invalid_grant"))).toBe(true);
  });
});

type Claims = Readonly<Record<string, unknown>>;
/** Lets the provider return this ID token instead of its own. */
function returnIdToken(make: (claims: Claims) => string | Promise<string>): Promise<string> {
  return login.begin().then(async (request) => {
    const claims = { sub: ADA.sub, nonce: request.searchParams.get("nonce") };
    login.provider.respondWith("/token", async (_incoming, outgoing) => {
      outgoing.setHeader("content-type", "application/json");
      const id_token = await make(claims);
      outgoing.end(JSON.stringify({ access_token: "a", token_type: "Bearer", id_token }));
    });
    login.provider.respondWith("/me", (_incoming, outgoing) => {
      outgoing.setHeader("content-type", "application/json");
      outgoing.end(JSON.stringify(ADA));
    });
    const callback = new URL(login.at("/callback/"));
    const { issuer } = login.provider;
    const state = request.searchParams.get("state") ?? "";
    callback.search = new URLSearchParams({ code: "c", state, iss: issuer }).toString();
    return finish(callback);
  });
}
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const now = (): number => Math.floor(Date.now() / 1000);
const sign = (claims: Claims, header?: Claims): Promise<string> => login.provider.sign(claims, header);
const unsigned = (claims: Claims): string => {
  const all = { iss: login.provider.issuer, aud: "weft", iat: now(), exp: now() + 300, ...claims };
  return `${encode({ alg: "none" })}.${encode(all)}.`;
};

describe("an ID token", () => {
  it("that is valid signs in", async () => {
    expect(await returnIdToken((claims) => sign(claims))).toBe("/");
  });

  const foreignKey = async (claims: Claims): Promise<string> => {
    const { privateKey } = await jose.generateKeyPair("RS256");
    const all = { iss: login.provider.issuer, aud: "weft", iat: now(), exp: now() + 300, ...claims };
    return new jose.SignJWT(all).setProtectedHeader({ alg: "RS256", kid: "key-1" }).sign(privateKey);
  };
  const hmac = (claims: Claims): Promise<string> => {
    const all = { iss: login.provider.issuer, aud: "weft", iat: now(), exp: now() + 300, ...claims };
    return new jose.SignJWT(all)
      .setProtectedHeader({ alg: "HS256", kid: "key-1" })
      .sign(Buffer.from(TEST_CLIENT_SECRET.padEnd(32, "x")));
  };
  it.each<readonly [string, (claims: Claims) => string | Promise<string>]>([
    ["with another nonce", (claims) => sign({ ...claims, nonce: "another" })],
    ["without a nonce", (claims) => sign({ ...claims, nonce: undefined })],
    ["for another client", (claims) => sign({ ...claims, aud: "another" })],
    ["for several clients", (claims) => sign({ ...claims, aud: ["weft", "another"] })],
    ["of another issuer", (claims) => sign({ ...claims, iss: "https://evil.example" })],
    ["that has expired", (claims) => sign({ ...claims, exp: now() - 120 })],
    ["without an expiry", (claims) => sign({ ...claims, exp: undefined })],
    ["without a sub", (claims) => sign({ ...claims, sub: undefined })],
    ["of another user than userinfo", (claims) => sign({ ...claims, sub: "bob-1" })],
    ["with alg none", unsigned],
    ["of another key", foreignKey],
    ["signed with a shared secret", hmac],
    ["of an unknown key", (claims) => sign(claims, { kid: "key-9" })],
    ["that is not a token", () => "x"],
    ["that is missing", () => undefined as unknown as string],
  ])("%s is refused", async (_, make) => {
    await expectRefused(await returnIdToken(make));
    expect(login.reasons()).toHaveLength(1);
    expect(JSON.stringify(login.test.logs)).not.toMatch(/eyJ|the-client-secret/);
  });
});

/** Writes until the reader stops. */
async function writeEndlessly(outgoing: ServerResponse): Promise<void> {
  outgoing.writeHead(200, { "content-type": "application/json" });
  outgoing.on("error", () => {});
  const chunk = Buffer.alloc(64 * 1024, 0x20);
  while (!outgoing.destroyed)
    if (!outgoing.write(chunk)) await Promise.race([once(outgoing, "drain"), once(outgoing, "close")]);
}

describe("a provider whose response", () => {
  type Respond = (incoming: IncomingMessage, outgoing: ServerResponse) => unknown;
  const responses: readonly (readonly [string, Respond])[] = [
    ["never comes", () => {}],
    [
      "never ends",
      (_, outgoing) => outgoing.writeHead(200, { "content-type": "application/json" }).write("{"),
    ],
    ["is endless", (_, outgoing) => writeEndlessly(outgoing)],
    ["is no JSON", (_, outgoing) => outgoing.end("<html>")],
    [
      "is not the expected JSON",
      (_, outgoing) => outgoing.setHeader("content-type", "application/json").end("[]"),
    ],
    ["redirects", (_, outgoing) => outgoing.writeHead(302, { location: "/elsewhere" }).end()],
    ["is an error", (_, outgoing) => outgoing.writeHead(500).end("out of order")],
    ["is cut off", (_, outgoing) => outgoing.destroy()],
  ];

  it.each(responses)("%s at the token and userinfo endpoints lets the login fail", async (_, respond) => {
    for (const path of ["/token", "/me"]) {
      const callback = await login.approve();
      login.provider.respondWith(path, respond);
      await expectRefused(await finish(callback));
      login.provider.respondWith(path, undefined);
    }
    expect(login.provider.requestsTo("/elsewhere")).toBe(0);
    expect(await login.logIn()).toBe("/");
  });

  it.each(responses)("%s at discovery gets a 503, and a login works soon after", async (_, respond) => {
    const path = "/.well-known/openid-configuration";
    login.provider.respondWith(path, respond);
    for (let count = 0; count < 3; count += 1)
      expect((await login.browser.request(login.at("/authenticate/"))).status).toBe(503);
    expect(login.provider.requestsTo(path)).toBe(1);
    login.provider.respondWith(path, undefined);
    login.clock.advance(5_000);
    expect(await login.logIn()).toBe("/");
  });

  it.each([
    ["another issuer", { issuer: "https://evil.example" }],
    ["an endpoint without encryption on another host", { token_endpoint: "http://evil.example/token" }],
    ["an endpoint at a metadata address", { jwks_uri: "http://169.254.169.254/" }],
    ["an endpoint that is no URL", { authorization_endpoint: "javascript:alert(1)" }],
    ["no token endpoint", { token_endpoint: undefined }],
  ])("names %s at discovery gets a 503", async (_, changed) => {
    const path = "/.well-known/openid-configuration";
    const valid = (await (await fetch(`${login.provider.issuer}${path}`)).json()) as object;
    login.provider.respondWith(path, (_incoming, outgoing) =>
      outgoing.setHeader("content-type", "application/json").end(JSON.stringify({ ...valid, ...changed })),
    );
    expect((await login.browser.request(login.at("/authenticate/"))).status).toBe(503);
  });
});
