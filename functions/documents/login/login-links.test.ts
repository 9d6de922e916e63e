import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createLoginLink, createStartLink, type LoginLinkRequest } from "#lib/documents/login/login-links.ts";
import { loginLinksTable } from "#lib/documents/tables/login-links.ts";
import { userKey, usersTable } from "#lib/documents/tables/users.ts";
import { createToken } from "#lib/documents/users/tokens.ts";
import type { Handler, ProxyResult } from "#lib/http/handler.ts";
import { type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { invokeHandler } from "#lib/testing/test-handler-call.ts";
import { requestOf } from "#lib/testing/test-requests.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { browserHeaders, signIn } from "#lib/testing/test-sessions.ts";
import { route as listRuns } from "../../workflows/runs/list.ts";
import { route as me } from "../users/me.ts";
import { route as createLink } from "./create-link.ts";
import { handler as openHandler } from "./open-link.ts";
import { handler as useHandler } from "./use-link.ts";

const HOST = "127.0.0.1:3000";
const BASE_URL = `http://${HOST}`;
const MINUTE_MS = 60_000;

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps();
  await createToken(test.deps, { email: "ada@example.com" });
});
afterEach(() => test.close());

/** The token of a new link. */
async function linkToken(request: LoginLinkRequest = {}): Promise<string> {
  const { url } = await createLoginLink(test.deps, request, BASE_URL);
  return new URL(url).searchParams.get("token") ?? "";
}

interface Parts {
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly form?: Readonly<Record<string, string>>;
  readonly method?: string;
  readonly publicUrl?: string;
}

function send(handler: Handler, { query, headers, form, method, publicUrl }: Parts): Promise<ProxyResult> {
  const parts = {
    ...(query === undefined ? {} : { query }),
    ...(form === undefined ? {} : { body: new URLSearchParams(form).toString() }),
    headers: { host: HOST, ...headers },
    token: null,
  };
  const deps = publicUrl === undefined ? test.deps : { ...test.deps, publicUrl };
  return invokeHandler(handler, requestOf(method ?? (form === undefined ? "GET" : "POST"), "/login", parts), {
    weft: deps,
  });
}
const open = (parts: Parts) => send(openHandler, parts);
const use = (form: Readonly<Record<string, string>>, parts: Parts = {}) =>
  send(useHandler, { ...parts, form });

const cookiesOf = ({ multiValueHeaders }: ProxyResult): readonly string[] =>
  multiValueHeaders?.["set-cookie"] ?? [];
const emailOf = async (headers: Readonly<Record<string, string>>): Promise<unknown> =>
  (await call(test.deps, me, { method: "GET", token: null, headers })).body.email;

describe("the owner's link", () => {
  it("signs in once, with everything that the owner's token gives access to", async () => {
    const token = await linkToken();
    const response = await open({ query: { token } });
    expect([response.statusCode, response.headers["location"]]).toEqual([303, "/"]);
    const { headers } = browserHeaders(cookiesOf(response));
    expect(await emailOf(headers)).toBe("owner@weft.local");
    expect((await call(test.deps, listRuns, { method: "GET", token: null, headers })).status).toBe(200);
    const again = await open({ query: { token } });
    expect([again.statusCode, cookiesOf(again)]).toEqual([403, []]);
    expect(again.body).toContain("not valid");
  });

  it("is not used up by HEAD, nor by an invalid address to continue at", async () => {
    const token = await linkToken();
    expect((await open({ query: { token }, method: "HEAD" })).statusCode).toBe(200);
    expect((await open({ query: { token, next: "//evil.example" } })).statusCode).toBe(400);
    expect((await open({ query: { token } })).statusCode).toBe(303);
  });

  it("is valid for ten minutes, and that of a start until the next start", async () => {
    const [early, late] = [await linkToken(), await linkToken()];
    const start = new URL(await createStartLink(test.deps, BASE_URL)).searchParams.get("token") ?? "";
    test.clock.advance(10 * MINUTE_MS - 1);
    expect((await open({ query: { token: early } })).statusCode).toBe(303);
    test.clock.advance(1);
    expect((await open({ query: { token: late } })).statusCode).toBe(403);
    test.clock.advance(100 * 24 * 60 * MINUTE_MS);
    const next = new URL(await createStartLink(test.deps, BASE_URL)).searchParams.get("token") ?? "";
    expect((await open({ query: { token: start } })).statusCode).toBe(403);
    expect((await open({ query: { token: next } })).statusCode).toBe(303);
  });

  it("is used by one of several concurrent requests", async () => {
    const token = await linkToken();
    const responses = await Promise.all(Array.from({ length: 10 }, () => open({ query: { token } })));
    expect(responses.map(({ statusCode }) => statusCode).toSorted()).toEqual([303, ...Array(9).fill(403)]);
  });

  it("ends the session that the browser had, and never takes over its id", async () => {
    const before = await signIn(test.deps, undefined);
    const response = await open({ query: { token: await linkToken() }, headers: before.headers });
    const after = browserHeaders(cookiesOf(response));
    expect(after.secret).not.toBe(before.secret);
    expect(await emailOf(before.headers)).toBeUndefined();
    expect(await emailOf(after.headers)).toBe("owner@weft.local");
  });

  it("sets cookies for HTTPS only if the server is reached by HTTPS", async () => {
    const plain = await open({ query: { token: await linkToken() } });
    for (const cookie of cookiesOf(plain)) expect(cookie).not.toContain("Secure");
    const publicUrl = "https://weft.example.org/base";
    const secure = await open({ query: { token: await linkToken(), next: "/docs?a=1#b" }, publicUrl });
    expect(secure.headers["location"]).toBe("/docs?a=1#b");
    for (const cookie of cookiesOf(secure)) expect(cookie).toContain("; Secure");
    const simple = await open({ query: { token: await linkToken() }, publicUrl });
    expect(simple.headers["location"]).toBe("https://weft.example.org/base/");
  });

  it("is stored as a hash", async () => {
    const token = await linkToken();
    const { items } = await test.deps.tables.scan(loginLinksTable, { limit: 10 });
    expect(items).toHaveLength(1);
    expect(JSON.stringify(items)).not.toContain(token);
  });

  it.each(["", "x", "A".repeat(43), "A".repeat(10_000), "../../x", "é".repeat(43)])(
    "of another installation, or a made-up one, does not sign in: %.20s",
    async (token) => {
      await linkToken();
      const response = await open({ query: { token } });
      expect([response.statusCode, cookiesOf(response)]).toEqual([403, []]);
    },
  );
});

describe("a user's link", () => {
  it("opens a page that names the user; its form signs in, to documents only", async () => {
    const token = await linkToken({ email: "ada@example.com" });
    for (let count = 0; count < 3; count += 1) {
      const page = await open({ query: { token, next: "/docs/a'\"<b>" } });
      expect([page.statusCode, cookiesOf(page)]).toEqual([200, []]);
      expect(page.body).toContain("ada@example.com");
      expect(page.body).toContain('name="next" value="/docs/a&#39;&quot;&lt;b&gt;"');
      expect(page.headers["content-security-policy"]).toContain("default-src 'none'");
      expect(page.headers["cache-control"]).toBe("no-store");
    }
    const response = await use({ token, next: "/docs/x" }, { headers: { origin: BASE_URL } });
    expect([response.statusCode, response.headers["location"]]).toEqual([303, "/docs/x"]);
    const { headers } = browserHeaders(cookiesOf(response));
    expect(await emailOf(headers)).toBe("ada@example.com");
    expect((await call(test.deps, listRuns, { method: "GET", token: null, headers })).status).toBe(403);
    expect((await use({ token })).statusCode).toBe(403);
  });

  it("gives access to workflows if the owner says so, and never to what only the owner may do", async () => {
    const scopes = ["automation", "documents"] as const;
    const token = await linkToken({ email: "ada@example.com", scopes: [...scopes] });
    const { headers } = browserHeaders(cookiesOf(await use({ token })));
    expect((await call(test.deps, listRuns, { method: "GET", token: null, headers })).status).toBe(200);
    expect((await call(test.deps, createLink, { token: null, headers, body: {} })).status).toBe(403);
  });

  it("is not accepted from another site's form, and not used up by it", async () => {
    const token = await linkToken({ email: "ada@example.com" });
    for (const origin of ["https://evil.example", "null", "http://127.0.0.1:3001"])
      expect((await use({ token }, { headers: { origin } })).statusCode).toBe(403);
    expect((await use({})).statusCode).toBe(400);
    expect((await use({ token })).statusCode).toBe(303);
  });

  it("can lead to an interface on another allowed host, which the policy of its page permits", async () => {
    await test.close();
    test = await testDeps({ settings: { OIDC_REDIRECT_ALLOWED_HOSTS: "app.example.org" } });
    await createToken(test.deps, { email: "ada@example.com" });
    const token = await linkToken({ email: "ada@example.com" });
    const policyOf = async (query: Readonly<Record<string, string>>) =>
      (await open({ query })).headers["content-security-policy"];
    expect(await policyOf({ token })).toMatch(/; form-action 'self';/);
    const next = "https://app.example.org/start";
    expect(await policyOf({ token, next })).toMatch(/; form-action 'self' https:\/\/app\.example\.org;/);
    expect((await use({ token, next })).headers["location"]).toBe(next);
  });

  it("is not valid for a user who was disabled", async () => {
    const token = await linkToken({ email: "ada@example.com" });
    const { items } = await test.deps.tables.scan(usersTable, { limit: 10 });
    const { id } = items.find(({ email }) => email === "ada@example.com") ?? { id: "" };
    await test.deps.tables.update(usersTable, userKey(id), { set: { is_active: false } });
    expect((await open({ query: { token } })).statusCode).toBe(403);
    expect((await use({ token })).statusCode).toBe(403);
  });
});

describe("the address to continue at", () => {
  it.each([
    "//evil.example",
    "/\\evil.example",
    "/\t/evil.example",
    "/.//evil.example",
    "https://evil.example",
  ])("must be a path of this server: not %j", async (next) => {
    const token = await linkToken();
    const response = await open({ query: { token, next } });
    expect([response.statusCode, response.headers["location"]]).toEqual([400, undefined]);
    expect(response.body).toMatch(/"next":\["(?:Must be a path|The host is not allowed)/);
    expect((await use({ token, next })).statusCode).toBe(400);
  });

  it("is not needed, and without a token there is a page that says how to get one", async () => {
    const page = await open({});
    expect([page.statusCode, page.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
    expect(page.body).toContain("npx weft open");
  });
});

describe("POST /login-links", () => {
  const create = (body: object, token?: string) =>
    call(test.deps, createLink, {
      body,
      headers: { host: HOST },
      ...(token === undefined ? {} : { token }),
    });

  it("creates a link below the address of the request, or below PUBLIC_URL", async () => {
    const { status, body } = await create({});
    expect(status).toBe(201);
    expect(body).toEqual({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:3000\/login\?token=[\w-]{43}$/),
      email: "owner@weft.local",
      expires_at: new Date(test.clock.now() + 10 * MINUTE_MS).toISOString(),
    });
    const deps = { ...test.deps, publicUrl: "https://weft.example.org/base" };
    const below = await call(deps, createLink, { body: {}, headers: { host: HOST } });
    expect(below.body.url).toMatch(/^https:\/\/weft\.example\.org\/base\/login\?token=/);
  });

  it("is for the owner only, and for users that exist", async () => {
    const { token } = await createToken(test.deps, { email: "bob@example.com" });
    expect((await create({}, token)).status).toBe(403);
    const unknown = await create({ email: "nobody@example.com" });
    expect([unknown.status, unknown.body.detail]).toEqual([400, expect.stringContaining("email: no user")]);
    expect((await create({ email: "x" })).status).toBe(400);
    expect((await create({ email: "ADA@example.com" })).body.email).toBe("ada@example.com");
  });

  it("deletes expired links, and refuses more than 200 unused ones", async () => {
    for (let count = 0; count < 200; count += 1) await linkToken();
    expect((await create({})).status).toBe(429);
    test.clock.advance(10 * MINUTE_MS);
    for (let count = 0; count < 3; count += 1) expect((await create({})).status).toBe(201);
    const { items } = await test.deps.tables.scan(loginLinksTable, { limit: 2000 });
    expect(items).toHaveLength(3);
  });
});
