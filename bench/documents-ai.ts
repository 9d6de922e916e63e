import { type LlmReply, replyStream, startLlmServer } from "../lib/testing/test-llm-server.ts";
import { runBenchmark } from "./harness/benchmark.ts";
import { addCleanup } from "./harness/cleanup.ts";
import { percentile } from "./harness/numbers.ts";
import { startServer } from "./harness/server.ts";

const ADDED_MS = 5;
const REQUESTS = 300;
const WARM_UP = 20;
const TEXT = "Summarize the decisions of the meeting. ".repeat(25);
const STREAM_END_MS = 10_000;

const chunk = (delta: object, finish_reason: string | null = null): object => ({
  id: "c",
  created: 1_700_000_000,
  model: "m",
  choices: [{ index: 0, delta, finish_reason }],
});
/** At once, and short: a model sends its text in pieces as it writes them. */
const REPLY: LlmReply = replyStream([
  chunk({ role: "assistant", content: "" }),
  chunk({ content: "y" }),
  chunk({}, "stop"),
]);

await runBenchmark({
  name: "documents-ai",
  what: "AI functions: time to the model's first text through ai-proxy/, in turn with the same request to the model itself, p50",
  peer: "not measured",
  measure: async ({ brief }) => {
    const requests = brief ? 5 : REQUESTS;
    const model = await startLlmServer();
    addCleanup(() => model[Symbol.asyncDispose]());
    const server = await startServer({
      env: {
        PRIMARY_SDK_API_KEY: "key",
        PRIMARY_SDK_BASE_URL: model.baseUrl,
        AI_MODEL: "m",
        AI_FEATURE_ENABLED: "true",
        AI_FEATURE_BLOCKNOTE_ENABLED: "true",
        AI_DOCUMENT_RATE_THROTTLE_RATES: "10000/day",
        AI_USER_RATE_THROTTLE_RATES: "10000/day",
      },
    });
    const created = await server.call("POST", "//api/v1.0/documents/", { body: {} });
    const { id } = created.json as { id: string };
    const messages = [{ id: "1", role: "user", parts: [{ type: "text", text: TEXT }] }];
    const throughWeft = (): Promise<number> =>
      firstTextMs(
        `${server.url}/api/v1.0/documents/${id}/ai-proxy/`,
        server.token,
        { messages },
        '"text-delta"',
      );
    const ofModel = (): Promise<number> =>
      firstTextMs(`${model.baseUrl}/chat/completions`, "key", direct(model), '"content":"y"');
    const respond = async (request: () => Promise<number>): Promise<number> => {
      model.next(REPLY);
      return request();
    };
    await respond(throughWeft);
    for (let round = 0; round < (brief ? 0 : WARM_UP); round += 1) {
      await respond(throughWeft);
      await respond(ofModel);
    }
    const weft: number[] = [];
    const bare: number[] = [];
    for (let round = 0; round < requests; round += 1) {
      weft.push(await respond(throughWeft));
      bare.push(await respond(ofModel));
    }
    await server.stop();
    const baseline = percentile(bare, 0.5);
    return {
      figures: [
        {
          what: "added to the first text, p50",
          value: percentile(weft, 0.5) - baseline,
          unit: "ms",
          target: ADDED_MS,
        },
        { what: "first text through Weft, p50", value: percentile(weft, 0.5), unit: "ms" },
      ],
      baseline: { first_text_of_the_model_p50_ms: baseline },
      details: { first_text_p99_ms: percentile(weft, 0.99), model_p99_ms: percentile(bare, 0.99) },
    };
  },
});

/** The request that Weft sends, which the model has received before. */
function direct(model: Awaited<ReturnType<typeof startLlmServer>>): object {
  const { body } = model.requests.at(-1) ?? {};
  if (body === undefined) throw new Error("the model has received no request");
  model.requests.splice(0, model.requests.length - 1);
  return body;
}

/** The time until a response contains a text, which is read to its end, milliseconds. */
async function firstTextMs(url: string, token: string, body: object, text: string): Promise<number> {
  const begin = performance.now();
  const response = await fetch(url, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(STREAM_END_MS),
  });
  if (response.status !== 200 || response.body === null)
    throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  let time: number | undefined;
  let received = "";
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    received += chunk;
    if (time === undefined && received.includes(text)) time = performance.now() - begin;
  }
  if (time === undefined) throw new Error(`${url} sent no text`);
  return time;
}
