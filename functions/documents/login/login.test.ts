import { afterEach, describe, expect, it } from "vitest";
import { LOGIN_STATES, loginStatesTable } from "#lib/documents/tables/login-states.ts";
import { userKey, usersTable } from "#lib/documents/tables/users.ts";
import { planUser, usersByEmail } from "#lib/documents/users/users.ts";
import { CookieBrowser } from "#lib/testing/test-cookie-browser.ts";
import { testDeps } from "#lib/testing/test-deps.ts";
import { testGateway } from "#lib/testing/test-gateway.ts";
import { ADA, FAILED, type OidcLoginTest, openOidcLogin } from "#lib/testing/test-oidc-login.ts";

let opened: OidcLoginTest | undefined;
const open = async (settings: Readonly<Record<string, string>> = {}): Promise<OidcLoginTest> => {
  await close();
  opened = await openOidcLogin(settings);
  return opened;
};
const close = async (): Promise<void> => {
  await opened?.[Symbol.asyncDispose]();
  opened = undefined;
};
afterEach(close);

async function addUser(
  { test: { deps } }: OidcLoginTest,
  email: string,
  sub: string | null = null,
): Promise<string> {
  const { user, writes } = planUser(deps, { email, sub });
  await deps.tables.write(writes);
  return user.id;
}
const disable = ({ test: { deps } }: OidcLoginTest, id: string) =>
  deps.tables.update(usersTable, userKey(id), { set: { is_active: false } });

describe("a login at the provider", () => {
  it("signs in a new user, with names and a verified address, and later the same one", async () => {
    const { logIn, me, browser } = await open();
    expect((await me()).status).toBe(401);
    expect(await logIn()).toBe("/");
    const first = await me();
    expect(first).toMatchObject({
      status: 200,
      body: { email: "ada@example.com", full_name: "Ada Lovelace", short_name: "Ada" },
    });
    const other = new CookieBrowser();
    await logIn("", other);
    expect((await me(other)).body.id).toBe(first.body.id);
    expect((await me(browser)).body.id).toBe(first.body.id);
  });

  it("sends code flow, PKCE, state and nonce, each new, and no secret", async () => {
    const { begin, provider, at } = await open({ OIDC_AUTH_REQUEST_EXTRA_PARAMS: '{"acr_values":"eidas1"}' });
    const requests = [await begin(), await begin()].map((url) => Object.fromEntries(url.searchParams));
    for (const request of requests)
      expect(request).toEqual({
        acr_values: "eidas1",
        client_id: "weft",
        code_challenge: expect.stringMatching(/^[\w-]{43}$/),
        code_challenge_method: "S256",
        nonce: expect.stringMatching(/^[\w-]{43}$/),
        redirect_uri: at("/callback/"),
        response_type: "code",
        scope: "openid email profile",
        state: expect.stringMatching(/^[\w-]{43}$/),
      });
    for (const name of ["code_challenge", "nonce", "state"])
      expect(requests[0]?.[name]).not.toBe(requests[1]?.[name]);
    expect(provider.requestsTo("/.well-known/openid-configuration")).toBe(1);
  });

  it("sets cookies that scripts cannot read and other sites do not send, and deletes the state", async () => {
    const { browser, at, approve } = await open();
    const begun = await browser.request(at("/authenticate/"));
    expect(begun.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^docs_login=[\w-]{43}; Path=\/; Max-Age=600; SameSite=Lax; HttpOnly$/),
    ]);
    const finished = await browser.request(await approve());
    expect(finished.headers.get("referrer-policy")).toBe("no-referrer");
    expect(finished.headers.getSetCookie()[0]).toMatch(
      /^docs_sessionid=[\w-]{43}; .*SameSite=Lax; HttpOnly$/,
    );
  });

  it("behind HTTPS has secure cookies and PUBLIC_URL in its addresses", async () => {
    const { gateway, browser, reasons } = await open({ PUBLIC_URL: "https://docs.example.org" });
    const begun = await browser.request(`${gateway.url}/api/v1.0/authenticate/`);
    expect(begun.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^__Host-docs_login=[\w-]{43}; Path=\/; Max-Age=600; SameSite=Lax; Secure; HttpOnly$/,
      ),
    ]);
    const [cookie = ""] = begun.headers.getSetCookie().map((line) => line.split(";", 1)[0] ?? "");
    const callback = `${gateway.url}/api/v1.0/callback/?error=x&state=${begun.location?.searchParams.get("state")}`;
    // A site on another subdomain can set only a cookie without the prefix.
    for (const [sent, reason] of [
      [cookie.replace("__Host-", ""), /^the state is unknown/],
      [cookie, /^invalid response encountered/],
    ] as const) {
      await fetch(callback, { headers: { cookie: sent }, redirect: "manual" });
      expect(reasons().at(-1)).toMatch(reason);
    }
    expect(begun.location?.searchParams.get("redirect_uri")).toBe(
      "https://docs.example.org/api/v1.0/callback/",
    );
  });

  it("works in two tabs at once", async () => {
    const { approve, browser, targetOf } = await open();
    const codes = [await approve("?next=/a"), await approve("?next=/b")];
    for (const [index, code] of codes.entries())
      expect(targetOf(await browser.request(code))).toBe(["/a", "/b"][index]);
  });

  it("ends the previous session of the browser", async () => {
    const { logIn, browser, gateway, at } = await open();
    await logIn();
    const before = browser.cookie(gateway.url, "docs_sessionid");
    await logIn();
    const stale = await fetch(at("/users/me/"), { headers: { cookie: `docs_sessionid=${before}` } });
    expect(stale.status).toBe(401);
    expect(browser.cookie(gateway.url, "docs_sessionid")).not.toBe(before);
  });

  it.each([
    ["?next=/doc/1%3Fa=b%23c", "/doc/1?a=b#c"],
    ["?next=https://docs.example.org/x", "https://docs.example.org/x"],
    ["?next=http://localhost:3000/", "http://localhost:3000/"],
    ["", "/home"],
  ])("leads to next (%s)", async (query, target) => {
    const { logIn } = await open({
      LOGIN_REDIRECT_URL: "/home",
      OIDC_REDIRECT_ALLOWED_HOSTS: "docs.example.org, LOCALHOST:3000",
    });
    expect(await logIn(query)).toBe(target);
  });

  it("works without nonce and PKCE, with a JWT as userinfo, and with endpoints of the settings", async () => {
    const { provider, begin, logIn, me, reasons } = await open({
      OIDC_USE_NONCE: "false",
      OIDC_PKCE_CODE_VERIFIER_SIZE: "128",
    });
    provider.respondWith("/me", async (_incoming, outgoing) => {
      outgoing.setHeader("content-type", "application/jwt");
      outgoing.end(await provider.sign({ ...ADA, first_name: "Augusta" }));
    });
    expect((await begin()).searchParams.has("nonce")).toBe(false);
    expect([await logIn(), reasons()]).toEqual(["/", []]);
    expect((await me()).body.full_name).toBe("Augusta Lovelace");
  });

  it("is silent if the user has a session at the provider, and otherwise returns to next without an error", async () => {
    const { provider, logIn, me, begin, reasons } = await open();
    provider.signIn(undefined);
    expect((await begin("?silent=true")).searchParams.get("prompt")).toBe("none");
    expect(await logIn("?silent=true&next=/doc")).toBe("/doc");
    expect((await me()).status).toBe(401);
    expect(reasons()).toEqual([]);
    provider.signIn(ADA);
    await logIn();
    provider.signIn(undefined);
    expect(await logIn("?silent=true&next=/doc")).toBe("/doc");
    expect((await me()).status).toBe(200);
  });

  it("that is silent leads to next while the provider does not respond; another one gets a 503", async () => {
    const { provider, browser, at, targetOf } = await open();
    provider.respondWith("/.well-known/openid-configuration", (_incoming, outgoing) => outgoing.destroy());
    expect(targetOf(await browser.request(at("/authenticate/?silent=true&next=/doc")))).toBe("/doc");
    const refused = await browser.request(at("/authenticate/"));
    expect([refused.status, JSON.parse(refused.text)]).toEqual([
      503,
      { detail: "The identity provider does not respond; try again later" },
    ]);
  });

  it("is refused with the names of missing settings", async () => {
    const bare = await testDeps({ settings: { OIDC_RP_CLIENT_ID: "weft" } });
    const gateway = await testGateway(bare);
    try {
      for (const path of ["/authenticate/", "/callback/?code=c&state=s"]) {
        const { status, body } = await gateway.request("GET", path);
        expect([status, body]).toEqual([404, { detail: "Login is not configured: set OIDC_OP_URL." }]);
      }
    } finally {
      await gateway.close();
      await bare.close();
    }
  });

  it("deletes the rows of logins that were not finished in time", async () => {
    const { begin, clock, test } = await open();
    const count = async (): Promise<number> =>
      (await test.deps.tables.query(loginStatesTable, { index: "expires", pk: LOGIN_STATES })).items.length;
    for (let login = 0; login < 15; login += 1) await begin();
    expect(await count()).toBe(15);
    clock.advance(10 * 60_000);
    await begin();
    await begin();
    expect(await count()).toBe(2);
  });

  it("is limited for each address", async () => {
    const { browser, at } = await open({ LOGIN_THROTTLE_RATE: "2/minute" });
    const statuses = [];
    for (let count = 0; count < 3; count += 1)
      statuses.push((await browser.request(at("/authenticate/"))).status);
    expect(statuses).toEqual([302, 302, 429]);
  });
});

describe("the user of a login", () => {
  it("is the one with the verified address", async () => {
    const login = await open();
    const known = await addUser(login, "ADA@example.com");
    await login.logIn();
    expect((await login.me()).body.id).toBe(known);
  });

  it.each([
    [{ email_verified: false }, {}],
    [{ email_verified: "true" }, {}],
    [{ email_verified: undefined }, {}],
    [{ email_verified: false }, { OIDC_REQUIRE_EMAIL_VERIFIED: "false" }],
  ])("is never found by an address that is not verified (%j %j)", async (claims, settings) => {
    const login = await open(settings);
    const known = await addUser(login, ADA.email);
    login.provider.signIn({ ...ADA, ...claims });
    await login.logIn();
    const { body } = await login.me();
    expect(body.id).not.toBe(known);
    expect(body.email).toBeNull();
  });

  it("is not found by the address of the userinfo response that only the ID token calls verified", async () => {
    const login = await open();
    const known = await addUser(login, "victim@example.com");
    login.provider.respondWith("/me", (_incoming, outgoing) => {
      outgoing.setHeader("content-type", "application/json");
      outgoing.end(JSON.stringify({ sub: ADA.sub, email: "victim@example.com" }));
    });
    await login.logIn();
    const { status, body } = await login.me();
    expect([status, body.id === known]).toEqual([200, false]);
  });

  it("is refused if inactive, by sub and by address", async () => {
    const login = await open();
    await disable(login, await addUser(login, ADA.email));
    expect(await login.logIn()).toBe(FAILED);
    expect((await login.me()).status).toBe(401);
    login.provider.signIn({ sub: "bob-1" });
    await disable(login, await addUser(login, "bob@example.com", "bob-1"));
    expect(await login.logIn("", new CookieBrowser())).toBe(FAILED);
    expect(login.reasons()[0]).toMatch(/^the user is inactive/);
  });

  it("is not the installation's owner by address", async () => {
    const login = await open();
    login.provider.signIn({ ...ADA, email: "owner@weft.local" });
    expect(await login.logIn()).toBe(FAILED);
  });

  it("is not created if creation is off, and has the essential claims", async () => {
    const login = await open({ OIDC_CREATE_USER: "false" });
    expect(await login.logIn()).toBe(FAILED);
    expect(await usersByEmail(login.test.deps, ADA.email)).toEqual([]);
    const strict = await open({ USER_OIDC_ESSENTIAL_CLAIMS: "email,siret" });
    expect(await strict.logIn()).toBe(FAILED);
    expect(strict.reasons()).toEqual(["these claims are missing: siret"]);
    strict.provider.signIn({ ...ADA, siret: "1" });
  });

  it("of an address that is taken is refused if lookup by address is off, unless duplicates are permitted", async () => {
    const off = { OIDC_FALLBACK_TO_EMAIL_FOR_IDENTIFICATION: "false" };
    const strict = await open(off);
    await addUser(strict, ADA.email);
    expect(await strict.logIn()).toBe(FAILED);
    const lenient = await open({ ...off, OIDC_ALLOW_DUPLICATE_EMAILS: "true" });
    const known = await addUser(lenient, ADA.email);
    await lenient.logIn();
    expect((await lenient.me()).body).toMatchObject({
      email: ADA.email,
      id: expect.not.stringMatching(known),
    });
  });

  it("gets the current names of the configured claims", async () => {
    const login = await open({
      OIDC_USERINFO_FULLNAME_FIELDS: "last_name",
      OIDC_USERINFO_SHORTNAME_FIELD: "last_name",
    });
    await login.logIn();
    expect((await login.me()).body).toMatchObject({ full_name: "Lovelace", short_name: "Lovelace" });
    login.provider.signIn({ ...ADA, last_name: "King" });
    await login.logIn("", new CookieBrowser());
    expect((await login.me()).body).toMatchObject({ full_name: "King", short_name: "King" });
  });
});
