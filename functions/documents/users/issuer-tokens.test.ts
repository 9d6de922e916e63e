import { createHmac } from "node:crypto";
import * as jose from "jose";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { usersTable } from "#lib/documents/tables/users.ts";
import { planUser, usersByEmail } from "#lib/documents/users/users.ts";
import { readConfig } from "#lib/settings/config.ts";
import { type TestClock, type TestDeps, testClock, testDeps } from "#lib/testing/test-deps.ts";
import { startTestIssuer, type TestIssuer } from "#lib/testing/test-issuer.ts";
import { call } from "#lib/testing/test-route-call.ts";
import { route as listRuns } from "../../workflows/runs/list.ts";
import { route as list } from "./list.ts";
import { route as me } from "./me.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

let clock: TestClock;
let issuer: TestIssuer;
let test: TestDeps;
const open = async (settings: Readonly<Record<string, string>> = {}): Promise<void> => {
  await test?.close();
  test = await testDeps({ clock, settings: { ...issuer.settings, ...settings } });
};
beforeEach(async () => {
  clock = testClock();
  issuer = await startTestIssuer(clock);
  test = await testDeps({ clock, settings: issuer.settings });
});
afterEach(async () => {
  await test.close();
  await issuer[Symbol.asyncDispose]();
});

const who = (token: string) => call(test.deps, me, { token });
const ADA = { sub: "ada-1", email: "ada@example.com", first_name: "Ada", last_name: "Lovelace" };
const now = (): number => Math.floor(clock.now() / SECOND_MS);
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

describe("a token of the issuer", () => {
  it("authorizes document requests of a user who is created on first use, and no workflow requests", async () => {
    const token = await issuer.sign(ADA);
    const { status, body } = await who(token);
    expect([status, body]).toMatchObject([
      200,
      { email: "ada@example.com", full_name: "Ada Lovelace", short_name: "Ada", is_first_connection: true },
    ]);
    expect((await who(await issuer.sign(ADA))).body).toEqual(body);
    expect((await call(test.deps, listRuns, { token })).status).toBe(401);
    expect(issuer.keyRequests()).toBe(1);
  });

  it("creates one user, even for concurrent first requests", async () => {
    const token = await issuer.sign(ADA);
    const all = await Promise.all(Array.from({ length: 8 }, () => who(token)));
    expect(new Set(all.map(({ body }) => body.id)).size).toBe(1);
    expect(await usersByEmail(test.deps, ADA.email)).toHaveLength(1);
  });

  it("may be signed with an elliptic curve key, and may have expired within a minute of clock skew", async () => {
    await issuer.rotate({ algorithm: "ES256" });
    const token = await issuer.sign({ ...ADA, exp: now() + 10 });
    expect((await who(token)).status).toBe(200);
    clock.advance(69 * SECOND_MS);
    expect((await who(token)).status).toBe(200);
    clock.advance(2 * SECOND_MS);
    expect((await who(token)).status).toBe(401);
  });
});

describe("a token is rejected and creates no user", () => {
  const none = (header: object) => async () => `${encode(header)}.${encode(await good())}.`;
  const good = async () => jose.decodeJwt(await issuer.sign(ADA));
  const hmac = (algorithm: "HS256", secret: (key: { pem: string; kid: string }) => string) => async () => {
    const key = await issuer.publicKey();
    const head = `${encode({ alg: algorithm, kid: key.kid })}.${encode(await good())}`;
    return `${head}.${createHmac("sha256", secret(key)).update(head).digest("base64url")}`;
  };
  const foreign = (header: object) => async () => {
    const { privateKey, publicKey } = await jose.generateKeyPair("RS256", { extractable: true });
    const { kid } = await issuer.publicKey();
    const jwk = await jose.exportJWK(publicKey);
    return new jose.SignJWT(await good())
      .setProtectedHeader({ alg: "RS256", kid, jwk, ...header } as jose.JWTHeaderParameters)
      .sign(privateKey);
  };
  const altered = async (): Promise<string> => {
    const [head, , signature] = (await issuer.sign(ADA)).split(".");
    return `${head}.${encode({ ...(await good()), sub: "another" })}.${signature}`;
  };
  const cases: readonly (readonly [string, () => Promise<string>])[] = [
    ["with alg none", none({ alg: "none" })],
    ["with alg None and a kid", none({ alg: "None", kid: "key-1" })],
    ["signed with the public key as a secret", hmac("HS256", ({ pem }) => pem)],
    ["signed with an empty secret", hmac("HS256", () => "")],
    ["of another algorithm", () => issuer.sign(ADA, { alg: "RS512" })],
    ["of the algorithm with random padding", () => issuer.sign(ADA, { alg: "PS256" })],
    ["of another key with the same name", foreign({})],
    [
      "of a key that it brings along by address",
      foreign({ jku: "http://127.0.0.1:9/keys", x5u: "http://127.0.0.1:9/" }),
    ],
    ["of a key that is not known", foreign({ kid: "key-99" })],
    ["of a key by a path", foreign({ kid: "../../../../dev/null" })],
    ["of a key by a query", foreign({ kid: "x' UNION SELECT 'secret" })],
    ["with an extension that nobody knows", () => issuer.sign(ADA, { crit: ["urn:x"], "urn:x": 1 })],
    ["whose claims were changed", altered],
    ["of another issuer", () => issuer.sign({ ...ADA, iss: "https://issuer.example" })],
    ["for somebody else", () => issuer.sign({ ...ADA, aud: "account" })],
    ["for nobody", () => issuer.sign({ ...ADA, aud: undefined })],
    ["of nobody", () => issuer.sign({ ...ADA, iss: undefined })],
    ["without an end", () => issuer.sign({ ...ADA, exp: undefined })],
    ["whose end is text", () => issuer.sign({ ...ADA, exp: `${now() + 300}` })],
    ["that has ended", () => issuer.sign({ ...ADA, exp: now() - 61 })],
    ["that is for later", () => issuer.sign({ ...ADA, nbf: now() + 120 })],
    ["without a sub", () => issuer.sign({ ...ADA, sub: undefined })],
    ["with an empty sub", () => issuer.sign({ ...ADA, sub: "" })],
    ["with a sub that is none", () => issuer.sign({ ...ADA, sub: { id: 1 } })],
    ["with a sub that is too long", () => issuer.sign({ ...ADA, sub: "s".repeat(256) })],
    ["made for a logout", () => issuer.sign(ADA, { typ: "logout+jwt" })],
    ["with a large header", () => issuer.sign(ADA, { kid: "k".repeat(5_000) })],
    ["with a header larger than is read", () => issuer.sign(ADA, { kid: "k".repeat(100_000) })],
    ["with claims nested deep", none({ alg: "none", deep: JSON.parse("[".repeat(900) + "]".repeat(900)) })],
    ["that is not a token", async () => "a.b.c"],
    ["with a part too many", async () => `${await issuer.sign(ADA)}.x`],
  ];
  it.each(cases)("%s", async (_, make) => {
    const token = await make();
    expect(await who(token)).toEqual({ status: 401, body: { detail: "Invalid token" } });
    expect(await usersByEmail(test.deps, ADA.email)).toEqual([]);
    // Only that token is rejected.
    expect((await who(await issuer.sign(ADA))).status).toBe(200);
  });

  it("if no audience is set", async () => {
    await open({ OIDC_RS_ALLOWED_AUDIENCES: "" });
    expect((await who(await issuer.sign(ADA))).status).toBe(401);
    expect(issuer.keyRequests()).toBe(0);
  });
});

describe("keys of the issuer", () => {
  it("are fetched again for an unknown key, but not for each unknown one", async () => {
    expect((await who(await issuer.sign(ADA))).status).toBe(200);
    await issuer.rotate();
    // During the pause after a fetch, the new key is still unknown.
    expect((await who(await issuer.sign(ADA))).status).toBe(401);
    expect(issuer.keyRequests()).toBe(1);
    clock.advance(31 * SECOND_MS);
    const fresh = await issuer.sign(ADA);
    expect((await who(fresh)).status).toBe(200);
    expect(issuer.keyRequests()).toBe(2);
    for (let time = 0; time < 20; time += 1)
      expect((await who(await issuer.sign(ADA, { kid: `none-${time}` }))).status).toBe(401);
    expect(issuer.keyRequests()).toBe(2);
    expect((await who(fresh)).status).toBe(200);
  });

  it("that the issuer has removed remain valid for at most ten minutes", async () => {
    const old = await issuer.sign({ ...ADA, exp: now() + 3_600 });
    expect((await who(old)).status).toBe(200);
    await issuer.rotate({ drop: true });
    clock.advance(10 * MINUTE_MS + 1);
    expect((await who(old)).status).toBe(401);
  });

  it("remain valid while the issuer does not respond; without any, the status is 503 and a retry follows soon", async () => {
    issuer.respondWith((outgoing) => outgoing.writeHead(500).end("out of order"));
    const token = await issuer.sign({ ...ADA, exp: now() + 7_200 });
    expect(await who(token)).toMatchObject({ status: 503 });
    expect(await who(token)).toMatchObject({ status: 503 });
    expect(issuer.keyRequests()).toBe(1);
    issuer.respondWith(undefined);
    clock.advance(5 * SECOND_MS);
    expect((await who(token)).status).toBe(200);
    issuer.respondWith((outgoing) => outgoing.destroy());
    clock.advance(60 * MINUTE_MS);
    expect((await who(token)).status).toBe(200);
    expect(issuer.keyRequests()).toBe(3);
  });

  it.each<readonly [string, Parameters<TestIssuer["respondWith"]>[0]]>([
    ["comes never", () => {}],
    ["leads elsewhere", (outgoing) => outgoing.writeHead(302, { location: "/elsewhere" }).end()],
    ["is no JSON", (outgoing) => outgoing.end("<html>")],
    ["has no keys", (outgoing) => outgoing.end('{"keys":{}}')],
    ["is too much", (outgoing) => outgoing.end(`{"keys":[],"x":"${"x".repeat(300_000)}"}`)],
  ])("are not there where the answer %s", async (_, answer) => {
    issuer.respondWith(answer);
    const { status, body } = await who(await issuer.sign(ADA));
    expect([status, body]).toEqual([503, { detail: "The token issuer does not respond; try again later" }]);
    expect(test.logs.some(({ message }) => message.includes("issuer"))).toBe(true);
  });
});

describe("the user of a token", () => {
  async function addUser(email: string, sub: string | null = null): Promise<string> {
    const { user, writes } = planUser(test.deps, { email, sub });
    await test.deps.tables.write(writes);
    return user.id;
  }
  const disable = (id: string) =>
    test.deps.tables.update(usersTable, { pk: id, sk: "user" }, { set: { is_active: false } });

  it("has its sub, otherwise its address ignoring case, and then gets that sub", async () => {
    const known = await addUser("ADA@example.com");
    expect((await who(await issuer.sign(ADA))).body.id).toBe(known);
    expect((await who(await issuer.sign({ ...ADA, email: "new@example.com" }))).body.id).toBe(known);
    expect((await who(await issuer.sign({ sub: ADA.sub }))).body.id).toBe(known);
  });

  it("is not found by an address that the issuer has not verified", async () => {
    const known = await addUser(ADA.email);
    const { body } = await who(await issuer.sign({ ...ADA, email_verified: false }));
    expect(body).toMatchObject({ email: null, full_name: "Ada Lovelace" });
    expect(body.id).not.toBe(known);
  });

  it.each([["false"], ["true"], [0], [1], [{}], [null], [undefined]])(
    "is nobody of the address where email_verified is %j",
    async (email_verified) => {
      const known = await addUser(ADA.email);
      const { body } = await who(await issuer.sign({ ...ADA, email_verified }));
      expect(body.email).toBeNull();
      expect(body.id).not.toBe(known);
    },
  );

  it("is found by an address without email_verified if a setting permits it, but not with another value", async () => {
    await open({ OIDC_REQUIRE_EMAIL_VERIFIED: "false" });
    const known = await addUser(ADA.email);
    const id = async (claims: object) => (await who(await issuer.sign({ ...ADA, ...claims }))).body.id;
    expect(await id({ sub: "other", email_verified: "false" })).not.toBe(known);
    expect(await id({ email_verified: undefined })).toBe(known);
  });

  it.each(["\u212aate@example.org", "\uff2bate@example.org", "kate@example.or\u0261"])(
    "is nobody whose address only looks like theirs (%s)",
    async (email) => {
      const kate = await addUser("kate@example.org");
      const { status, body } = await who(await issuer.sign({ sub: "mallory", email }));
      expect(status).toBe(200);
      expect(body.id).not.toBe(kate);
      const found = await call(test.deps, list, {
        query: { q: "kate" },
        token: await issuer.sign({ sub: "mallory" }),
      });
      expect(found.body.filter(({ id }: { id: string }) => id === kate)).toHaveLength(
        email.endsWith(".org") ? 1 : 0,
      );
    },
  );

  it("is not the installation's owner by address, unless a setting permits it", async () => {
    const owner = (await call(test.deps, me, {})).body;
    const claims = { sub: "mallory", email: owner.email.toUpperCase() };
    expect((await who(await issuer.sign(claims))).status).toBe(401);
    await open();
    // The owner has not signed in yet.
    expect((await who(await issuer.sign(claims))).status).toBe(401);
    await open({ OIDC_ALLOW_OWNER_BY_EMAIL: "true" });
    expect((await call(test.deps, me, {})).status).toBe(200);
    expect((await who(await issuer.sign(claims))).body.id).toBe(owner.id);
  });

  it("is rejected if inactive, by sub or by address", async () => {
    await disable(await addUser(ADA.email, ADA.sub));
    await disable(await addUser("bob@example.com"));
    for (const claims of [ADA, { sub: "bob-1", email: "bob@example.com" }])
      expect(await who(await issuer.sign(claims))).toEqual({
        status: 401,
        body: { detail: "Invalid token" },
      });
    const [bob] = await usersByEmail(test.deps, "bob@example.com");
    expect(bob?.sub).toBeNull();
  });

  it("is not found by an address that several users have", async () => {
    await addUser(ADA.email);
    await addUser(ADA.email);
    expect((await who(await issuer.sign(ADA))).status).toBe(401);
  });

  it("is rejected if lookup by address is off and the address is taken, unless duplicates are permitted", async () => {
    const off = { OIDC_FALLBACK_TO_EMAIL_FOR_IDENTIFICATION: "false" };
    await open(off);
    await addUser(ADA.email);
    expect((await who(await issuer.sign(ADA))).status).toBe(401);
    await open({ ...off, OIDC_ALLOW_DUPLICATE_EMAILS: "true" });
    const known = await addUser(ADA.email);
    const { status, body } = await who(await issuer.sign(ADA));
    expect([status, body.email]).toEqual([200, ADA.email]);
    expect(body.id).not.toBe(known);
  });

  it("is not created if creation is off", async () => {
    await open({ OIDC_CREATE_USER: "false" });
    expect((await who(await issuer.sign(ADA))).status).toBe(401);
    const known = await addUser(ADA.email);
    expect((await who(await issuer.sign(ADA))).body.id).toBe(known);
  });

  it("gets the name of the configured claims, and its current value", async () => {
    await open({ OIDC_USERINFO_FULLNAME_FIELDS: "given_name, name", OIDC_USERINFO_SHORTNAME_FIELD: "nick" });
    const claims = { sub: "z", email: "z@example.com", given_name: " Zoe ", name: 7, nick: "n".repeat(200) };
    const first = (await who(await issuer.sign(claims))).body;
    expect(first).toMatchObject({ full_name: "Zoe", short_name: "n".repeat(100) });
    const token = await issuer.sign({ ...claims, name: "Zabriskie" });
    expect((await who(token)).body).toEqual({ ...first, full_name: "Zoe Zabriskie" });
    expect((await who(await issuer.sign({ sub: "z" }))).body.full_name).toBe("Zoe Zabriskie");
    const found = await call(test.deps, list, { query: { q: "zabris" }, token });
    expect(found.body.map(({ id }: { id: string }) => id)).toEqual([first.id]);
  });
});

describe("contradicting issuer settings prevent the start", () => {
  it.each([
    [{ OIDC_ALLOW_DUPLICATE_EMAILS: "true" }, "OIDC_ALLOW_DUPLICATE_EMAILS: cannot be true while"],
    [{ OIDC_RS_ALLOWED_AUDIENCES: "a" }, "OIDC_RS_ALLOWED_AUDIENCES: needs OIDC_OP_URL"],
    [{ OIDC_OP_URL: "ftp://x" }, "OIDC_OP_URL: must be a URL that begins with http:// or https://"],
    [{ OIDC_TIMEOUT: "0" }, "OIDC_TIMEOUT: must be a number of seconds"],
    [{ OIDC_CREATE_USER: "perhaps" }, "OIDC_CREATE_USER: must be true or false"],
  ])("%j", (settings, said) => {
    expect(() => readConfig(settings)).toThrow(said);
  });
});
