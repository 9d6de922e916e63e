import { describe, expect, it } from "vitest";
import { readConfig } from "./config.ts";
import { llmKeys } from "./llm-settings.ts";

const FURTHER = JSON.stringify([
  { name: "second", base_url: "http://127.0.0.1:1/v1/", api_key: "k2", model: "large" },
  { name: "third", base_url: "https://h/v1/chat/completions", api_key_secret: "LLM_THIRD" },
]);

describe("the settings of language models", () => {
  it("put the provider of LLM_BASE_URL first, and give LLM_MODEL to those that have none", () => {
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

  it("may all be missing or empty, and the key a secret", () => {
    expect(readConfig({ LLM_BASE_URL: "", LLM_PROVIDERS: " ", LLM_ALLOWED_HOSTS: "" }).llm).toEqual({
      providers: [],
      allowedHosts: [],
    });
    expect(readConfig({ LLM_BASE_URL: "https://h" }).llm.providers).toEqual([
      { name: "default", baseUrl: "https://h", apiKeySecret: "LLM_API_KEY" },
    ]);
  });

  it.each([
    [{ LLM_BASE_URL: "h.example.org/v1" }, /LLM_BASE_URL: must be an http or https URL/],
    [{ LLM_BASE_URL: "https://user:secret-word@h/" }, /LLM_BASE_URL: must be an http or https URL/],
    [{ LLM_PROVIDERS: "[{secret-word" }, /LLM_PROVIDERS: must be JSON/],
    [{ LLM_PROVIDERS: '{"name": "x"}' }, /LLM_PROVIDERS: \[\]/],
    [
      { LLM_PROVIDERS: '[{"name": "a b", "base_url": "https://h"}]' },
      /LLM_PROVIDERS: \[0\.name\] must be a name/,
    ],
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
  ])("%j are refused, and no key is told", (environment, message) => {
    let told = "";
    try {
      readConfig(environment);
    } catch (error) {
      told = (error as Error).message;
    }
    expect(told).toMatch(message);
    expect(told).not.toContain("secret-word");
  });
});

describe("the address policy", () => {
  it("allows private addresses on one machine and denies them in AWS, unless told", () => {
    const policy = (environment: Record<string, string>) => readConfig(environment).network.privateAddresses;
    expect(policy({})).toBe("allow");
    expect(policy({ WEFT_PLATFORM: "aws" })).toBe("deny");
    expect(policy({ WEFT_PLATFORM: "aws", HTTP_STEP_PRIVATE_ADDRESSES: "allow" })).toBe("allow");
    expect(policy({ HTTP_STEP_PRIVATE_ADDRESSES: "deny" })).toBe("deny");
  });
});
