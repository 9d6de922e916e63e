import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type LlmServer, replyError, replyJson, startLlmServer } from "../../lib/testing/test-llm-server.ts";
import { startTestServer, type TestServer, waitUntil } from "../../lib/testing/test-server.ts";

const KEY = "sk-of-the-first-0123456789";
const SECOND_KEY = "sk-of-the-second-0123456789";

let weft: TestServer;
let model: LlmServer;
let second: LlmServer;
let count = 0;

beforeAll(async () => {
  [model, second] = await Promise.all([startLlmServer(), startLlmServer()]);
  weft = await startTestServer({
    env: {
      LLM_BASE_URL: `${model.baseUrl}/`,
      LLM_API_KEY: KEY,
      LLM_MODEL: "small",
      LLM_PROVIDERS: JSON.stringify([
        { name: "second", base_url: second.baseUrl, api_key_secret: "SECOND_KEY", model: "large" },
      ]),
    },
    files: { "secrets.env": `SECOND_KEY=${SECOND_KEY}\nHEADER=header-secret-1\n` },
  });
});
beforeEach(() => {
  model.requests.length = 0;
  second.requests.length = 0;
});
afterAll(async () => {
  await weft[Symbol.asyncDispose]();
  await Promise.all([model[Symbol.asyncDispose](), second[Symbol.asyncDispose]()]);
});

async function runSteps(steps: string, body: Record<string, unknown> = {}) {
  count += 1;
  await weft.storeWorkflow(`name: m${count}\nsteps:\n${steps}`);
  const run = await weft.run({ module: `m${count}`, workspace: `m${count}`, ...body });
  return { ...run, steps: await weft.steps(run.run_id) };
}

/** Everything that the server stores (except `secrets.env`), logs and emits. */
async function readEverything(): Promise<string> {
  let text = weft.log() + JSON.stringify(await weft.events());
  for (const path of await readdir(weft.dataDir, { recursive: true, withFileTypes: true })) {
    if (path.isFile() && path.name !== "secrets.env")
      text += await readFile(join(path.parentPath, path.name), "latin1");
  }
  return text;
}

describe("seed 2.7: llm steps", () => {
  test("exports the answer as output and content, and the whole response", async () => {
    const { status, steps } = await runSteps(
      `
  - name: ask-it
    type: llm
    messages:
      - {role: system, content: Be short.}
      - {role: user, content: "What is {{Target}}?"}
    llm_config: {temperature: "{{heat}}", response_format: {type: json_object}}
    extra_llm_parameters: {max_tokens: 99}
    exports: {tokens: '{{ask_it_llm_resp.usage.total_tokens}}'}
  - {name: use, type: bash, command: "printf '%s|' {{ask_it_content}} {{ask_it_output}} {{tokens}} {{ask_it_llm_resp.model}}"}
`,
      { target: "{{secrets.HEADER}} [[x]]", params: { heat: "0.5" } },
    );
    const content = "you said: What is {{secrets.HEADER}} [[x]]?";
    expect([status, steps["use"]?.output]).toEqual(["completed", `${content}|${content}|12|small|`]);
    expect(steps["ask-it"]).toMatchObject({
      command: "chat with small (2 messages)",
      output: content,
      exports: { ask_it_content: content, ask_it_output: content },
    });
    expect(JSON.parse(steps["ask-it"]?.exports["ask_it_llm_resp"] ?? "")).toEqual({
      id: "chatcmpl-1",
      model: "small",
      created: 1_700_000_000,
      role: "assistant",
      content,
      usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
      finish_reason: "stop",
    });
    expect(model.requests).toMatchObject([
      {
        headers: { authorization: `Bearer ${KEY}` },
        body: { model: "small", temperature: 0.5, max_tokens: 99, response_format: { type: "json_object" } },
      },
    ]);
  });

  test("renders the parts of a message, also in a foreach, and streams if the step enables it", async () => {
    const { steps } = await runSteps(
      `
  - name: each
    type: foreach
    input: [cat, "dog {{Target}}"]
    variable: animal
    step:
      name: look
      type: llm
      stream: true
      messages:
        - role: user
          content: [{type: text, text: "a [[animal]]?"}, {type: image_url, image_url: {url: "https://h/[[animal]].png"}}]
`,
      { target: "{{Target}} [[animal]]" },
    );
    expect(steps["each"]?.output).toBe(
      "you said: a cat?[image]\nyou said: a dog {{Target}} [[animal]]?[image]",
    );
    expect(model.requests.map(({ body }) => body.messages?.[0]?.content)).toContainEqual([
      { type: "text", text: "a cat?" },
      { type: "image_url", image_url: { url: "https://h/cat.png" } },
    ]);
    expect(model.requests.every(({ body }) => body["stream"] === true)).toBe(true);
  });

  test("offers tools and returns the model's tool calls without executing them", async () => {
    const call = {
      id: "c1",
      type: "function",
      function: { name: "run", arguments: '{"command":"rm -rf /"}' },
    };
    model.next(
      replyJson({
        choices: [{ finish_reason: "tool_calls", message: { content: null, tool_calls: [call] } }],
      }),
    );
    const { status, steps } = await runSteps(`
  - name: ask
    type: llm
    messages: [{role: user, content: clean up}]
    tools: [{type: function, function: {name: run, parameters: {type: object, properties: {command: {type: string}}}}}]
    tool_choice: auto
  - {name: told, type: function, function: 'JSON.stringify([ask_llm_resp.tool_calls, ask_content])'}
`);
    expect([status, JSON.parse(String(steps["told"]?.output))]).toEqual(["completed", [[call], ""]]);
    expect(model.requests[0]?.body["tool_choice"]).toBe("auto");
  });

  test("returns embeddings as vectors; a list of an earlier step is a list of texts", async () => {
    const { status, steps } = await runSteps(`
  - {name: lines, type: function, function: '["a", "bb"]'}
  - {name: emb, type: llm, is_embedding: true, embedding_input: ["{{lines_output}}", "ccc {{Target}}"], llm_config: {model: vectors}}
  - {name: told, type: function, function: 'JSON.stringify(emb_llm_resp)'}
`);
    expect([status, steps["emb"]?.output]).toEqual(["completed", "Generated 3 embeddings"]);
    expect(JSON.parse(String(steps["told"]?.output))).toMatchObject({
      model: "vectors",
      embeddings: [
        [0, 1],
        [1, 2],
        [2, 4],
      ],
      usage: { total_tokens: 3 },
    });
  });

  test("calls the next provider with its own key when the first one fails", async () => {
    model.next(replyError(503, "down"));
    const { status, steps } = await runSteps(
      "  - {name: ask, type: llm, messages: [{role: user, content: hi}]}",
    );
    expect([status, steps["ask"]?.command]).toEqual(["completed", "chat with large (1 message)"]);
    expect(second.requests[0]?.headers.authorization).toBe(`Bearer ${SECOND_KEY}`);
  });

  test("a timeout or a host that is not allowed fails the step with the reason", async () => {
    model.next(() => undefined);
    const { steps } = await runSteps(`
  - name: slow
    type: llm
    timeout: 200ms
    messages: [{role: user, content: hi}]
    llm_config: {provider: default}
    on_error: [{action: continue}]
  - name: elsewhere
    type: llm
    messages: [{role: user, content: hi}]
    llm_config: {base_url: "http://keys.example.org/v1"}
    on_error: [{action: continue}]
`);
    expect(steps["slow"]?.error_message).toMatch(/provider default: it did not respond within \d+ ms/);
    expect(steps["elsewhere"]?.error_message).toBe(
      "llm_config.base_url: keys.example.org is not one of LLM_ALLOWED_HOSTS",
    );
  });

  test("cancelling the run aborts the request", async () => {
    let closed = false;
    model.next((outgoing) => {
      outgoing.once("close", () => {
        closed = true;
      });
    });
    await weft.storeWorkflow(
      "name: waits\nsteps: [{name: ask, type: llm, messages: [{role: user, content: hi}]}]",
    );
    const run = await weft.startRun({ module: "waits" });
    await waitUntil("the request", () => model.requests.length > 0);
    expect((await weft.call("DELETE", `/runs/${run}`)).status).toBe(200);
    await waitUntil("the end of the request", () => closed);
    expect([(await weft.waitForRun(run)).status, second.requests.length]).toEqual(["cancelled", 0]);
  });

  test("API keys are never stored or logged, even if a provider returns them", async () => {
    const echo = replyJson({
      choices: [{ finish_reason: "stop", message: { content: `your key is ${KEY}` } }],
      model: KEY,
    });
    model.next(echo, replyError(401, `Incorrect API key provided: ${KEY}`), replyError(400, `bad ${KEY}`));
    second.next(replyError(403, `${SECOND_KEY} may not`));
    const { steps } = await runSteps(`
  - {name: echo, type: llm, messages: [{role: user, content: hi}], llm_config: {custom_headers: {X-Own: "{{secrets.HEADER}}"}}}
  - {name: seen, type: bash, command: "printf %s {{echo_content}}; env; cat /proc/$PPID/environ 2>/dev/null || true"}
  - {name: denied, type: llm, messages: [{role: user, content: hi}], on_error: [{action: continue}]}
  - {name: bad, type: llm, messages: [{role: user, content: hi}], on_error: [{action: continue}]}
`);
    expect(steps["echo"]).toMatchObject({ output: "your key is ***", command: "chat with *** (1 message)" });
    expect(steps["denied"]?.error_message).toMatch(
      /provider default: 401 .*\*\*\*; provider second: 403 \*\*\*/,
    );
    expect(steps["bad"]?.error_message).toMatch(/400 bad \*\*\*/);
    expect(model.requests[0]?.headers["x-own"]).toBe("header-secret-1");
    const everything = await readEverything();
    expect(everything).toContain("your key is ***");
    for (const secret of [KEY, SECOND_KEY, "header-secret-1"]) expect(everything).not.toContain(secret);
  });
});

test("without settings a step fails and names the missing setting", async () => {
  await using bare = await startTestServer();
  await bare.storeWorkflow(
    "name: talk\nsteps: [{name: talk, type: llm, messages: [{role: user, content: hi}]}]",
  );
  const run = await bare.run({ module: "talk" });
  expect([run.status, run.error_message]).toEqual([
    "failed",
    "no provider of language models is configured: set LLM_BASE_URL",
  ]);
});

test("invalid settings fail the start with a message without the key", async () => {
  const env = { LLM_PROVIDERS: JSON.stringify([{ name: "x", api_key: KEY, base_url: "no url" }]) };
  const message = await startTestServer({ env }).then(
    () => "it started",
    (error: Error) => error.message,
  );
  expect(message).toMatch(/LLM_PROVIDERS: \[0\]\.base_url must be a URL that begins with http/);
  expect(message).not.toContain(KEY);
});
