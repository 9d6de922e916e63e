import { generateKeyPairSync } from "node:crypto";
import * as jose from "jose";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { userKey, usersTable } from "#lib/documents/tables/users.ts";
import { usersByEmail } from "#lib/documents/users/users.ts";
import { readConfig } from "#lib/settings/config.ts";
import { TEST_TOKEN } from "#lib/testing/test-deps.ts";
import { ADA, type OidcLoginTest, openOidcLogin } from "#lib/testing/test-oidc-login.ts";
import { TEST_APP, TEST_CLIENT_SECRET } from "#lib/testing/test-oidc-provider.ts";

const PRIVATE_KEY = generateKeyPairSync("rsa", { modulusLength: 2048 })
  .privateKey.export({ type: "pkcs8", format: "pem" })
  .toString();
const JSON_RESPONSES = {
  OIDC_RESOURCE_SERVER_ENABLED: "true",
  OIDC_RS_CLIENT_ID: "introspects-json",
  OIDC_RS_CLIENT_SECRET: TEST_CLIENT_SECRET,
  OIDC_RS_ALLOWED_AUDIENCES: `other,${TEST_APP}`,
};
const ENCRYPTED_RESPONSES = {
  ...JSON_RESPONSES,
  OIDC_RS_CLIENT_ID: "introspects-jwt",
  OIDC_RS_PRIVATE_KEY_STR: PRIVATE_KEY,
  OIDC_RS_SIGNING_ALGO: "RS256",
};
const INTROSPECTION = "/token/introspection";

let opened: OidcLoginTest;
const open = async (settings: Readonly<Record<string, string>> = JSON_RESPONSES): Promise<void> => {
  await opened?.[Symbol.asyncDispose]();
  opened = await openOidcLogin(settings);
};
beforeEach(() => open());
afterEach(() => opened[Symbol.asyncDispose]());

interface Asked {
  readonly token?: string | undefined;
  readonly body?: unknown;
}
async function ask(method: string, path: string, { token, body }: Asked = {}) {
  const response = await fetch(`${opened.gateway.url}/external_api/v1.0${path}`, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === "" ? undefined : JSON.parse(text),
  };
}
/** Lets the provider return this for every token. */
const introspectAs = (claims: Readonly<Record<string, unknown>>): void =>
  opened.provider.respondWith(INTROSPECTION, (_incoming, outgoing) => {
    outgoing.setHeader("content-type", "application/json");
    outgoing.end(JSON.stringify(claims));
  });
const ACTIVE = { active: true, sub: ADA.sub, client_id: TEST_APP, scope: "openid email" };
const UNAUTHORIZED = [401, { detail: "Invalid token" }];

describe("an access token of the provider", () => {
  it("authorizes the permitted actions as its user, who is the user of the API", async () => {
    const token = await opened.provider.accessToken();
    const created = await ask("POST", "/documents/", { token, body: { title: "Notes" } });
    expect([created.status, created.body.title]).toEqual([201, "Notes"]);
    const child = await ask("POST", `/documents/${created.body.id}/children/`, {
      token,
      body: { title: "Child" },
    });
    expect(child.status).toBe(201);
    const { body: list } = await ask("GET", "/documents/?page_size=1", { token });
    expect(list).toMatchObject({ count: 1, results: [{ id: created.body.id }] });
    expect((await ask("GET", `/documents/${created.body.id}/children/`, { token })).body.count).toBe(1);
    expect((await ask("GET", `/documents/${child.body.id}`, { token })).body.title).toBe("Child");
    const me = await ask("GET", "/users/me/", { token });
    await opened.logIn();
    expect(me.body.id).toBe((await opened.me()).body.id);
    expect(me.headers.get("content-security-policy")?.match(/ 'none'/g)).toHaveLength(16);
  });

  it("may be sent in base64", async () => {
    const token = Buffer.from(await opened.provider.accessToken()).toString("base64");
    expect((await ask("GET", "/users/me/", { token })).status).toBe(200);
  });

  it("is introspected by encrypted and signed responses if there is a private key", async () => {
    await open(ENCRYPTED_RESPONSES);
    const token = await opened.provider.accessToken();
    expect((await ask("GET", "/users/me/", { token })).status).toBe(200);
    expect((await ask("GET", "/users/me/", { token: "another" })).status).toBe(401);
  });

  it("does not authorize more than the user may do", async () => {
    const foreign = (await opened.gateway.request("POST", "/documents/", { body: { title: "Secret" } })).body
      .id;
    const token = await opened.provider.accessToken();
    expect((await ask("GET", `/documents/${foreign}/`, { token })).status).toBe(403);
    expect((await ask("POST", "/documents/", { token, body: { title: 7 } })).body).toEqual({
      title: ["Not a valid string."],
    });
  });

  it("is not valid at the API, nor is a signed token for the same audience", async () => {
    await open({ ...JSON_RESPONSES, OIDC_OP_JWKS_ENDPOINT: "http://127.0.0.1:9/jwks" });
    for (const token of [
      await opened.provider.accessToken(),
      await opened.provider.sign({ ...ADA, aud: TEST_APP }),
    ])
      expect((await opened.gateway.request("GET", "/users/me/", { token })).status).toBe(401);
  });
});

describe("an action that is not permitted", () => {
  it.each([
    ["DELETE", "/documents/ID/"],
    ["PATCH", "/documents/ID/"],
    ["POST", "/documents/ID/duplicate/"],
    ["GET", "/documents/favorite_list/"],
    ["GET", "/documents/all/"],
    ["GET", "/documents/ID/content/"],
    ["PATCH", "/documents/ID/content/"],
    ["GET", "/documents/ID/formatted-content/"],
    ["GET", "/documents/ID/versions/"],
    ["GET", "/documents/ID/versions/x/"],
    ["POST", "/documents/ID/versions/x/restore/"],
    ["GET", "/documents/ID/accesses/"],
    ["POST", "/documents/ID/invitations/"],
    ["GET", "/users/?q=ada"],
  ])("%s %s is refused with 403, and without a valid token with 401", async (method, template) => {
    const token = await opened.provider.accessToken();
    const { id } = (await ask("POST", "/documents/", { token, body: {} })).body;
    const path = template.replace("ID", id);
    const body = method === "GET" || method === "DELETE" ? {} : { body: {} };
    const refused = await ask(method, path, { token, ...body });
    expect([refused.status, refused.body]).toEqual([
      403,
      { detail: "You do not have permission to perform this action." },
    ]);
    expect((await ask(method, path, body)).status).toBe(401);
  });

  it("is permitted by EXTERNAL_API, which replaces the default", async () => {
    const actions = {
      documents: { enabled: true, actions: ["create", "destroy"] },
      document_access: { enabled: true, actions: ["list"] },
      users: { enabled: false, actions: ["get_me"] },
    };
    await open({ ...JSON_RESPONSES, EXTERNAL_API: JSON.stringify(actions) });
    const token = await opened.provider.accessToken();
    const { id } = (await ask("POST", "/documents/", { token, body: {} })).body;
    expect((await ask("GET", `/documents/${id}/accesses/`, { token })).status).toBe(200);
    expect((await ask("GET", `/documents/${id}/`, { token })).status).toBe(403);
    expect((await ask("GET", "/users/me/", { token })).status).toBe(403);
    expect((await ask("DELETE", `/documents/${id}/`, { token })).status).toBe(204);
  });

  it("of an unknown path is not found, of an unknown method not allowed, and needs a token too", async () => {
    const token = await opened.provider.accessToken();
    const [unknown, ticket] = [
      await ask("GET", "/nowhere/", { token }),
      await ask("POST", "/documents/x/collaboration-ticket/", { token }),
    ];
    expect([unknown.status, unknown.body, ticket.status]).toEqual([404, { detail: "Not found." }, 404]);
    const method = await ask("PUT", "/users/me/", { token, body: {} });
    expect([method.status, method.headers.get("allow")]).toEqual([405, "GET"]);
    for (const path of ["/nowhere/", "/users/me/"]) expect((await ask("PUT", path)).status).toBe(401);
    expect((await ask("GET", "/documents/not-an-id/", { token })).status).toBe(404);
  });
});

describe("content", () => {
  const permit = async (...actions: readonly string[]): Promise<{ token: string; id: string }> => {
    const documents = { enabled: true, actions: ["create", ...actions] };
    await open({ ...JSON_RESPONSES, EXTERNAL_API: JSON.stringify({ documents }) });
    const token = await opened.provider.accessToken();
    return { token, id: (await ask("POST", "/documents/", { token, body: { title: "Notes" } })).body.id };
  };
  const fetchText = async (path: string, token: string, headers: Readonly<Record<string, string>> = {}) => {
    const response = await fetch(`${opened.gateway.url}/external_api/v1.0${path}`, {
      headers: { authorization: `Bearer ${token}`, ...headers },
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const base64 = (text: string): string => Buffer.from(text).toString("base64");

  it("is read, saved and formatted if the actions are permitted", async () => {
    const { token, id } = await permit("content", "formatted_content");
    const path = `/documents/${id}/content/`;
    expect(await fetchText(path, token)).toMatchObject({ status: 200, text: "" });
    expect((await ask("PATCH", path, { token, body: { content: base64("# Title") } })).status).toBe(204);
    const { status, headers, text } = await fetchText(path, token);
    expect([status, text, headers.get("content-length")]).toEqual([200, "# Title", "7"]);
    const etag = headers.get("etag") ?? "";
    expect((await fetchText(path, token, { "if-none-match": etag })).status).toBe(304);
    expect((await ask("PATCH", path, { token, body: { content: "%" } })).body).toEqual({
      content: ["Invalid base64 content."],
    });
    const formatted = await ask("GET", `/documents/${id}/formatted-content/?content_format=x`, { token });
    expect(formatted.status).toBe(400);
    expect((await fetchText(path, "another")).status).toBe(401);
  });

  it("may be larger than what fits into a response of Lambda", async () => {
    const { token, id } = await permit("content");
    const content = "text ".repeat(2_000_000);
    const path = `/documents/${id}/content/`;
    const saved = await ask("PATCH", path, { token, body: { content: base64(content) } });
    expect(saved.status).toBe(204);
    expect((await fetchText(path, token)).text === content).toBe(true);
    // The largest body of all routes is not that of the others.
    const title = "x".repeat(2_000_000);
    expect((await ask("POST", "/documents/", { token, body: { title } })).status).toBe(413);
  });

  it("has versions, which can be read, restored and deleted", async () => {
    const { token, id } = await permit("content", "versions_list", "versions_detail", "versions_restore");
    const path = `/documents/${id}/versions/`;
    for (const content of ["first", "second"])
      await ask("PATCH", `/documents/${id}/content/`, { token, body: { content: base64(content) } });
    const [{ version_id: version }] = (await ask("GET", path, { token })).body.versions;
    expect((await ask("GET", `${path}${version}/`, { token })).body).toMatchObject({
      id: version,
      content: base64("first"),
    });
    expect((await ask("POST", `${path}${version}/restore/`, { token })).status).toBe(204);
    expect((await fetchText(`/documents/${id}/content/`, token)).text).toBe("first");
    expect((await ask("DELETE", `${path}${version}/`, { token })).status).toBe(204);
    expect((await ask("GET", `${path}${version}/`, { token })).status).toBe(404);
  });

  it("of a document that the user may not read is refused", async () => {
    const { token } = await permit("content", "formatted_content", "versions_list");
    const { id } = (await opened.gateway.request("POST", "/documents/", { body: { title: "Secret" } })).body;
    for (const path of ["content", "formatted-content", "versions"])
      expect((await fetchText(`/documents/${id}/${path}/`, token)).status).toBe(403);
    const body = { content: base64("x") };
    expect((await ask("PATCH", `/documents/${id}/content/`, { token, body })).status).toBe(403);
  });
});

describe("a token is refused", () => {
  it("if there is none, or it is a session, the owner's token or unknown", async () => {
    expect((await ask("GET", "/users/me/")).status).toBe(401);
    for (const token of [TEST_TOKEN, "x", "x".repeat(8000)]) {
      const { status, body } = await ask("GET", "/users/me/", { token });
      expect([status, body]).toEqual(UNAUTHORIZED);
    }
    await opened.logIn();
    const visited = await opened.browser.request(`${opened.gateway.url}/external_api/v1.0/users/me/`);
    expect(visited.status).toBe(401);
  });

  it.each<readonly [string, Readonly<Record<string, unknown>>]>([
    ["that is not active", { active: false }],
    ["for another audience", { client_id: "another" }],
    ["without the audience claim", { client_id: undefined, aud: TEST_APP }],
    ["whose audience is no text", { client_id: { app: true } }],
    ["without the scope", { scope: "email" }],
    ["without any scope", { scope: undefined }],
    ["that has expired", { exp: Math.floor(Date.now() / 1000) - 1 }],
    ["whose end is text", { exp: "never" }],
    ["of another issuer", { iss: "https://evil.example" }],
    ["of nobody", { sub: undefined }],
    [
      "of a user whose address is the owner's",
      { sub: "mallory", email: "owner@weft.local", email_verified: true },
    ],
  ])("%s", async (_, changed) => {
    introspectAs({ ...ACTIVE, ...changed });
    const { status, body } = await ask("GET", "/users/me/", { token: "t" });
    expect([status, body]).toEqual(UNAUTHORIZED);
    introspectAs(ACTIVE);
    expect((await ask("GET", "/users/me/", { token: "t" })).status).toBe(200);
  });

  it("of an inactive user", async () => {
    const token = await opened.provider.accessToken();
    introspectAs({ ...ACTIVE, email: ADA.email, email_verified: true });
    await ask("GET", "/users/me/", { token });
    const [user] = await usersByEmail(opened.test.deps, ADA.email);
    await opened.test.deps.tables.update(usersTable, userKey(user?.id ?? ""), { set: { is_active: false } });
    expect((await ask("GET", "/users/me/", { token })).status).toBe(401);
  });

  it("of the audiences of the configured claim only", async () => {
    await open({ ...JSON_RESPONSES, OIDC_RS_AUDIENCE_CLAIM: "aud", OIDC_RS_SCOPES: "groups,openid" });
    introspectAs({ ...ACTIVE, client_id: undefined, aud: ["x", TEST_APP], scope: "openid groups" });
    expect((await ask("GET", "/users/me/", { token: "t" })).status).toBe(200);
    introspectAs({ ...ACTIVE, aud: ["x"] });
    expect((await ask("GET", "/users/me/", { token: "t" })).status).toBe(401);
  });
});

describe("a response of the introspection endpoint", () => {
  it.each<readonly [string, Parameters<OidcLoginTest["provider"]["respondWith"]>[1]]>([
    ["never comes", () => {}],
    ["is an error", (_, outgoing) => outgoing.writeHead(401).end("{}")],
    ["redirects", (_, outgoing) => outgoing.writeHead(302, { location: "/elsewhere" }).end()],
    ["is no JSON", (_, outgoing) => outgoing.end("<html>")],
    [
      "says active as text",
      (_, outgoing) => outgoing.setHeader("content-type", "application/json").end('{"active":"true"}'),
    ],
    [
      "is too large",
      (_, outgoing) => outgoing.setHeader("content-type", "application/json").end(" ".repeat(300_000)),
    ],
  ])("that %s gets a 503", async (_, respond) => {
    const token = await opened.provider.accessToken();
    opened.provider.respondWith(INTROSPECTION, respond);
    expect((await ask("GET", "/users/me/", { token })).status).toBe(503);
    expect(JSON.stringify(opened.test.logs)).not.toContain(token);
    opened.provider.respondWith(INTROSPECTION, undefined);
    expect((await ask("GET", "/users/me/", { token })).status).toBe(200);
  });

  const claims = () => ({ aud: "introspects-jwt", token_introspection: ACTIVE });
  const TYPE = { typ: "token-introspection+jwt" };
  const encrypt = async (jwt: string): Promise<string> =>
    new jose.CompactEncrypt(Buffer.from(jwt))
      .setProtectedHeader({ alg: "RSA-OAEP", enc: "A256GCM" })
      .encrypt(await jose.importPKCS8(PRIVATE_KEY, "RSA-OAEP", { extractable: true }).then(publicKeyOf));
  const publicKeyOf = async (key: jose.CryptoKey) => {
    const { n = "", e = "" } = await jose.exportJWK(key);
    return jose.importJWK({ kty: "RSA", n, e, alg: "RSA-OAEP" });
  };
  const foreign = async (): Promise<string> => {
    const { privateKey } = await jose.generateKeyPair("RS256");
    return new jose.SignJWT({ iss: opened.provider.issuer, iat: Math.floor(Date.now() / 1000), ...claims() })
      .setProtectedHeader({ alg: "RS256", kid: "key-1", ...TYPE })
      .sign(privateKey);
  };
  const unsigned = (): string => {
    const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
    const all = { iss: opened.provider.issuer, iat: Math.floor(Date.now() / 1000), ...claims() };
    return `${encode({ alg: "none", ...TYPE })}.${encode(all)}.`;
  };
  it.each<readonly [string, () => Promise<string>, number]>([
    ["is signed and encrypted", async () => encrypt(await opened.provider.sign(claims(), TYPE)), 200],
    ["is signed by another key", async () => encrypt(await foreign()), 503],
    ["has alg none", async () => encrypt(unsigned()), 503],
    [
      "is for another client",
      async () => encrypt(await opened.provider.sign({ ...claims(), aud: "x" }, TYPE)),
      503,
    ],
    [
      "is of another issuer",
      async () => encrypt(await opened.provider.sign({ ...claims(), iss: "https://x" }, TYPE)),
      503,
    ],
    [
      "is another type of token",
      async () => encrypt(await opened.provider.sign(claims(), { typ: "at+jwt" })),
      503,
    ],
    ["is damaged", async () => (await encrypt(await opened.provider.sign(claims(), TYPE))).slice(0, -4), 503],
  ])("that %s gets the expected status", async (_, make, status) => {
    await open(ENCRYPTED_RESPONSES);
    opened.provider.respondWith(INTROSPECTION, async (_incoming, outgoing) => {
      outgoing.setHeader("content-type", "application/token-introspection+jwt");
      outgoing.end(await make());
    });
    expect((await ask("GET", "/users/me/", { token: "t" })).status).toBe(status);
  });
});

describe("a response that is encrypted to the published key", () => {
  it.each([
    ["EC", "ECDH-ES", generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey],
    ["RSA", "RSA-OAEP-256", generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey],
  ] as const)("is read with a key of type %s and %s", async (type, algorithm, key) => {
    await open({
      ...ENCRYPTED_RESPONSES,
      OIDC_RS_PRIVATE_KEY_STR: key.export({ type: "pkcs8", format: "pem" }).toString(),
      OIDC_RS_ENCRYPTION_KEY_TYPE: type,
      OIDC_RS_ENCRYPTION_ALGO: algorithm,
      OIDC_RS_ENCRYPTION_ENCODING: "A128CBC-HS256",
    });
    const [published] = (await opened.gateway.request("GET", "/jwks", { token: null })).body.keys;
    const claims = { aud: "introspects-jwt", token_introspection: ACTIVE };
    const jwt = await opened.provider.sign(claims, { typ: "token-introspection+jwt" });
    const encrypted = await new jose.CompactEncrypt(Buffer.from(jwt))
      .setProtectedHeader({ alg: published.alg, enc: "A128CBC-HS256", kid: published.kid })
      .encrypt(await jose.importJWK(published));
    opened.provider.respondWith(INTROSPECTION, (_incoming, outgoing) => {
      outgoing.setHeader("content-type", "application/token-introspection+jwt");
      outgoing.end(encrypted);
    });
    expect((await ask("GET", "/users/me/", { token: "t" })).status).toBe(200);
  });
});

describe("settings of the external API", () => {
  it("disable it by default: no path of it exists", async () => {
    await open({});
    for (const token of [undefined, TEST_TOKEN]) {
      const { status, body } = await ask("GET", "/users/me/", { token });
      expect([status, body]).toEqual([404, { detail: "Not found." }]);
    }
  });

  const { OIDC_OP_URL, ...settings } = { ...JSON_RESPONSES, OIDC_OP_URL: "https://login.example.org" };
  it.each<readonly [Readonly<Record<string, string>>, string]>([
    [settings, "OIDC_RESOURCE_SERVER_ENABLED: needs OIDC_OP_URL"],
    [{ ...settings, OIDC_OP_URL: "http://login.example.org" }, "OIDC_OP_URL: must begin with https://"],
    [{ EXTERNAL_API: "{" }, "EXTERNAL_API: must be JSON"],
    [{ EXTERNAL_API: '{"threads":{}}' }, "EXTERNAL_API: must contain only the resources documents"],
    [
      { EXTERNAL_API: '{"documents":{"actions":[]}}' },
      "EXTERNAL_API: must have for documents exactly enabled",
    ],
    [
      { EXTERNAL_API: '{"users":{"enabled":true,"actions":["nope"]}}' },
      "these actions of users: get_me, list",
    ],
    [
      { OIDC_RS_PRIVATE_KEY_STR: PRIVATE_KEY, OIDC_RS_ENCRYPTION_KEY_TYPE: "EC" },
      "OIDC_RS_ENCRYPTION_KEY_TYPE: is not the type",
    ],
  ])("that contradict each other prevent the start (%#)", (given, said) => {
    expect(() => readConfig(given)).toThrow(said);
    expect(OIDC_OP_URL).toMatch(/^https/);
  });
});
