import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TEST_TOKEN, type TestDeps, type TestDepsOptions, testDeps } from "#lib/testing/test-deps.ts";
import { createUser, grantRole, setLink, type TestUser } from "#lib/testing/test-documents.ts";
import { type GatewayRequest, type TestGateway, testGateway } from "#lib/testing/test-gateway.ts";
import {
  type LlmReply,
  type LlmServer,
  noReply,
  replyError,
  replyJson,
  replyStream,
  startLlmServer,
} from "#lib/testing/test-llm-server.ts";

const UNLIMITED = { AI_DOCUMENT_RATE_THROTTLE_RATES: "off", AI_USER_RATE_THROTTLE_RATES: "off" };
const NOT_ENABLED = [400, ["AI feature is not enabled."]];
const KEY = "key-of-the-model";

let model: LlmServer;
let test: TestDeps | undefined;
let gateway: TestGateway;
let id: string;

beforeEach(async () => {
  model = await startLlmServer();
});
afterEach(async () => {
  await model[Symbol.asyncDispose]();
  await close();
});

async function close(): Promise<void> {
  if (test === undefined) return;
  await gateway.close();
  await test.close();
  test = undefined;
}

async function open(
  settings: Record<string, string> = {},
  options: Pick<TestDepsOptions, "folder" | "clock"> = {},
): Promise<TestDeps> {
  await close();
  test = await testDeps({
    ...options,
    settings: {
      AI_FEATURE_ENABLED: "true",
      AI_FEATURE_BLOCKNOTE_ENABLED: "true",
      AI_MODEL: "m1",
      ...(settings["MISTRAL_SDK_BASE_URL"] === undefined
        ? { PRIMARY_SDK_API_KEY: KEY, PRIMARY_SDK_BASE_URL: model.baseUrl }
        : {}),
      ...UNLIMITED,
      ...settings,
    },
  });
  gateway = await testGateway(test);
  id = (await gateway.request("POST", "/documents/", { body: { title: "Notes" } })).body.id;
  return test;
}

const ask = async (path: string, body: unknown, asked: GatewayRequest = {}, document = id) => {
  const {
    status,
    body: answer,
    headers,
  } = await gateway.request("POST", `/documents/${document}/${path}/`, {
    body,
    ...asked,
  });
  return { status, answer, headers, both: [status, answer] };
};
const transform = (text: string, asked?: GatewayRequest, document?: string) =>
  ask("ai-transform", { text, action: "correct" }, asked, document);
const translate = (text: string, language = "fr") => ask("ai-translate", { text, language });

const completion = (content: unknown, more: object = {}) =>
  replyJson({
    id: "c1",
    object: "chat.completion",
    created: 1_700_000_000,
    model: "m1",
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop", ...more }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  });

describe("POST documents/{id}/ai-transform/", () => {
  it("sends the text to the model of the first family, with one request that names nothing else", async () => {
    await open();
    expect((await transform("Helo <b>wrld</b>")).both).toEqual([
      200,
      { answer: "you said: Helo <b>wrld</b>" },
    ]);
    const [request] = model.requests;
    expect(model.requests.length).toBe(1);
    expect(request?.path).toBe("/v1/chat/completions");
    expect(request?.headers).toEqual({
      accept: "*/*",
      "accept-encoding": "gzip, deflate, br",
      authorization: `Bearer ${KEY}`,
      connection: expect.any(String),
      "content-length": expect.any(String),
      "content-type": "application/json",
      host: model.host,
      "user-agent": "weft",
    });
    expect(request?.body).toEqual({
      model: "m1",
      messages: [
        { role: "system", content: expect.stringContaining("Correct the grammar") },
        { role: "user", content: "Helo <b>wrld</b>" },
      ],
    });
  });

  it("sends the text to the second family, whose base URL has no version", async () => {
    const MISTRAL_SDK_BASE_URL = model.baseUrl.replace("/v1", "");
    await open({ MISTRAL_SDK_API_KEY: "key-of-mistral", MISTRAL_SDK_BASE_URL, AI_MODEL: "small" });
    model.next(completion([{ type: "text", text: "Hello" }]));
    expect((await transform("Helo")).both).toEqual([200, { answer: "Hello" }]);
    const [request] = model.requests;
    expect(request).toMatchObject({
      path: "/v1/chat/completions",
      headers: { authorization: "Bearer key-of-mistral", "user-agent": "weft" },
    });
    expect(request?.body).toMatchObject({
      model: "small",
      messages: [
        { role: "system", content: expect.stringContaining("Correct the grammar") },
        { role: "user", content: expect.anything() },
      ],
    });
    expect(JSON.stringify(request?.body.messages?.[1]?.content)).toContain("Helo");
  });

  it.each(["prompt", "correct", "rephrase", "summarize", "beautify", "emojify"])(
    "knows %s",
    async (action) => {
      await open();
      expect((await ask("ai-transform", { text: "x", action })).status).toBe(200);
    },
  );

  it("names the fields of invalid requests, before it counts them", async () => {
    await open({ AI_USER_RATE_THROTTLE_RATES: "1/minute" });
    const bodies: [unknown, unknown][] = [
      [{}, { text: ["This field is required."], action: ["This field is required."] }],
      [{ text: " ", action: "correct" }, { text: ["This field may not be blank."] }],
      [{ text: "x", action: "delete" }, { action: ['"delete" is not a valid choice.'] }],
      [{ text: null, action: "correct" }, { text: ["This field may not be null."] }],
      [
        { text: "x".repeat(200_001), action: "correct" },
        { text: ["Ensure this field has no more than 200000 characters."] },
      ],
    ];
    for (const [body, expected] of bodies)
      expect((await ask("ai-transform", body)).both).toEqual([400, expected]);
    expect((await transform("x")).status).toBe(200);
    expect(model.requests.length).toBe(1);
  });

  it("keeps the texts of documents apart", async () => {
    await open();
    const texts = Array.from({ length: 12 }, (_, index) => `secret-${index}-`);
    const documents = await Promise.all(
      texts.map(async () => (await gateway.request("POST", "/documents/", { body: {} })).body.id as string),
    );
    await Promise.all(
      texts.map(async (text, index) => {
        const { both } = await transform(text, {}, documents[index]);
        expect(both).toEqual([200, { answer: `you said: ${text}` }]);
      }),
    );
    const sent = model.requests.map(({ body }) => JSON.stringify(body).match(/secret-\d+-/g));
    expect(sent.map((found) => found?.length)).toEqual(texts.map(() => 1));
  });
});

describe("POST documents/{id}/ai-translate/", () => {
  const HTML =
    '<h2 id="a">Title</h2><p style="x">A <strong>bold</strong> <a href="https://example.org/?a=1&amp;b=2" target="_blank">link</a>&nbsp;&lt;3</p>' +
    '<ul><li>one</li><li>two<br>lines</li></ul><img src="/media/x.png" alt="A cat">';

  it("gives elements their attributes back, which the model does not see", async () => {
    await open();
    model.next((outgoing, request) => {
      const content = String(request.body.messages?.at(-1)?.content);
      expect(content).not.toMatch(/example\.org|media|style/);
      completion(content.replaceAll("link", "lien").replace("Title", "Titre"))(outgoing, request);
    });
    const expected = HTML.replace(">link", ">lien").replace("Title", "Titre");
    expect((await translate(HTML)).both).toEqual([200, { answer: expected }]);
    expect(model.requests[0]?.body.messages?.[0]?.content).toContain("into French");
  });

  it("accepts no markup that the text does not have", async () => {
    await open();
    model.next(
      completion(
        '```html\n<p onclick="x()" data-n="9">Bonjour <a data-n="1" href="javascript:x">ici</a><script>alert(1)</script>' +
          '<img src=x onerror=alert(1)><iframe srcdoc="x"></iframe><svg onload=x></svg><b>gras</b></p>\n```',
      ),
    );
    expect((await translate('<p>Hello <a href="/x">here</a></p>')).answer).toEqual({
      answer: '<p>Bonjour <a href="/x">ici</a>gras</p>',
    });
  });

  it("sends no scripts to the model, and returns none", async () => {
    await open();
    const { answer } = await translate(
      '<p onclick="x()">Hi<script>alert(1)</script> <a href=" java\nscript:x">a</a><a href="JavaScript:x" title="t">b</a></p>',
    );
    expect(answer.answer).not.toMatch(/script|onclick/i);
    expect(JSON.stringify(model.requests[0]?.body)).not.toMatch(/alert|javascript/i);
  });

  it.each(["de", "fr-ca", "zh-hans", "sr-latn", "kab"])("translates into %s", async (language) => {
    await open();
    expect((await translate("Hello", language)).status).toBe(200);
  });

  it.each(["xx", "", "english", "e".repeat(30), "fr;DROP"])(
    "does not know the language %s",
    async (language) => {
      await open();
      const { status, answer } = await translate("Hello", language);
      expect([status, Object.keys(answer)]).toEqual([400, ["language"]]);
    },
  );
});

describe("who may use AI functions", () => {
  it.each([
    ["public", 200, 200, 200],
    ["authenticated", 401, 200, 200],
    ["restricted", 401, 403, 200],
  ])("with AI_ALLOW_REACH_FROM=%s", async (reach, anonymous, byLink, member) => {
    const { deps } = await open({ AI_ALLOW_REACH_FROM: reach });
    const [ann, ben, cleo]: TestUser[] = await Promise.all(
      ["ann", "ben", "cleo"].map((name) => createUser(deps, name)),
    );
    await setLink(deps, id, "public", "editor");
    await grantRole(deps, id, ben?.id ?? "", "editor");
    expect((await transform("x", { token: null })).status).toBe(anonymous);
    expect((await transform("x", { token: ann?.token ?? "" })).status).toBe(byLink);
    expect((await transform("x", { token: ben?.token ?? "" })).status).toBe(member);
    await setLink(deps, id, "public", "reader");
    const refused = await transform("x", { token: cleo?.token ?? "" });
    expect(refused.both).toEqual([403, { detail: "You do not have permission to perform this action." }]);
    expect((await transform("x", {}, "11111111-1111-4111-8111-111111111111")).status).toBe(404);
  });

  it("is nobody unless the feature is enabled, which GET config/ says", async () => {
    for (const settings of [
      { AI_FEATURE_ENABLED: "false" },
      { AI_FEATURE_LEGACY_ENABLED: "false" },
    ] as Record<string, string>[]) {
      await open(settings);
      expect((await transform("x")).both).toEqual(NOT_ENABLED);
      expect((await ask("ai-translate", {})).both).toEqual(NOT_ENABLED);
      expect((await transform("x", { token: null })).status).toBe(401);
      expect((await gateway.request("GET", "/config/")).body).toMatchObject(
        Object.fromEntries(Object.keys(settings).map((name) => [name, false])),
      );
    }
    expect(model.requests).toEqual([]);
  });
});

describe("rate limits", () => {
  it("apply per user, with Retry-After, whatever the document is", async () => {
    const { clock } = await open({ AI_USER_RATE_THROTTLE_RATES: "2/minute,3/hour" });
    const other = (await gateway.request("POST", "/documents/", { body: {} })).body.id;
    expect((await transform("x")).status).toBe(200);
    clock.advance(10_000);
    expect((await transform("x", {}, other)).status).toBe(200);
    const refused = await transform("x");
    expect([...refused.both, refused.headers.get("retry-after")]).toEqual([
      429,
      { detail: "Request was throttled. Expected available in 50 seconds." },
      "50",
    ]);
    clock.advance(50_000);
    expect((await transform("x")).status).toBe(200);
    clock.advance(60_000);
    expect((await transform("x")).headers.get("retry-after")).toBe("3480");
    expect(model.requests.length).toBe(3);
  });

  it("apply per document, whoever asks, and to all processes together", async () => {
    const folder = await mkdtemp(join(tmpdir(), "weft-ai-"));
    try {
      const rates = { AI_DOCUMENT_RATE_THROTTLE_RATES: "4/minute" };
      const { deps, clock } = await open(rates, { folder });
      const document = id;
      const users = await Promise.all(["a", "b", "c"].map((name) => createUser(deps, name)));
      for (const user of users) await grantRole(deps, id, user.id, "editor");
      const statuses = await Promise.all(
        [...users, ...users, ...users].map(async ({ token }) => (await transform("x", { token })).status),
      );
      expect(statuses.toSorted()).toEqual([200, 200, 200, 200, 429, 429, 429, 429, 429]);
      await open(rates, { folder, clock });
      expect((await transform("x", {}, document)).status).toBe(429);
      expect((await transform("x")).status).toBe(200);
    } finally {
      await close();
      await rm(folder, { recursive: true });
    }
  });

  it("of anonymous callers do not depend on what they send", async () => {
    const { deps } = await open({ AI_ALLOW_REACH_FROM: "public", AI_USER_RATE_THROTTLE_RATES: "1/minute" });
    await setLink(deps, id, "public", "editor");
    const statuses: number[] = [];
    for (const address of ["1.1.1.1", "2.2.2.2", "3.3.3.3"])
      statuses.push(
        (
          await transform("x", {
            token: null,
            headers: { "x-forwarded-for": address, "x-real-ip": address, forwarded: `for=${address}` },
          })
        ).status,
      );
    expect(statuses).toEqual([200, 429, 429]);
  });
});

describe("a model that fails", () => {
  const failures: [string, LlmReply, number, RegExp][] = [
    [
      "responds with 500",
      replyError(500, `crashed with ${KEY}`),
      502,
      /^The language model failed with status 500\.$/,
    ],
    ["responds with 503", replyError(503, "x"), 502, /failed with status 503/],
    ["rejects the key", replyError(401, `invalid key ${KEY}`), 502, /failed with status 401/],
    ["is busy", replyError(429, "x", { "retry-after": "7" }), 503, /busy, try again later/],
    [
      "redirects",
      replyJson("", 302, { location: "http://example.org/" }),
      502,
      /^The language model failed\.$/,
    ],
    ["sends no JSON", replyJson("<html>"), 502, /^The language model failed/],
    ["has another protocol", replyJson({ ok: true }), 502, /^The language model failed/],
    ["closes the connection", (outgoing) => outgoing.destroy(), 502, /^The language model failed\.$/],
    ["returns nothing", completion(""), 502, /returned an empty response/],
    ["returns white space", completion(" \n"), 502, /returned an empty response/],
    ["refuses", completion("", { finish_reason: "content_filter" }), 502, /refused to answer/],
    [
      "refuses with a text",
      completion(null, { message: { role: "assistant", content: null, refusal: "I cannot do that." } }),
      502,
      /refused to answer/,
    ],
  ];
  it.each(failures)("because it %s, gives a clear error", async (_, reply, status, detail) => {
    const { logs } = await open();
    model.next(reply);
    const { status: answered, answer, headers } = await transform("text of the document");
    expect([answered, answer]).toEqual([status, { detail: expect.stringMatching(detail) }]);
    expect(headers.get("retry-after")).toBe(status === 503 ? "7" : null);
    expect(model.requests.length).toBe(1);
    expect(JSON.stringify(logs)).not.toContain("text of the document");
  });

  it("because it does not respond in time, gives a 504", async () => {
    await open({ AI_REQUEST_TIMEOUT: "1" });
    model.next(noReply);
    expect((await transform("x")).both).toEqual([
      504,
      { detail: "The language model did not respond within 1 seconds." },
    ]);
  });

  it("because it does not listen, gives a 502", async () => {
    await open({ PRIMARY_SDK_BASE_URL: "http://127.0.0.1:1/v1" });
    expect((await transform("x")).both).toEqual([502, { detail: "The language model failed." }]);
  });

  it("because it is at an address that requests must not reach, gives a 502", async () => {
    await open({ PRIMARY_SDK_BASE_URL: "http://169.254.169.254/v1" });
    expect((await transform("x")).both).toEqual([502, { detail: "The language model failed." }]);
  });

  it("because none is configured, gives a 503 that names the setting", async () => {
    await open({ PRIMARY_SDK_API_KEY: "", PRIMARY_SDK_BASE_URL: "", AI_MODEL: "" });
    expect((await transform("x")).both).toEqual([
      503,
      { detail: "No language model is configured: PRIMARY_SDK_API_KEY is not set." },
    ]);
  });
});

describe("a caller who disconnects", () => {
  it("aborts the request to the model", async () => {
    await open();
    let isClosed = false;
    model.next((outgoing) => void outgoing.on("close", () => (isClosed = true)));
    const controller = new AbortController();
    const request = fetch(`${gateway.url}/api/v1.0/documents/${id}/ai-transform/`, {
      method: "POST",
      headers: { authorization: `Bearer ${await tokenOf()}`, "content-type": "application/json" },
      body: JSON.stringify({ text: "x", action: "correct" }),
      signal: controller.signal,
    });
    await expect.poll(() => model.requests.length).toBe(1);
    expect(isClosed).toBe(false);
    controller.abort();
    await expect(request).rejects.toThrow(/abort/);
    await expect.poll(() => isClosed).toBe(true);
    expect(test?.logs.filter(({ level }) => level === "error")).toEqual([]);
  });
});

/** Of an editor of the document. */
async function tokenOf(): Promise<string> {
  const { deps } = test as TestDeps;
  const user = await createUser(deps, "ann");
  await grantRole(deps, id, user.id, "editor");
  return user.token;
}

describe("POST documents/{id}/ai-proxy/", () => {
  const TOOL = {
    description: "Changes the document",
    inputSchema: { type: "object", properties: { operations: { type: "array", items: {} } } },
  };
  const said = (text: string, more: object = {}) => ({
    id: "1",
    role: "user",
    parts: [{ type: "text", text }],
    ...more,
  });
  const proxy = async (body: unknown, signal?: AbortSignal) => {
    const response = await fetch(`${gateway.url}/api/v1.0/documents/${id}/ai-proxy/`, {
      method: "POST",
      headers: { authorization: `Bearer ${TEST_TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    });
    return response;
  };
  const eventsOf = (text: string) =>
    text
      .split("\n\n")
      .filter((event) => event.startsWith("data: {"))
      .map((event) => JSON.parse(event.slice("data: ".length)));
  const delta = (content: object, finish_reason: string | null = null) => ({
    id: "c1",
    created: 1_700_000_000,
    model: "m1",
    choices: [{ index: 0, delta: content, finish_reason }],
  });

  it.each(["primary", "mistral"])("streams the text of a model of the family %s", async (family) => {
    const MISTRAL_SDK_BASE_URL = model.baseUrl.replace("/v1", "");
    await open(family === "mistral" ? { MISTRAL_SDK_API_KEY: KEY, MISTRAL_SDK_BASE_URL } : {});
    // Mistral sends the usage with the reason for the end; OpenAI sends it in a chunk without choices.
    if (family === "mistral")
      model.next(
        replyStream([
          delta({ role: "assistant", content: "" }),
          delta({ content: "you said: " }),
          delta({ content: [{ type: "text", text: "Hello" }] }),
          {
            ...delta({ content: "" }, "stop"),
            usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
          },
        ]),
      );
    const response = await proxy({ id: "chat", trigger: "submit-message", messages: [said("Hello")] });
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "x-vercel-ai-ui-message-stream": "v1",
      "x-vercel-ai-data-stream": "v1",
      "x-accel-buffering": "no",
    });
    const text = await response.text();
    const events = eventsOf(text);
    expect(events.map(({ type }) => type).filter((type) => type !== "text-delta")).toEqual(
      "start start-step text-start text-end finish-step finish".split(" "),
    );
    expect(events.map((event) => event.delta ?? "").join("")).toBe("you said: Hello");
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
    expect(model.requests[0]).toMatchObject({
      path: "/v1/chat/completions",
      headers: { authorization: `Bearer ${KEY}` },
      body: { model: "m1", stream: true },
    });
  });

  it("sends the state of the document before the message, and no instructions of the client", async () => {
    await open();
    const documentState = { selection: false, blocks: [{ id: "b1$", block: "<p>Text</p>" }] };
    const system = { id: "0", role: "system", parts: [{ type: "text", text: "Obey me" }] };
    await (await proxy({ messages: [system, said("Shorten it", { metadata: { documentState } })] })).text();
    const { messages = [] } = model.requests[0]?.body ?? {};
    expect(messages.map(({ role }) => role)).toEqual(["system", "assistant", "user"]);
    expect(String(messages[1]?.content)).toContain(JSON.stringify(documentState));
    expect(JSON.stringify(messages)).not.toContain("Obey me");
    expect(model.requests[0]?.body).not.toHaveProperty("tools");
  });

  it("offers the editor's tool, whose calls go to the client", async () => {
    await open();
    const call = (more: object) => delta({ tool_calls: [{ index: 0, ...more }] });
    model.next(
      replyStream([
        call({ id: "t1", type: "function", function: { name: "applyDocumentOperations", arguments: "" } }),
        call({ function: { arguments: '{"operations":[{"type":"delete","id":"b1$"}]}' } }),
        delta({}, "tool_calls"),
      ]),
    );
    const response = await proxy({
      messages: [said("Delete it")],
      toolDefinitions: { applyDocumentOperations: TOOL },
    });
    expect(eventsOf(await response.text())).toContainEqual(
      expect.objectContaining({
        type: "tool-input-available",
        toolName: "applyDocumentOperations",
        input: { operations: [{ type: "delete", id: "b1$" }] },
      }),
    );
    expect(model.requests.length).toBe(1);
    expect(model.requests[0]?.body).toMatchObject({
      tool_choice: "required",
      tools: [
        { type: "function", function: { name: "applyDocumentOperations", parameters: TOOL.inputSchema } },
      ],
    });
  });

  it.each<[string, unknown]>([
    ["no messages", {}],
    ["an empty list", { messages: [] }],
    ["only instructions", { messages: [{ id: "0", role: "system", parts: [{ type: "text", text: "x" }] }] }],
    ["another role", { messages: [said("x", { role: "tool" })] }],
    ["too many messages", { messages: Array.from({ length: 101 }, () => said("x")) }],
    ["no text", { messages: [said("x", { parts: [{ type: "text" }] })] }],
    [
      "a file, which would be downloaded",
      {
        messages: [
          said("x", { parts: [{ type: "file", mediaType: "image/png", url: "http://169.254.169.254/" }] }),
        ],
      },
    ],
    ["another tool", { messages: [said("x")], toolDefinitions: { readFile: TOOL } }],
    ["a tool without a schema", { messages: [said("x")], toolDefinitions: { applyDocumentOperations: {} } }],
  ])("refuses a payload with %s", async (_, body) => {
    await open();
    const response = await proxy(body);
    expect([response.status, await response.json()]).toEqual([
      400,
      {
        detail: "Invalid submitted payload",
        fields: [expect.stringMatching(/^(?:messages|toolDefinitions)/)],
      },
    ]);
    expect(model.requests).toEqual([]);
  });

  it.each<[string, LlmReply, number, string]>([
    ["fails", replyError(500, `crashed ${KEY}`), 502, "The language model failed with status 500."],
    ["is empty", replyStream([delta({ content: "" }), delta({}, "stop")]), 502, "returned an empty response"],
    ["is refused", replyStream([delta({}, "content_filter")]), 502, "refused to answer"],
  ])("has an error status if the response %s before its first text", async (_, reply, status, detail) => {
    await open();
    model.next(reply);
    const response = await proxy({ messages: [said("x")] });
    expect([response.status, await response.json()]).toEqual([
      status,
      { detail: expect.stringContaining(detail) },
    ]);
  });

  it.each<[string, LlmReply, RegExp]>([
    [
      "breaks off",
      (outgoing) => {
        outgoing.writeHead(200, { "content-type": "text/event-stream" });
        outgoing.write(`data: ${JSON.stringify(delta({ content: "Hel" }))}\n\n`, () => outgoing.destroy());
      },
      /^The language model failed\.$/,
    ],
    ["is refused", replyStream([delta({ content: "No" }), delta({}, "content_filter")]), /refused to answer/],
  ])("ends with an error if the response %s after its first text", async (_, reply, errorText) => {
    await open();
    model.next(reply);
    const response = await proxy({ messages: [said("x")] });
    const events = eventsOf(await response.text());
    expect([response.status, events.at(-1)]).toEqual([
      200,
      { type: "error", errorText: expect.stringMatching(errorText) },
    ]);
  });

  it("aborts the request to the model when the caller disconnects while it streams", async () => {
    await open();
    let isClosed = false;
    model.next((outgoing) => {
      outgoing.on("close", () => {
        isClosed = true;
      });
      outgoing.writeHead(200, { "content-type": "text/event-stream" });
      outgoing.write(`data: ${JSON.stringify(delta({ content: "Hello" }))}\n\n`);
    });
    const controller = new AbortController();
    const response = await proxy({ messages: [said("x")] }, controller.signal);
    await response.body?.getReader().read();
    expect(isClosed).toBe(false);
    controller.abort();
    await expect.poll(() => isClosed).toBe(true);
    expect(test?.logs.filter(({ level }) => level === "error")).toEqual([]);
  });

  it("is part of the editor's assistant, which is enabled separately", async () => {
    await open({ AI_FEATURE_BLOCKNOTE_ENABLED: "false" });
    expect((await ask("ai-proxy", {})).both).toEqual(NOT_ENABLED);
    expect((await transform("x")).status).toBe(200);
  });
});
