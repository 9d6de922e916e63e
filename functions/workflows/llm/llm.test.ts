import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Deps } from "#lib/app/aws.ts";
import { hashToken, ownerAuthenticator } from "#lib/http/auth.ts";
import { toHandler } from "#lib/http/handler.ts";
import type { Route } from "#lib/http/route.ts";
import { openNetwork } from "#lib/network/network.ts";
import { silentLog } from "#lib/platform/embedded/test-platform.ts";
import { createRedactor } from "#lib/redaction/redaction.ts";
import { type LlmServer, replyError, replyJson, startLlmServer } from "#lib/testing/test-llm-server.ts";
import { route as chat } from "./chat.ts";
import { route as embeddings } from "./embeddings.ts";

const TOKEN = "a-token-of-some-length";
const KEY = "sk-of-the-provider";
const USER = { role: "user", content: "hi" };

let server: LlmServer;
beforeAll(async () => {
  server = await startLlmServer();
});
beforeEach(() => {
  server.requests.length = 0;
});
afterAll(() => server[Symbol.asyncDispose]());

async function post<P, Q, B, R>(
  route: Route<P, Q, B, R, Deps>,
  body: unknown,
  llm: Partial<Deps["llm"]> = {},
) {
  const redactor = createRedactor();
  redactor.add([KEY]);
  const deps = {
    auth: ownerAuthenticator(hashToken(TOKEN)),
    log: silentLog,
    network: openNetwork({ privateAddresses: "allow", loopback: "as private" }),
    secrets: { get: async () => undefined, redact: redactor.redact },
    llm: {
      providers: [{ name: "default", baseUrl: server.baseUrl, apiKey: KEY, model: "small" }],
      allowedHosts: [],
      ...llm,
    },
  } as unknown as Deps;
  const answer = await toHandler(
    route,
    async () => deps,
  )({
    httpMethod: "POST",
    path: `/automation${route.path}`,
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    pathParameters: null,
    queryStringParameters: null,
    body: JSON.stringify(body),
    isBase64Encoded: false,
  });
  const json = JSON.parse(answer.body) as Record<string, unknown>;
  return { status: answer.statusCode, json, message: String(json["message"]) };
}

describe("POST /llm/v1/chat/completions", () => {
  it("returns a flattened response, and passes on unknown parameters", async () => {
    const { status, json } = await post(chat, { messages: [USER], temperature: 0.5, seed: 7, stream: true });
    expect([status, json]).toEqual([
      200,
      {
        id: "chatcmpl-1",
        model: "small",
        created: 1_700_000_000,
        role: "assistant",
        content: "you said: hi",
        finish_reason: "stop",
        usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
      },
    ]);
    expect(server.requests[0]?.body).toMatchObject({
      model: "small",
      temperature: 0.5,
      seed: 7,
      stream: true,
    });
  });

  it.each([
    [{}, /^messages: must be a list of messages/],
    [{ messages: [] }, /^messages: must not be empty/],
    [{ messages: [{ role: "robot", content: "x" }] }, /^messages\.0\.role: must be one of system/],
    [{ messages: [USER], temperature: "hot" }, /^temperature: must be a number/],
    [{ messages: [USER], n: 10_000 }, /^n: must be 1 to 128/],
    [{ messages: [USER], api_key: "x" }, /^api_key: must not contain API keys/],
    [{ messages: [USER], provider: "nobody" }, /unknown provider "nobody"/],
    [
      { messages: [USER], base_url: "http://keys.example.org" },
      /keys\.example\.org is not one of LLM_ALLOWED_HOSTS/,
    ],
  ])("%j is a bad request", async (body, message) => {
    const answer = await post(chat, body);
    expect([answer.status, answer.message]).toEqual([400, expect.stringMatching(message)]);
    expect(server.requests).toHaveLength(0);
  });

  it("reports that no provider is configured, or the provider's error, without its key", async () => {
    const none = await post(chat, { messages: [USER] }, { providers: [] });
    expect([none.status, none.message]).toEqual([
      503,
      expect.stringMatching(/^No LLM providers configured: .*LLM_BASE_URL/),
    ]);
    server.next(replyError(401, `Incorrect API key provided: ${KEY}`));
    const denied = await post(chat, { messages: [USER] });
    expect([denied.status, denied.message]).toEqual([
      503,
      "LLM request failed: provider default: 401 Incorrect API key provided: ***",
    ]);
    server.next(replyJson({ choices: [{ finish_reason: "stop", message: { content: KEY } }] }));
    expect((await post(chat, { messages: [USER] })).json["content"]).toBe("***");
  });
});

describe("POST /llm/v1/embeddings", () => {
  it("returns the vectors in the order of the texts", async () => {
    expect((await post(embeddings, { input: ["a", "bb"], model: "vectors" })).json).toEqual({
      model: "vectors",
      embeddings: [
        [0, 1],
        [1, 2],
      ],
      usage: { prompt_tokens: 3, completion_tokens: 0, total_tokens: 3 },
    });
    expect((await post(embeddings, { input: "one" })).json["embeddings"]).toEqual([[0, 3]]);
  });

  it.each([[{}], [{ input: [] }], [{ input: [5] }], [{ input: "" }]])("%j is a bad request", async (body) => {
    const answer = await post(embeddings, body);
    expect([answer.status, answer.message]).toEqual([
      400,
      expect.stringMatching(/^input: (?:must be text or a list|must have at least 1 entry)/),
    ]);
  });
});
