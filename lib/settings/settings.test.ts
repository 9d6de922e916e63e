import { createHash, generateKeyPairSync } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PRODUCT_VERSION } from "../product-version.ts";
import { readConfig } from "./config.ts";
import { consumerEnvironment } from "./read.ts";

const read = (environment: Record<string, string> = {}) => readConfig(environment).documents;
const pem = (pair: { privateKey: { export(options: object): string | Buffer } }) =>
  String(pair.privateKey.export({ type: "pkcs8", format: "pem" }));
const rsa = pem(generateKeyPairSync("rsa", { modulusLength: 2048 }));
const ec = pem(generateKeyPairSync("ec", { namedCurve: "P-256" }));
const short = pem(generateKeyPairSync("rsa", { modulusLength: 1024 }));
const signing = pem(generateKeyPairSync("ed25519"));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weft-settings-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
const file = (text: string): string => {
  const path = join(folder, "value");
  writeFileSync(path, text);
  return path;
};

describe("invalid settings", () => {
  it("are all named in one error, without their values", () => {
    const environment = { PORT: "secret-1", WEFT_ACCESS_TOKEN: "secret-2", AI_FEATURE_ENABLED: "secret-3" };
    expect(() => readConfig(environment)).toThrow(
      new Error(
        "PORT: must be a port from 0 to 65535; WEFT_ACCESS_TOKEN: must be at least 16 characters long; AI_FEATURE_ENABLED: must be true or false",
      ),
    );
  });
});

describe("document settings", () => {
  it("have defaults", () => {
    const { clientSettings, ...rest } = read();
    expect(clientSettings).toMatchObject({
      AI_FEATURE_ENABLED: false,
      COLLABORATION_WS_URL: null,
      CONVERSION_FILE_MAX_SIZE: 20_971_520,
      LANGUAGE_CODE: "en-us",
      TRASHBIN_CUTOFF_DAYS: 30,
      REACTIONS_MAX_PER_COMMENT: 15,
      FRONTEND_HOMEPAGE_FEATURE_ENABLED: true,
      CONVERSION_FILE_EXTENSIONS_ALLOWED: [".docx", ".md"],
    });
    expect(clientSettings.LANGUAGES[1]).toEqual(["fr-fr", "Français"]);
    expect(rest).toMatchObject({
      keySet: undefined,
      models: undefined,
      publishAsMit: true,
      secrets: [],
      mediaAuthOriginalUrlHeader: "x-original-url",
      theme: { path: undefined, cacheMs: 86_400_000 },
    });
  });

  it("include the version of the product", () => {
    const manifest = JSON.parse(
      readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
    ) as object;
    expect(manifest).toMatchObject({ version: PRODUCT_VERSION });
    expect(read().clientSettings.RELEASE_VERSION).toBe(PRODUCT_VERSION);
  });

  it("have the names of the contract", () => {
    const set = read({
      PRIMARY_SDK_API_KEY: "sk-1",
      PRIMARY_SDK_BASE_URL: "https://models.example/v1",
      AI_MODEL: "m",
      COLLABORATION_BACKEND_BASE_URL: "http://backend:8000",
      PUBLISH_AS_MIT: "false",
      MEDIA_AUTH_ORIGINAL_URL_HEADER: "HTTP_X_FORWARDED_URI",
      LANGUAGES: "de-de,Deutsch",
      LANGUAGE_CODE: "de-de",
    });
    expect(set).toMatchObject({
      models: { family: "primary", apiKey: "sk-1", baseUrl: "https://models.example/v1", model: "m" },
      collaborationBackendBaseUrl: "http://backend:8000",
      publishAsMit: false,
      mediaAuthOriginalUrlHeader: "x-forwarded-uri",
      secrets: ["sk-1"],
      clientSettings: { LANGUAGES: [["de-de", "Deutsch"]], LANGUAGE_CODE: "de-de" },
    });
    expect(JSON.stringify(set.clientSettings)).not.toContain("sk-1");
  });

  it.each([
    ["AI_API_KEY", "PRIMARY_SDK_API_KEY"],
    ["AI_BASE_URL", "PRIMARY_SDK_BASE_URL"],
    ["OPENAI_SDK_API_KEY", "PRIMARY_SDK_API_KEY"],
    ["COLLABORATION_WS_NOT_CONNECTED_READY_ONLY", "COLLABORATION_WS_NOT_CONNECTED_READ_ONLY"],
    ["DJANGO_LANGUAGE_CODE", "LANGUAGE_CODE"],
  ])("%s, the former name of %s, stops the start", (old, name) => {
    const error = `${old}: was renamed to ${name}; set ${name} instead`;
    expect(() => read({ [old]: "x" })).toThrow(error);
    expect(() => read({ [`${old}_FILE`]: "/x" })).toThrow(error);
    expect(() => read({ DOCUMENT_SETTINGS: JSON.stringify({ [old]: "x" }) })).toThrow(error);
    expect(() => read({ [old]: "" })).not.toThrow();
  });

  it.each<[Record<string, string>, RegExp]>([
    [{ PRIMARY_SDK_API_KEY: "a", MISTRAL_SDK_API_KEY: "b" }, /^PRIMARY_SDK_API_KEY: .* not both$/],
    [{ PRIMARY_SDK_BASE_URL: "http://a", MISTRAL_SDK_API_KEY: "b" }, /^PRIMARY_SDK_API_KEY: .* not both$/],
    [{ PRIMARY_SDK_API_KEY: "no key" }, /^PRIMARY_SDK_BASE_URL: must be set if PRIMARY_SDK_API_KEY is set$/],
    [
      { PRIMARY_SDK_BASE_URL: "http://a" },
      /^PRIMARY_SDK_API_KEY: must be set if PRIMARY_SDK_BASE_URL is set; any/,
    ],
    [{ MISTRAL_SDK_API_KEY: "no key" }, /^MISTRAL_SDK_BASE_URL: must be set if MISTRAL_SDK_API_KEY is set$/],
    [
      { MISTRAL_SDK_BASE_URL: "http://a" },
      /^MISTRAL_SDK_API_KEY: must be set if MISTRAL_SDK_BASE_URL is set; any/,
    ],
    [
      { AI_FEATURE_ENABLED: "true", PRIMARY_SDK_API_KEY: "a", PRIMARY_SDK_BASE_URL: "http://a" },
      /^AI_MODEL: must be set if AI_FEATURE_ENABLED is true and PRIMARY_SDK_BASE_URL is set$/,
    ],
    [
      { AI_USER_RATE_THROTTLE_RATES: "3/minute,x" },
      /^AI_USER_RATE_THROTTLE_RATES: must be off or a rate such/,
    ],
    [
      { AI_DOCUMENT_RATE_THROTTLE_RATES: "10001/day" },
      /^AI_DOCUMENT_RATE_THROTTLE_RATES: must be at most 10/,
    ],
    [{ AI_REQUEST_TIMEOUT: "291" }, /^AI_REQUEST_TIMEOUT: must be/],
    [{ LANGUAGE_CODE: "it-it" }, /^LANGUAGE_CODE: must be one of LANGUAGES, which are en-us, fr-fr/],
    [{ LANGUAGES: "english" }, /^LANGUAGES: must be languages as code,Name/],
    [{ COLLABORATION_WS_URL: "https://a" }, /^COLLABORATION_WS_URL: must be .* ws:\/\/ or wss:\/\//],
    [{ COLLABORATION_BACKEND_BASE_URL: "backend" }, /^COLLABORATION_BACKEND_BASE_URL: must be a URL/],
    [{ MEDIA_AUTH_ORIGINAL_URL_HEADER: "X-Original-Url" }, /^MEDIA_AUTH_ORIGINAL_URL_HEADER: must be HTTP_/],
    [{ PUBLISH_AS_MIT: "perhaps" }, /^PUBLISH_AS_MIT: must be true or false$/],
    [{ AI_BOT: '{"name":"x"}' }, /^AI_BOT: must be JSON such as/],
    [
      { API_DOCUMENT_THROTTLE_RATE: "80 a minute" },
      /^API_DOCUMENT_THROTTLE_RATE: must be off or a rate such as/,
    ],
    [
      { CONVERSION_FILE_EXTENSIONS_ALLOWED: "docx" },
      /^CONVERSION_FILE_EXTENSIONS_ALLOWED: must be file extensions/,
    ],
    [{ DOCUMENT_SETTINGS: "[]" }, /^DOCUMENT_SETTINGS: must be a JSON object of strings$/],
    [{ DOCUMENT_SETTINGS: "{" }, /^DOCUMENT_SETTINGS: must be valid JSON/],
    [{ DOCUMENT_SETTINGS: '{"PORT":"1"}' }, /^DOCUMENT_SETTINGS: must contain only .*; remove PORT$/],
    [
      { DOCUMENT_SETTINGS: '{"Y_PROVIDER_API_KEY":"1"}' },
      /^DOCUMENT_SETTINGS: must contain only .*; remove Y_PROVIDER_API_KEY$/,
    ],
    [
      { OIDC_RS_PRIVATE_KEY_STR: "no key" },
      /^OIDC_RS_PRIVATE_KEY_STR: must be a private key that can be read/,
    ],
    [{ OIDC_RS_PRIVATE_KEY_STR: short }, /^OIDC_RS_PRIVATE_KEY_STR: must be a key of at least 2048 bits$/],
    [{ OIDC_RS_PRIVATE_KEY_STR: signing }, /^OIDC_RS_PRIVATE_KEY_STR: must be an RSA or EC private key$/],
    [{ OIDC_RS_PRIVATE_KEY_STR: ec, OIDC_RS_ENCRYPTION_ALGO: "RSA-OAEP" }, /is a key of type EC, which/],
  ])("that are invalid or contradict each other stop the start: %#", (environment, error) => {
    expect(() => read(environment)).toThrow(error);
    expect(() => read(environment)).not.toThrow(/no key|BEGIN|\n/);
  });

  it("may lack the key of a model on AWS, where only functions that use it read it", () => {
    const MISTRAL_SDK_BASE_URL = "https://models.example";
    expect(read({ MISTRAL_SDK_BASE_URL, WEFT_PLATFORM: "aws" }).models).toMatchObject({ apiKey: undefined });
  });

  it("of DOCUMENT_SETTINGS that consumers read are separate from those that require secrets", () => {
    const DOCUMENT_SETTINGS = JSON.stringify({
      DOCUMENT_IMAGE_MAX_SIZE: "5000",
      COLLABORATION_API_URL: "https://live.example.org",
    });
    expect(() => read({ DOCUMENT_SETTINGS })).toThrow("COLLABORATION_SERVER_SECRET");
    const { attachments, collaborationApi } = readConfig(
      consumerEnvironment({ DOCUMENT_SETTINGS }),
    ).documents;
    expect({ maxBytes: attachments.maxBytes, collaborationApi }).toEqual({
      maxBytes: 5000,
      collaborationApi: undefined,
    });
    expect(() => consumerEnvironment({ DOCUMENT_SETTINGS: '{"PORT":"1"}' })).toThrow("remove PORT");
  });

  it("may be set together in DOCUMENT_SETTINGS, over which a variable takes precedence", () => {
    const DOCUMENT_SETTINGS = JSON.stringify({
      FRONTEND_THEME: "blue",
      POSTHOG_KEY: "p",
      API_DOCUMENT_THROTTLE_RATE: "",
    });
    const set = read({ DOCUMENT_SETTINGS, FRONTEND_THEME: "red", WEFT_PLATFORM: "aws" });
    expect(set.clientSettings).toMatchObject({ FRONTEND_THEME: "red", POSTHOG_KEY: "p" });
    expect(set.throttles).toMatchObject({ document: [], config: [{ count: 30, periodMs: 60_000 }] });
  });
});

describe("secrets in files", () => {
  it("are read without the trailing newline", () => {
    const PRIMARY_SDK_BASE_URL = "https://models.example/v1";
    expect(read({ PRIMARY_SDK_API_KEY_FILE: file("sk-2\n"), PRIMARY_SDK_BASE_URL }).models?.apiKey).toBe(
      "sk-2",
    );
    expect(readConfig({ LLM_BASE_URL: "https://h", LLM_API_KEY_FILE: file("sk-3\n") }).llm.providers).toEqual(
      [expect.objectContaining({ apiKey: "sk-3" })],
    );
    const mail = { DJANGO_EMAIL_HOST: "mail.example", DJANGO_EMAIL_HOST_PASSWORD_FILE: file("pass\n") };
    expect(readConfig(mail).mail.smtp?.password).toBe("pass");
  });

  it("stop the start if they are unreadable, too large, or also set directly", () => {
    const path = file("x".repeat(65_537));
    const name = "Y_PROVIDER_API_KEY";
    expect(() => read({ [`${name}_FILE`]: path })).toThrow(
      `${name}_FILE: must be the path of a file of at most 64 KB`,
    );
    expect(() => read({ [`${name}_FILE`]: folder })).toThrow(
      `${name}_FILE: must be the path of a file of at most 64 KB`,
    );
    expect(() => read({ [`${name}_FILE`]: join(folder, "none") })).toThrow(
      `${name}_FILE: must be the path of a readable file`,
    );
    expect(() => read({ [`${name}_FILE`]: path, [name]: "x" })).toThrow(
      `${name}: set either ${name} or ${name}_FILE, not both`,
    );
  });
});

describe("the JWKS", () => {
  it.each([
    ["RSA", rsa, ["e", "kty", "n"], "RSA-OAEP"],
    ["EC", ec, ["crv", "kty", "x", "y"], "ECDH-ES"],
    ["RSA", rsa.replaceAll("\n", "\\n"), ["e", "kty", "n"], "RSA-OAEP"],
  ])("contains only the public key of an %s key, with its thumbprint as kid", (kty, text, members, alg) => {
    const [key = { kty: "", kid: "" }, ...others] =
      read({ OIDC_RS_PRIVATE_KEY_STR: text }).keySet?.keys ?? [];
    expect(others).toEqual([]);
    expect(Object.keys(key).toSorted()).toEqual([...members, "alg", "kid", "use"].toSorted());
    const canonical = JSON.stringify(Object.fromEntries(members.map((name) => [name, key[name]])));
    expect(key).toMatchObject({
      kty,
      alg,
      use: "enc",
      kid: createHash("sha256").update(canonical).digest("base64url"),
    });
  });
});

describe("throttle rates", () => {
  it("are off by default on a loopback address and those of the contract on other addresses", () => {
    const counts = (environment: Record<string, string>) =>
      Object.entries(read(environment).throttles).map(([scope, rates]) => [
        scope,
        rates.map(({ count, periodMs }) => `${count}/${periodMs}`).join(),
      ]);
    const failures = { failed_authentication: "300/60000" };
    const limited = (environment: Record<string, string>) =>
      Object.fromEntries(counts(environment).filter(([, rates]) => rates !== ""));
    expect(limited({})).toEqual(failures);
    for (const HOST of ["localhost", "127.0.0.1", "127.8.9.1", "::1"])
      expect(limited({ HOST })).toEqual(failures);
    const reached = [
      { HOST: "0.0.0.0" },
      { HOST: "::" },
      { HOST: "192.0.2.1" },
      { HOST: "docs.example.org" },
    ];
    for (const environment of [...reached, { WEFT_PLATFORM: "aws" }])
      expect(Object.fromEntries(counts(environment))).toEqual({
        document: "80/60000",
        document_updates: "1200/60000",
        document_access: "50/60000",
        invitation: "60/60000",
        document_ask_for_access: "30/60000",
        config: "30/60000",
        user_list: "30/60000,180/3600000",
        login: "600/60000",
        ...failures,
      });
    expect(
      Object.fromEntries(counts({ WEFT_PLATFORM: "aws", API_CONFIG_THROTTLE_RATE: "off" }))["config"],
    ).toBe("");
    expect(Object.fromEntries(counts({ API_CONFIG_THROTTLE_RATE: "123456789012/s" }))["config"]).toBe(
      "123456789012/1000",
    );
    expect(Object.fromEntries(counts({ API_CONFIG_THROTTLE_RATE: "2/s" }))["config"]).toBe("2/1000");
    expect(Object.fromEntries(counts({ API_CONFIG_THROTTLE_RATE: "5/day" }))["config"]).toBe("5/86400000");
  });
});
