import { describe, expect, it } from "vitest";
import { readConfig } from "./config.ts";
import { llmKeys } from "./llm.ts";

const FURTHER = JSON.stringify([
  { name: "second", base_url: "http://127.0.0.1:1/v1/", api_key: "k2", model: "large" },
  { name: "third", base_url: "https://h/v1/chat/completions", api_key_secret: "LLM_THIRD" },
]);

describe("LLM settings", () => {
  it("put the provider of LLM_BASE_URL first, and use LLM_MODEL for providers without a model", () => {
    const { llm } = readConfig({
      LLM_BASE_URL: "https://api.example.org/v1/",
      LLM_API_KEY: "k1",
      LLM_MODEL: "small",
      LLM_PROVIDERS: FURTHER,
      LLM_ALLOWED_HOSTS: "H.example.org, 127.0.0.1:11434",
    });
    expect(llm).toEqual({
      providers: [
        { name: "default", baseUrl: "https://api.example.org/v1", apiKey: "k1", model: "small" },
        { name: "second", baseUrl: "http://127.0.0.1:1/v1", apiKey: "k2", model: "large" },
        { name: "third", baseUrl: "https://h/v1", apiKeySecret: "LLM_THIRD", model: "small" },
      ],
      allowedHosts: ["h.example.org", "127.0.0.1:11434"],
    });
    expect(llmKeys(llm)).toEqual(["k1", "k2"]);
  });

  it("may all be unset or empty, and the key may be a workflow secret", () => {
    expect(readConfig({ LLM_BASE_URL: "", LLM_PROVIDERS: " ", LLM_ALLOWED_HOSTS: "" }).llm).toEqual({
      providers: [],
      allowedHosts: [],
    });
    expect(readConfig({ LLM_BASE_URL: "https://h" }).llm.providers).toEqual([
      { name: "default", baseUrl: "https://h", apiKeySecret: "LLM_API_KEY" },
    ]);
  });

  it.each([
    [{ LLM_BASE_URL: "h.example.org/v1" }, /LLM_BASE_URL: must be a URL that begins with http/],
    [{ LLM_BASE_URL: "https://user:secret-word@h/" }, /LLM_BASE_URL: must be a URL that begins with http/],
    [{ LLM_PROVIDERS: "[{secret-word" }, /LLM_PROVIDERS: must be valid JSON/],
    [{ LLM_PROVIDERS: '{"name": "x"}' }, /LLM_PROVIDERS: must be a JSON array/],
    [{ LLM_PROVIDERS: '[{"name": "a b", "base_url": "https://h"}]' }, /LLM_PROVIDERS: \[0\]\.name must be/],
    [
      { LLM_PROVIDERS: '[{"name": "x", "base_url": "https://h", "key": "secret-word"}]' },
      /LLM_PROVIDERS: \[0\]/,
    ],
    [
      { LLM_BASE_URL: "https://h", LLM_PROVIDERS: '[{"name": "default", "base_url": "https://h"}]' },
      /two providers have the name default/,
    ],
    [{ LLM_ALLOWED_HOSTS: "https://h" }, /LLM_ALLOWED_HOSTS: must be hosts/],
    [{ LLM_ALLOWED_HOSTS: "h/path" }, /LLM_ALLOWED_HOSTS: must be hosts/],
    [{ HTTP_STEP_PRIVATE_ADDRESSES: "maybe" }, /HTTP_STEP_PRIVATE_ADDRESSES: must be allow or deny/],
  ])("%j is rejected without a key in the error", (environment, message) => {
    let error = "";
    try {
      readConfig(environment);
    } catch (thrown) {
      error = (thrown as Error).message;
    }
    expect(error).toMatch(message);
    expect(error).not.toContain("secret-word");
  });
});

describe("HTTP_STEP_PRIVATE_ADDRESSES", () => {
  it("is by default allow on the embedded platform and deny on AWS", () => {
    const policy = (environment: Record<string, string>) => readConfig(environment).network.privateAddresses;
    expect(policy({})).toBe("allow");
    expect(policy({ WEFT_PLATFORM: "aws" })).toBe("deny");
    expect(policy({ WEFT_PLATFORM: "aws", HTTP_STEP_PRIVATE_ADDRESSES: "allow" })).toBe("allow");
    expect(policy({ HTTP_STEP_PRIVATE_ADDRESSES: "deny" })).toBe("deny");
  });
});
