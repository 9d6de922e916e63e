import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { Deps } from "#lib/app/aws.ts";
import { BUILT_IN_FOOTER } from "#lib/documents/configuration/theme.ts";
import { createToken } from "#lib/documents/users/tokens.ts";
import { toHandler } from "#lib/http/handler.ts";
import type { Route } from "#lib/http/route.ts";
import { type TestDeps, testDeps } from "#lib/testing/test-deps.ts";
import { call as callHandler } from "#lib/testing/test-handler-call.ts";
import { type RequestParts, requestOf } from "#lib/testing/test-requests.ts";
import { route as create } from "../documents/create.ts";
import { route as getDocument } from "../documents/get.ts";
import { route as listChildren } from "../documents/list-children.ts";
import { route as config } from "./get.ts";
import { route as keySet } from "./key-set.ts";

const KEYS =
  "AI_BOT AI_FEATURE_ENABLED AI_FEATURE_BLOCKNOTE_ENABLED AI_FEATURE_LEGACY_ENABLED API_USERS_SEARCH_QUERY_MIN_LENGTH COLLABORATION_WS_URL COLLABORATION_WS_NOT_CONNECTED_READ_ONLY COLLABORATION_WS_INACTIVITY_TIMEOUT CONVERSION_FILE_EXTENSIONS_ALLOWED CONVERSION_FILE_MAX_SIZE CONVERSION_UPLOAD_ENABLED ENVIRONMENT FRONTEND_CSS_URL FRONTEND_HOMEPAGE_FEATURE_ENABLED FRONTEND_JS_URL FRONTEND_SILENT_LOGIN_ENABLED FRONTEND_THEME MEDIA_BASE_URL POSTHOG_KEY POSTHOG_HOST LANGUAGES LANGUAGE_CODE REACTIONS_MAX_PER_COMMENT SENTRY_DSN TRASHBIN_CUTOFF_DAYS theme_customization RELEASE_VERSION".split(
    " ",
  );

let test: TestDeps;
let folder: string | undefined;
afterEach(async () => {
  await test.close();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  folder = undefined;
});
const open = async (settings: Record<string, string> = {}) => {
  test = await testDeps({ settings });
};
const call = <P, Q, B, R>(route: Route<P, Q, B, R, Deps>, parts: RequestParts = {}) =>
  callHandler(
    test.deps,
    toHandler(route, async () => test.deps),
    { token: null, ...parts },
  );

describe("GET config", () => {
  it("returns every key of the contract and no secret to anonymous callers", async () => {
    const secret = "a-secret-that-is-not-told";
    const key = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
    await open({
      PRIMARY_SDK_API_KEY: secret,
      PRIMARY_SDK_BASE_URL: "https://models.example/v1",
      AI_MODEL: "m",
      Y_PROVIDER_API_KEY: secret,
      TRASHBIN_CUTOFF_DAYS: "7",
      COLLABORATION_WS_URL: "wss://docs.example/collaboration/ws/",
      AI_FEATURE_ENABLED: "true",
      OIDC_RS_PRIVATE_KEY_STR: String(key.export({ type: "pkcs8", format: "pem" })),
    });
    const { status, json, text } = await call(config);
    expect(status).toBe(200);
    expect(Object.keys(json).toSorted()).toEqual(KEYS.toSorted());
    expect(json).toMatchObject({
      TRASHBIN_CUTOFF_DAYS: 7,
      AI_FEATURE_ENABLED: true,
      FRONTEND_THEME: null,
      COLLABORATION_WS_URL: "wss://docs.example/collaboration/ws/",
    });
    expect(text).not.toContain(secret);
    expect(text).not.toContain("PRIVATE KEY");
    expect(config.response.safeParse(json).success).toBe(true);
  });

  it("has a built-in footer, which a theme file may override in parts", async () => {
    folder = await mkdtemp(join(tmpdir(), "weft-theme-"));
    const path = join(folder, "theme.json");
    await open({ THEME_CUSTOMIZATION_FILE_PATH: path, THEME_CUSTOMIZATION_CACHE_TIMEOUT: "60" });
    const theme = async () => (await call(config)).json.theme_customization;
    await writeFile(path, JSON.stringify({ favicon: { light: { href: "/f.svg" } } }));
    const first = { footer: BUILT_IN_FOOTER, favicon: { light: { href: "/f.svg" } } };
    expect(await theme()).toEqual(first);

    const footer = { default: { externalLinks: [{ label: "Us", href: "https://us.example" }] } };
    await writeFile(path, JSON.stringify({ footer }));
    test.clock.advance(59_999);
    expect(await theme()).toEqual(first);
    test.clock.advance(1);
    expect(await theme()).toEqual({ footer });
    expect(test.logs.filter(({ level }) => level === "warn")).toEqual([]);
  });

  it.each([
    ["is missing", undefined],
    ["is no JSON", "{"],
    ["is no object", "[1]"],
    ["is too large", `{"a":"${"x".repeat(1024 * 1024)}"}`],
  ])("keeps the built-in theme and logs it where the file %s", async (_, text) => {
    folder = await mkdtemp(join(tmpdir(), "weft-theme-"));
    const path = join(folder, "theme.json");
    if (text !== undefined) await writeFile(path, text);
    await open({ THEME_CUSTOMIZATION_FILE_PATH: path });
    const { status, json } = await call(config);
    expect([status, json.theme_customization]).toEqual([200, { footer: BUILT_IN_FOOTER }]);
    await call(config);
    expect(test.logs.filter(({ message }) => message.includes("theme file"))).toHaveLength(1);
  });
});

describe("GET jwks", () => {
  it("returns 404 without a key", async () => {
    await open();
    const { status, json } = await call(keySet);
    expect([status, json]).toEqual([404, { detail: "Not found." }]);
  });

  it("returns the public key to anonymous callers", async () => {
    const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    await open({ OIDC_RS_PRIVATE_KEY_STR: String(privateKey.export({ type: "pkcs1", format: "pem" })) });
    const { status, json } = await call(keySet);
    const { n, e } = publicKey.export({ format: "jwk" });
    expect([status, json]).toEqual([
      200,
      {
        keys: [{ n, e, kty: "RSA", use: "enc", alg: "RSA-OAEP", kid: expect.stringMatching(/^[\w-]{43}$/) }],
      },
    ]);
  });
});

describe("throttles", () => {
  it("return 429 with the time to wait, for all routes of a scope together, per caller", async () => {
    await open({ API_DOCUMENT_THROTTLE_RATE: "3/minute" });
    const other = (await createToken(test.deps, { email: "other@example.com" })).token;
    const made = await callHandler(
      test.deps,
      toHandler(create, async () => test.deps),
      { body: {} },
    );
    const params = { id: made.json.id as string };
    const asOwner = <P, Q, B, R>(route: Route<P, Q, B, R, Deps>, headers: Record<string, string> = {}) =>
      callHandler(
        test.deps,
        toHandler(route, async () => test.deps),
        { params, headers },
      );
    expect([(await asOwner(getDocument)).status, (await asOwner(listChildren)).status]).toEqual([200, 200]);
    test.clock.advance(500);
    const { status, headers, json } = await asOwner(getDocument);
    expect([status, headers["retry-after"], json]).toEqual([
      429,
      "60",
      { detail: "Request was throttled. Expected available in 60 seconds." },
    ]);
    expect((await call(getDocument, { params, token: other })).status).toBe(403);
    expect((await call(config)).status).toBe(200);
    test.clock.advance(58_500);
    expect((await asOwner(getDocument)).json.detail).toContain(" 1 second.");
    test.clock.advance(1000);
    expect((await asOwner(getDocument)).status).toBe(200);
  });

  it("count anonymous callers by the address that the gateway saw, ignoring headers", async () => {
    await open({ API_CONFIG_THROTTLE_RATE: "1/hour" });
    const handler = toHandler(config, async () => test.deps);
    const from = async (sourceIp: string, forwarded: string) => {
      const event = requestOf("GET", "/api/v1.0/config", {
        token: null,
        headers: { "x-forwarded-for": forwarded },
      });
      const answer = await handler(
        { ...event, requestContext: { identity: { sourceIp } } },
        { weft: test.deps },
      );
      return answer.statusCode;
    };
    expect(await from("192.0.2.1", "198.51.100.1")).toBe(200);
    expect(await from("192.0.2.1", "198.51.100.2")).toBe(429);
    expect(await from("192.0.2.2", "198.51.100.1")).toBe(200);
  });

  it("count nothing if they are not set", async () => {
    await open();
    const answers = await Promise.all(Array.from({ length: 100 }, () => call(config)));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
  });
});
