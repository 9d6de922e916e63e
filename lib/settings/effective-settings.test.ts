import { describe, expect, it } from "vitest";
import { effectiveSettings } from "./effective-settings.ts";

const byName = (environment: Record<string, string>) =>
  new Map(effectiveSettings(environment).map((setting) => [setting.name, setting]));

/** Settings whose names sound like secrets and whose values are not secret. */
const HARMLESS = [
  "OIDC_OP_TOKEN_ENDPOINT",
  "OIDC_STORE_ID_TOKEN",
  "OIDC_STORE_ACCESS_TOKEN",
  "OIDC_STORE_REFRESH_TOKEN",
  "OIDC_RS_ENCRYPTION_KEY_TYPE",
  "REMOTE_KEYS_DIR",
  // Part of the configuration that every browser receives.
  "POSTHOG_KEY",
];

describe("effective settings", () => {
  it("contain no value of a secret", () => {
    const secrets = [...byName({}).values()].filter(
      ({ name, is_secret }) =>
        /KEY|SECRET|TOKEN|PASSWORD/.test(name) && !HARMLESS.includes(name) && !is_secret,
    );
    expect(secrets).toEqual([]);
    const names = [...byName({}).values()].filter(({ is_secret }) => is_secret).map(({ name }) => name);
    const set = byName(Object.fromEntries(names.map((name) => [name, `hidden-${name}`])));
    for (const name of names) expect(set.get(name)).toMatchObject({ value: null, is_set: true });
  });

  it("say which value applies, where it is from, and which secrets a file sets", () => {
    const set = byName({ PORT: "8080", HOST: "", LLM_API_KEY_FILE: "/run/key", DJANGO_EMAIL_HOST: "mail" });
    expect(set.get("PORT")).toMatchObject({ value: "8080", default: "3000", is_set: true });
    expect(set.get("HOST")).toMatchObject({ value: "127.0.0.1", is_set: false });
    expect(set.get("PUBLIC_URL")).toMatchObject({ value: null, default: "the host of the request" });
    expect(set.get("LLM_API_KEY")).toMatchObject({ value: null, is_set: true });
  });

  it("are those that the function receives, in Lambda", () => {
    const names = [...byName({ AWS_LAMBDA_FUNCTION_NAME: "f", PUBLIC_URL: "", WEFT_STACK: "weft" }).keys()];
    expect(names.sort()).toEqual(["PUBLIC_URL", "WEFT_STACK"]);
  });
});
