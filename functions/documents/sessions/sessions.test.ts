import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  endSession,
  endSessionsByOidc,
  endSessionsOf,
  findSession,
  listSessions,
} from "#lib/documents/login/sessions.ts";
import { sessionsTable } from "#lib/documents/tables/sessions.ts";
import { userKey, usersTable } from "#lib/documents/tables/users.ts";
import { OWNER_ID } from "#lib/documents/users/users.ts";
import { type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { createUser } from "#lib/testing/test-documents.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { signIn } from "#lib/testing/test-sessions.ts";
import { route as listRuns } from "../../workflows/runs/list.ts";
import { route as listTokens } from "../access-tokens/list.ts";
import { route as createDocument } from "../documents/create.ts";
import { route as me } from "../users/me.ts";
import { route as endRoute } from "./end.ts";
import { route as endOthersRoute } from "./end-others.ts";
import { route as listRoute } from "./list.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

let test: TestDeps;
let ada: string;
beforeEach(async () => {
  test = await testDeps();
  ada = (await createUser(test.deps, "ada")).id;
});
afterEach(() => test.close());

const status = async (headers: Readonly<Record<string, string>>): Promise<number> =>
  (await call(test.deps, me, { method: "GET", token: null, headers })).status;

describe("a session", () => {
  it("authenticates its user by a cookie, whose value is not stored", async () => {
    const browser = await signIn(test.deps, ada);
    const { body } = await call(test.deps, me, { method: "GET", token: null, headers: browser.headers });
    expect(body.email).toBe("ada@example.com");
    expect(browser.secret).toMatch(/^[\w-]{43}$/);
    const { items } = await test.deps.tables.scan(sessionsTable, { limit: 100 });
    expect(items).toHaveLength(1);
    expect(JSON.stringify(items)).not.toContain(browser.secret);
  });

  it("sets a cookie that scripts cannot read, and one with the CSRF token that they can", async () => {
    const [session, csrf] = (await signIn(test.deps, ada)).setCookies;
    expect(session).toMatch(/^docs_sessionid=[\w-]{43}; Path=\/; Max-Age=1209600; SameSite=Lax; HttpOnly$/);
    expect(csrf).toMatch(/^csrftoken=[\w-]{43}; Path=\/; Max-Age=1209600; SameSite=Lax$/);
    const headers = { host: "docs.example.org", "x-forwarded-proto": "https" };
    for (const cookie of (await signIn(test.deps, ada, { request: { headers } })).setCookies)
      expect(cookie).toContain("; Secure");
    const behindProxy = { ...test.deps, publicUrl: "https://docs.example.org" };
    for (const cookie of (await signIn(behindProxy, ada)).setCookies) expect(cookie).toContain("; Secure");
  });

  it("needs the Origin header and its own CSRF token to change something", async () => {
    const browser = await signIn(test.deps, ada);
    const other = await signIn(test.deps, ada);
    const create = (headers: Readonly<Record<string, string>>) =>
      call(test.deps, createDocument, { token: null, headers, body: {} });
    expect((await create(browser.unsafeHeaders)).status).toBe(201);
    const { origin, "x-csrftoken": token, ...plain } = browser.unsafeHeaders;
    const refused: [Record<string, string>, string][] = [
      [plain, "requires the header Origin: http://127.0.0.1"],
      [
        { ...plain, origin: "https://evil.example", "x-csrftoken": token ?? "" },
        "requires the header Origin",
      ],
      [{ ...plain, origin: origin ?? "" }, "requires the header X-CSRFToken"],
      [
        { ...browser.unsafeHeaders, "x-csrftoken": other.unsafeHeaders["x-csrftoken"] ?? "" },
        "does not belong to the session",
      ],
    ];
    for (const [headers, message] of refused) {
      const { status, body } = await create(headers);
      expect([status, body.detail]).toEqual([403, expect.stringContaining(message)]);
    }
  });

  it("ends after the idle time, which every use restarts, and after its maximum age", async () => {
    const browser = await signIn(test.deps, ada);
    test.clock.advance(12 * HOUR_MS - 1);
    expect(await status(browser.headers)).toBe(200);
    test.clock.advance(12 * HOUR_MS - 1);
    expect(await status(browser.headers)).toBe(200);
    test.clock.advance(12 * HOUR_MS);
    expect(await status(browser.headers)).toBe(401);

    const used = await signIn(test.deps, ada);
    for (let hours = 0; hours < 14 * 24 - 6; hours += 6) {
      test.clock.advance(6 * HOUR_MS);
      expect(await status(used.headers)).toBe(200);
    }
    test.clock.advance(6 * HOUR_MS);
    expect(await status(used.headers)).toBe(401);
  });

  it("is written at most once a minute", async () => {
    const browser = await signIn(test.deps, ada);
    const read = async () => (await listSessions(test.deps, ada))[0]?.last_used_at;
    const values = new Set([await read()]);
    for (let seconds = 0; seconds < 300; seconds += 10) {
      test.clock.advance(10_000);
      await Promise.all([status(browser.headers), status(browser.headers)]);
      values.add(await read());
    }
    expect(values.size).toBe(6);
  });

  it("replaces the previous one of the browser at login", async () => {
    const before = await signIn(test.deps, ada);
    const after = await signIn(test.deps, ada, { previousSessionId: before.secret });
    expect(after.secret).not.toBe(before.secret);
    expect(await status(before.headers)).toBe(401);
    expect(await status(after.headers)).toBe(200);
  });

  it("never has an id that the browser brought", async () => {
    const planted = "A".repeat(43);
    const browser = await signIn(test.deps, ada, { previousSessionId: planted });
    expect(browser.secret).not.toBe(planted);
    expect(await status({ host: "127.0.0.1", cookie: `docs_sessionid=${planted}` })).toBe(401);
  });

  it("does not authenticate a user who was disabled", async () => {
    const browser = await signIn(test.deps, ada);
    await test.deps.tables.update(usersTable, userKey(ada), { set: { is_active: false } });
    expect(await status(browser.headers)).toBe(401);
    await expect(signIn(test.deps, ada)).rejects.toMatchObject({ code: "forbidden" });
  });

  it("is not found by a cookie that cannot be one", async () => {
    const { secret } = await signIn(test.deps, ada);
    for (const value of ["", "x", `${secret}x`, secret.slice(1), "é".repeat(43), "x".repeat(100_000)])
      expect(await status({ host: "127.0.0.1", cookie: `docs_sessionid=${value}` })).toBe(401);
    const crowded = `${"a=1; ".repeat(2000)}docs_sessionid=${secret}`;
    expect(await status({ host: "127.0.0.1", cookie: crowded })).toBe(401);
  });
});

describe("sessions of a user", () => {
  it("give access to documents only, and the owner's to workflows if its login says so", async () => {
    const runs = async (headers: Readonly<Record<string, string>>) =>
      (await call(test.deps, listRuns, { method: "GET", token: null, headers })).status;
    const tokens = async (headers: Readonly<Record<string, string>>) =>
      (await call(test.deps, listTokens, { method: "GET", token: null, headers })).status;
    const user = await signIn(test.deps, ada);
    expect([await runs(user.headers), await tokens(user.headers)]).toEqual([403, 403]);
    const granted = await signIn(test.deps, ada, { scopes: ["automation", "documents"] });
    expect([await runs(granted.headers), await tokens(granted.headers)]).toEqual([200, 403]);
    const owner = await signIn(test.deps, undefined, { scopes: ["automation", "documents"] });
    expect([await runs(owner.headers), await tokens(owner.headers)]).toEqual([200, 200]);
    const restricted = await signIn(test.deps, undefined);
    expect([await runs(restricted.headers), await tokens(restricted.headers)]).toEqual([403, 403]);
    expect(
      (await call(test.deps, me, { method: "GET", token: null, headers: restricted.headers })).body.id,
    ).toBe(OWNER_ID);
  });

  it("end one at a time, or together", async () => {
    const [one, two, three] = [
      await signIn(test.deps, ada),
      await signIn(test.deps, ada),
      await signIn(test.deps, ada),
    ];
    const owner = await signIn(test.deps, undefined);
    await endSession(test.deps, one.secret);
    expect(await status(one.headers)).toBe(401);
    expect(await status(two.headers)).toBe(200);
    expect(await endSessionsOf(test.deps, { id: ada }, { exceptId: two.id })).toBe(1);
    expect(await status(three.headers)).toBe(401);
    expect(await status(two.headers)).toBe(200);
    expect(await endSessionsOf(test.deps, { id: ada })).toBe(1);
    expect(await status(two.headers)).toBe(401);
    expect(await status(owner.headers)).toBe(200);
  });

  it("are ended by their provider's session or subject", async () => {
    const issuer = "https://id.example";
    const begin = (oidcSubject: string, oidcSessionId: string, idToken = "an.id.token") =>
      signIn(test.deps, ada, { issuer, oidcSubject, oidcSessionId, idToken });
    const [one, two, other] = [await begin("s1", "a"), await begin("s1", "b"), await begin("s2", "c")];
    expect((await findSession(test.deps, one.secret))?.idToken).toBe("an.id.token");
    expect(await endSessionsByOidc(test.deps, "https://other.example", { sid: "a" })).toBe(0);
    expect(await endSessionsByOidc(test.deps, issuer, {})).toBe(0);
    expect(await endSessionsByOidc(test.deps, issuer, { sid: "a", sub: "s1" })).toBe(1);
    expect([await status(one.headers), await status(two.headers)]).toEqual([401, 200]);
    expect(await endSessionsByOidc(test.deps, issuer, { sub: "s1" })).toBe(1);
    expect([await status(two.headers), await status(other.headers)]).toEqual([401, 200]);
    expect(await findSession(test.deps, one.secret)).toBeUndefined();
  });

  it("are at most 100, and those that have ended are deleted by later logins", async () => {
    const first = await signIn(test.deps, ada);
    test.clock.advance(MINUTE_MS);
    for (let count = 0; count < 100; count += 1) await signIn(test.deps, ada);
    expect(await status(first.headers)).toBe(401);
    expect(await listSessions(test.deps, ada)).toHaveLength(100);
    test.clock.advance(12 * HOUR_MS);
    expect(await listSessions(test.deps, ada)).toEqual([]);
    for (let count = 0; count < 5; count += 1) await signIn(test.deps, undefined);
    const { items } = await test.deps.tables.scan(sessionsTable, { limit: 1000 });
    expect(items).toHaveLength(5);
  });
});

describe("GET and DELETE /users/me/sessions", () => {
  const list = (headers: Readonly<Record<string, string>>) =>
    call(test.deps, listRoute, { method: "GET", token: null, headers });

  it("lists the sessions without their secrets, the most recently used first", async () => {
    const request = { headers: { host: "127.0.0.1", "user-agent": `Browser ${"x".repeat(1000)}` } };
    const other = await signIn(test.deps, ada, { request });
    test.clock.advance(MINUTE_MS);
    const current = await signIn(test.deps, ada);
    await signIn(test.deps, undefined);
    const { body } = await list(current.headers);
    expect(body).toEqual([
      expect.objectContaining({ id: current.id, is_current: true, user_agent: "test" }),
      expect.objectContaining({ id: other.id, is_current: false }),
    ]);
    expect(body[1].user_agent).toHaveLength(200);
    for (const browser of [current, other]) expect(JSON.stringify(body)).not.toContain(browser.secret);
    expect(body[0].created_at).toBe(new Date(test.clock.now()).toISOString());
  });

  it("ends one session, or all others", async () => {
    const [current, one, two] = [
      await signIn(test.deps, ada),
      await signIn(test.deps, ada),
      await signIn(test.deps, ada),
    ];
    const owner = await signIn(test.deps, undefined);
    const end = (id: string, headers: Readonly<Record<string, string>>) =>
      call(test.deps, endRoute, { method: "DELETE", params: { id }, token: null, headers });
    expect((await end(one.id, current.headers)).status).toBe(403);
    expect((await end(owner.id, current.unsafeHeaders)).status).toBe(404);
    expect((await end(one.id, current.unsafeHeaders)).status).toBe(204);
    expect((await end(one.id, current.unsafeHeaders)).status).toBe(404);
    expect([await status(one.headers), await status(two.headers)]).toEqual([401, 200]);
    const ended = await call(test.deps, endOthersRoute, {
      method: "DELETE",
      token: null,
      headers: current.unsafeHeaders,
    });
    expect(ended.status).toBe(204);
    expect([await status(current.headers), await status(two.headers)]).toEqual([200, 401]);
    expect(await status(owner.headers)).toBe(200);
  });

  it("with a bearer token ends all of them", async () => {
    const { id, token } = await createUser(test.deps, "bob");
    const browser = await signIn(test.deps, id);
    const { body } = await call(test.deps, listRoute, { token });
    expect(body).toEqual([expect.objectContaining({ is_current: false })]);
    expect((await call(test.deps, endOthersRoute, { token })).status).toBe(204);
    expect(await status(browser.headers)).toBe(401);
  });

  it("invalidate what a session began: its upload URLs", async () => {
    const browser = await signIn(test.deps, ada);
    const principal = await test.deps.sessions.authenticate(browser.secret);
    const credential = principal?.credential?.id ?? "";
    expect(await test.deps.auth.isValid(credential)).toBe(true);
    await endSession(test.deps, browser.secret);
    expect(await test.deps.auth.isValid(credential)).toBe(false);
    expect(await test.deps.auth.isValid(`session:${ada}/x`)).toBe(false);
  });
});
