import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openNetwork } from "../network/network.ts";
import {
  type LlmServer,
  noReply,
  replyError,
  replyJson,
  replyStream,
  startLlmServer,
} from "../testing/test-llm-server.ts";
import { type ChatRequest, completeChat, embedTexts, type LlmDeps } from "./complete.ts";
import { callConfig, type LlmParameters } from "./config.ts";
import { LlmError } from "./errors.ts";

let server: LlmServer;
let other: LlmServer;
beforeEach(async () => {
  [server, other] = await Promise.all([startLlmServer(), startLlmServer()]);
});
afterEach(async () => {
  await Promise.all([server[Symbol.asyncDispose](), other[Symbol.asyncDispose]()]);
});

const network = openNetwork({ privateAddresses: "allow", loopback: "as private" });
const USER = { role: "user", content: "hi" };

function depsOf(options: Partial<LlmDeps["llm"]> & { secrets?: Record<string, string> } = {}): LlmDeps {
  const { secrets = {}, ...llm } = options;
  const providers = [{ name: "default", baseUrl: server.baseUrl, apiKey: "key-of-default", model: "m1" }];
  return {
    network,
    llm: { providers, allowedHosts: [], ...llm },
    secrets: { get: async (name) => secrets[name], redact: (text) => text },
  };
}

const both = (): LlmDeps =>
  depsOf({
    providers: [
      { name: "one", baseUrl: server.baseUrl, apiKey: "key-of-one", model: "m1" },
      { name: "two", baseUrl: other.baseUrl, apiKey: "key-of-two", model: "m2" },
    ],
  });

interface Asked {
  readonly deps?: LlmDeps;
  readonly config?: LlmParameters;
  readonly extra?: LlmParameters;
  readonly stream?: boolean;
  readonly budgetMs?: number;
  readonly signal?: AbortSignal;
}

function chat(request: Partial<ChatRequest> = {}, asked: Asked = {}) {
  const { deps = depsOf(), budgetMs = 20_000, signal = new AbortController().signal, ...sources } = asked;
  return completeChat(deps, callConfig(sources), { messages: [USER], ...request }, { budgetMs, signal });
}

const failure = (asked: Promise<unknown>): Promise<LlmError> =>
  asked.then(
    () => Promise.reject(new Error("it was answered")),
    (error: unknown) => {
      expect(error).toBeInstanceOf(LlmError);
      return error as LlmError;
    },
  );

const invalid = (sources: Parameters<typeof callConfig>[0]): string => {
  try {
    callConfig(sources);
    return "";
  } catch (error) {
    return (error as Error).message;
  }
};

describe("a chat", () => {
  it("sends messages, model and key, and returns a flattened response", async () => {
    expect(await chat()).toEqual({
      id: "chatcmpl-1",
      model: "m1",
      created: 1_700_000_000,
      usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
      content: "you said: hi",
      finish_reason: "stop",
      role: "assistant",
    });
    expect(server.requests).toMatchObject([
      { path: "/v1/chat/completions", headers: { authorization: "Bearer key-of-default" } },
    ]);
    expect(server.requests[0]?.body).toEqual({ model: "m1", messages: [USER] });
    expect(Object.keys(server.requests[0]?.headers ?? {}).join(" ")).not.toMatch(/stainless/);
  });

  it("accepts parts, tools and a tool choice, and returns the model's tool calls", async () => {
    const parts = [
      { type: "text", text: "what is it?" },
      { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
    ];
    const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];
    const call = { id: "call_1", type: "function", function: { name: "look", arguments: '{"at":"x"}' } };
    server.next(
      replyJson({
        choices: [
          { finish_reason: "tool_calls", message: { role: "assistant", content: null, tool_calls: [call] } },
        ],
      }),
    );
    const messages = [{ role: "user", content: parts }];
    const answer = await chat({ messages, tools, toolChoice: "look" });
    expect(answer).toMatchObject({
      content: "",
      finish_reason: "tool_calls",
      tool_calls: [call],
      model: "m1",
    });
    expect(server.requests[0]?.body).toEqual({
      model: "m1",
      messages,
      tools,
      tool_choice: { type: "function", function: { name: "look" } },
    });
    await chat({ messages, tools, toolChoice: "auto" });
    expect(server.requests[1]?.body["tool_choice"]).toBe("auto");
    await chat({ messages, toolChoice: "none" });
    expect(server.requests[2]?.body).not.toHaveProperty("tool_choice");
  });

  it("prefers the step's values to the settings, extra parameters first, and sends numbers as numbers", async () => {
    const config = {
      model: "mine",
      temperature: "0.2",
      max_tokens: 50,
      top_k: "4",
      n: 2,
      custom_headers: { "x-own": "1" },
      response_format: { type: "json_object" },
      stop: ["."],
      messages: "never",
      input: "never",
    };
    const answer = await chat({}, { config, extra: { max_tokens: "60", model: "extra" } });
    expect(answer.all_contents).toEqual(["you said: hi", "you said: hi (1)"]);
    expect(server.requests[0]?.body).toEqual({
      model: "extra",
      messages: [USER],
      temperature: 0.2,
      max_tokens: 60,
      top_k: 4,
      n: 2,
      response_format: { type: "json_object" },
      stop: ["."],
    });
    expect(server.requests[0]?.headers["x-own"]).toBe("1");
  });

  it("streams if the step says so, else by the extra parameters, else by llm_config", async () => {
    for (const [sources, streams] of [
      [{ stream: true, extra: { stream: false } }, true],
      [{ stream: false, config: { stream: true } }, false],
      [{ extra: { stream: "true" }, config: { stream: false } }, true],
      [{ config: { stream: true } }, true],
      [{}, false],
    ] as const) {
      server.requests.length = 0;
      expect(await chat({}, sources)).toMatchObject({
        content: "you said: hi",
        finish_reason: "stop",
        role: "assistant",
        model: "m1",
        id: "chatcmpl-1",
        usage: { total_tokens: 12 },
      });
      expect(server.requests[0]?.body["stream"] === true).toBe(streams);
    }
  });

  it("combines a streamed response: tool calls in chunks, several choices, comments and unusual chunks", async () => {
    const piece = (index: number, delta: object, finish_reason?: string) => ({
      choices: [{ index, delta, ...(finish_reason === undefined ? {} : { finish_reason }) }],
    });
    const call = (index: number, more: object) => ({ tool_calls: [{ index, ...more }] });
    server.next(
      replyStream([
        ": keep alive\n\n",
        { id: "s1", choices: [] },
        piece(1, { role: "assistant", content: "b" }),
        piece(0, { role: "assistant", content: "a" }),
        piece(0, call(1, { id: "c2", function: { name: "g", arguments: "{}" } })),
        piece(0, call(0, { id: "c1", type: "function", function: { name: "f", arguments: '{"x"' } })),
        piece(0, call(0, { function: { arguments: ":1}" } })),
        piece(0, {}, "tool_calls"),
        piece(1, { content: "é" }, "stop"),
        { choices: null },
      ]),
    );
    expect(await chat({}, { stream: true })).toMatchObject({
      id: "s1",
      content: "a",
      all_contents: ["a", "bé"],
      tool_calls: [
        { id: "c1", type: "function", function: { name: "f", arguments: '{"x":1}' } },
        { id: "c2", type: "function", function: { name: "g", arguments: "{}" } },
      ],
    });
  });

  it("accepts a complete response from a server that does not stream", async () => {
    const whole = { choices: [{ finish_reason: "stop", message: { content: "whole" } }] };
    server.next(replyJson(whole));
    expect((await chat({}, { stream: true })).content).toBe("whole");
  });

  it("sends no key to a provider without one, and reads keys from the secrets", async () => {
    const one = { name: "default", baseUrl: server.baseUrl, model: "m" };
    await chat({}, { deps: depsOf({ providers: [{ ...one, apiKeySecret: "LLM_API_KEY" }] }) });
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
    const secrets = { LLM_API_KEY: "from-the-secrets", OTHER: "other" };
    await chat({}, { deps: depsOf({ providers: [{ ...one, apiKeySecret: "OTHER" }], secrets }) });
    expect(server.requests[1]?.headers.authorization).toBe("Bearer other");
    const absent = chat({}, { deps: depsOf({ providers: [{ ...one, apiKeySecret: "GONE" }] }) });
    expect((await failure(absent)).message).toMatch(/the secret GONE does not exist/);
  });
});

describe("embeddings", () => {
  const embed = (input: readonly string[], config: LlmParameters = {}) =>
    embedTexts(depsOf(), callConfig({ config }), input, {
      budgetMs: 20_000,
      signal: new AbortController().signal,
    });

  it("are returned in the order of the inputs", async () => {
    expect(await embed(["a", "bb", "ccc"], { dimensions: 2 })).toEqual({
      model: "m1",
      usage: { prompt_tokens: 3, completion_tokens: 0, total_tokens: 3 },
      embeddings: [
        [0, 1],
        [1, 2],
        [2, 3],
      ],
    });
    expect(server.requests[0]).toMatchObject({
      path: "/v1/embeddings",
      body: { model: "m1", input: ["a", "bb", "ccc"], encoding_format: "float", dimensions: 2 },
    });
  });

  it("are rejected if they are fewer than the inputs", async () => {
    server.next(replyJson({ data: [{ index: 0, embedding: [1] }] }));
    expect((await failure(embed(["a", "b"], { max_retries: 1 }))).message).toMatch(
      /1 embeddings for 2 inputs/,
    );
  });
});

describe("a provider that fails", () => {
  it("is retried after a 429, after the requested delay", async () => {
    server.next(replyError(429, "slow down", { "retry-after": "1" }));
    expect((await chat()).content).toBe("you said: hi");
    const [first, second] = server.requests;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(990);
  });

  it("is retried after a 500, a closed connection or an invalid response, up to max_retries", async () => {
    server.next(
      replyError(500, "oops"),
      (outgoing) => void outgoing.destroy(),
      replyJson("{broken", 200),
      replyJson({ error: { message: "overloaded" } }),
      replyJson("<html>", 200, { "content-type": "text/html" }),
    );
    const started = performance.now();
    const failed = await failure(chat({}, { config: { max_retries: 3 } }));
    expect([failed.message, server.requests.length]).toEqual([
      expect.stringMatching(/^provider default: .*not JSON/),
      3,
    ]);
    expect(performance.now() - started).toBeGreaterThan(1_490);
    expect((await failure(chat({}, { config: { max_retries: 1 } }))).message).toMatch(/overloaded/);
    expect((await failure(chat({}, { config: { max_retries: 0 } }))).message).toMatch(
      /does not follow OpenAI's protocol/,
    );
    expect(server.requests).toHaveLength(5);
  });

  it("is followed immediately by the next one, with its own key and model", async () => {
    for (const reply of [
      replyError(500, "x"),
      replyError(429, "x", { "retry-after": "30" }),
      replyError(401, "bad key"),
    ]) {
      server.next(reply);
      other.requests.length = 0;
      const started = performance.now();
      expect(await chat({}, { deps: both() })).toMatchObject({ model: "m2", content: "you said: hi" });
      expect(performance.now() - started).toBeLessThan(10_000);
      expect(other.requests[0]?.headers.authorization).toBe("Bearer key-of-two");
    }
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(
      Array(3).fill("Bearer key-of-one"),
    );
  });

  it("is followed by the next one when it times out", async () => {
    server.next(noReply);
    const answer = await chat({}, { deps: both(), config: { timeout: "100ms" } });
    expect(answer.model).toBe("m2");
  });

  it("is listed with its error when none responds; one that rejects the caller is tried once", async () => {
    server.next(replyError(401, "bad key"), replyError(401, "bad key"));
    other.next(replyError(503, "busy"), replyError(503, "still busy"));
    const failed = await failure(chat({}, { deps: both(), config: { max_retries: 2 } }));
    expect(failed.message).toBe("provider one: 401 bad key; provider two: 503 still busy");
    expect([server.requests.length, other.requests.length]).toEqual([1, 2]);
  });

  it("ends the call if it rejects the request as invalid", async () => {
    server.next(replyError(400, "max_tokens is too large"));
    expect((await failure(chat({}, { deps: both() }))).message).toBe(
      "provider one: 400 max_tokens is too large",
    );
    expect(other.requests).toHaveLength(0);
  });

  it("is not retried if it requests a delay of more than a minute", async () => {
    server.next(replyError(429, "quota", { "retry-after": "3600" }));
    expect((await failure(chat())).message).toBe("provider default: 429 quota");
    expect(server.requests).toHaveLength(1);
  });
});

describe("a call ends", () => {
  it("at its timeout, also during a stream", async () => {
    server.next(noReply);
    const config = { timeout: 0.1, max_retries: 1 };
    expect((await failure(chat({}, { config }))).message).toMatch(/did not respond within 100 ms/);
    server.next((outgoing) => {
      outgoing.writeHead(200, { "content-type": "text/event-stream" });
      outgoing.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: "half" } }] })}\n\n`);
    });
    expect((await failure(chat({}, { config, stream: true }))).message).toMatch(
      /did not respond within 100 ms/,
    );
  });

  it("when the time limit of all attempts is over", async () => {
    server.next(noReply, noReply, noReply);
    const failed = await failure(chat({}, { config: { timeout: "100ms", max_retries: 10 }, budgetMs: 300 }));
    expect(failed.message).toMatch(/did not respond/);
    expect(server.requests.length).toBeLessThan(3);
  });

  it("when it is cancelled", async () => {
    server.next(noReply);
    const controller = new AbortController();
    const asked = chat({}, { signal: controller.signal }).then(
      () => "answered",
      () => "ended",
    );
    setTimeout(() => controller.abort(), 30);
    expect(await asked).toBe("ended");
  });

  it("when a streamed response is truncated", async () => {
    const half = { choices: [{ index: 0, delta: { content: "half" } }] };
    server.next(replyStream([half], ""));
    const config = { max_retries: 1 };
    expect((await failure(chat({}, { config, stream: true }))).message).toMatch(/ended too early/);
    server.next(replyStream([half, "data: {broken\n\n"]));
    expect((await failure(chat({}, { config, stream: true }))).message).toMatch(/not JSON/);
  });

  it("when a response is too large, without a retry", async () => {
    const block = "x".repeat(1024 * 1024);
    let sent = 0;
    server.next((outgoing) => {
      outgoing.writeHead(200, { "content-type": "application/json" });
      const more = (): void => {
        while (sent < 500 && outgoing.write(block)) sent += 1;
      };
      outgoing.on("drain", () => {
        sent += 1;
        more();
      });
      more();
    });
    expect((await failure(chat({}, { deps: both() }))).message).toMatch(/larger than 67108864 bytes/);
    expect([server.requests.length, other.requests.length]).toEqual([1, 0]);
    expect(sent).toBeLessThan(400);
  });
});

describe("a key", () => {
  const NOWHERE = "http://127.0.0.1:1/v1";

  it("is never sent to a base_url of another host, port or scheme, allowed or not", async () => {
    const refusedAt = (base_url: string, allowedHosts: string[] = []) =>
      failure(chat({}, { deps: depsOf({ allowedHosts }), config: { base_url, model: "m" } }));
    expect((await refusedAt(other.baseUrl)).message).toBe(
      `llm_config.base_url: ${other.host} is not one of LLM_ALLOWED_HOSTS`,
    );
    for (const base_url of [
      `http://${server.host}.evil.example.org/v1`,
      `http://evil.example.org/${server.host}/v1`,
      `http://${server.host}@evil.example.org/v1`,
      `https://${server.host}/v1`,
      "file:///etc/passwd",
      "no url",
    ])
      expect((await refusedAt(base_url)).fault).toBe("invalid");
    expect((await refusedAt(`${NOWHERE}?x=1`, ["127.0.0.1"])).message).toMatch(/127.0.0.1:1 is not one of/);
    const deps = depsOf({ allowedHosts: [other.host] });
    await chat({}, { deps, config: { base_url: other.baseUrl, model: "m" } });
    expect(other.requests[0]?.headers.authorization).toBeUndefined();
    expect(JSON.stringify(other.requests)).not.toContain("key-of");
    expect(server.requests).toHaveLength(0);
  });

  it("is sent to a base_url of its own origin", async () => {
    await chat({}, { config: { base_url: `${server.baseUrl}/chat/completions` } });
    expect(server.requests[0]).toMatchObject({
      path: "/v1/chat/completions",
      headers: { authorization: "Bearer key-of-default" },
    });
  });

  it("is never sent to a redirect target", async () => {
    for (const status of [301, 302, 303, 307, 308])
      server.next((outgoing) => void outgoing.writeHead(status, { location: other.baseUrl }).end());
    for (const status of [301, 302, 303, 307, 308])
      expect((await failure(chat())).message).toMatch(new RegExp(`returned ${status}, and redirects`));
    expect([server.requests.length, other.requests.length]).toEqual([5, 0]);
  });

  it("cannot be set by a workflow", () => {
    expect(invalid({ config: { api_key: "mine" } })).toMatch(/llm_config.api_key: must not contain API keys/);
  });
});

describe("the configuration of a call", () => {
  it.each([
    [{ temperature: "hot" }, /llm_config.temperature: must be a number/],
    [{ max_tokens: 0 }, /max_tokens: must be a whole number/],
    [{ n: 1000 }, /n: must be 1 to 128/],
    [{ timeout: "soon" }, /timeout: must be a duration/],
    [{ max_retries: 99 }, /max_retries: must be 0 to 10/],
    [{ stream: "maybe" }, /stream: must be true or false/],
    [{ custom_headers: { "a b": "x" } }, /custom_headers.a b: is not a valid header name/],
    [{ custom_headers: { a: "x\r\nb: c" } }, /must not have line breaks/],
    [{ model: 5 }, /model: must be text/],
  ])("rejects %j", (config, message) => {
    expect(invalid({ config })).toMatch(message);
  });

  it("fails without a provider, a model, or the named provider, and names the setting", async () => {
    const none = depsOf({ providers: [] });
    expect((await failure(chat({}, { deps: none }))).message).toMatch(/set LLM_BASE_URL/);
    expect((await failure(chat({}, { deps: none, config: { provider: "x" } }))).message).toMatch(
      /LLM_BASE_URL/,
    );
    expect((await failure(chat({}, { deps: both(), config: { provider: "x" } }))).message).toMatch(
      /unknown provider "x", must be one of: one, two/,
    );
    const bare = depsOf({ providers: [{ name: "default", baseUrl: server.baseUrl }] });
    expect((await failure(chat({}, { deps: bare }))).message).toMatch(/LLM_MODEL/);
  });

  it("selects a provider by name, without fallback", async () => {
    expect((await chat({}, { deps: both(), config: { provider: "two" } })).model).toBe("m2");
    other.next(replyError(401, "no"));
    expect((await failure(chat({}, { deps: both(), config: { provider: "two" } }))).message).toMatch(
      /two: 401/,
    );
    expect(server.requests).toHaveLength(0);
  });

  it("is subject to the address policy", async () => {
    const deps = { ...depsOf(), network: openNetwork({ privateAddresses: "deny", loopback: "as private" }) };
    expect((await failure(chat({}, { deps }))).message).toMatch(
      /private address.*HTTP_STEP_PRIVATE_ADDRESSES/,
    );
    const metadata = [{ name: "default", baseUrl: "http://169.254.169.254/v1", model: "m" }];
    expect((await failure(chat({}, { deps: depsOf({ providers: metadata }) }))).message).toMatch(/metadata/);
    expect(server.requests).toHaveLength(0);
  });
});
