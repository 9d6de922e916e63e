import type { OpenAI } from "openai";
import type { Network } from "../network/network.ts";
import {
  type ChatResult,
  type EmbeddingResult,
  toChatResult,
  toEmbeddingResult,
} from "./completion-results.ts";
import { ProviderCallError } from "./errors.ts";
import { toProviderCallError } from "./provider-errors.ts";
import { createProviderFetch } from "./provider-fetch.ts";
import type { Provider } from "./providers.ts";
import { collectStream } from "./stream.ts";

type ChatBody = OpenAI.ChatCompletionCreateParamsNonStreaming;

/** One request to one provider. */
export interface Call {
  readonly network: Network;
  readonly provider: Provider;
  readonly headers: Readonly<Record<string, string>>;
  /** The request without `model`. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Extends the library's own timeout, so that it never applies: Weft's timeout also covers the body. */
const LATER_MS = 60_000;

/** Sends a chat request. A streamed response is collected. Throws ProviderCallError. */
export function callChat(call: Call, stream: boolean): Promise<ChatResult> {
  return guardedCall(call, async (client, signal) => {
    const body = { ...call.body, model: call.provider.model } as unknown as ChatBody;
    if (!stream) {
      const whole = await client.chat.completions.create(body, { signal });
      return toChatResult(whole, call.provider.model);
    }
    const options = { ...body, stream: true, stream_options: { include_usage: true } } as const;
    const { data, response } = await client.chat.completions.create(options, { signal }).withResponse();
    // Some servers do not stream even if requested.
    const isWhole = response.headers.get("content-type")?.includes("json") === true;
    return toChatResult(isWhole ? await response.json() : await collectStream(data), call.provider.model);
  });
}

/** Requests the embeddings of texts. Throws ProviderCallError. */
export function callEmbeddings(call: Call, input: readonly string[]): Promise<EmbeddingResult> {
  return guardedCall(call, async (client, signal) => {
    const { model } = call.provider;
    const body = { ...call.body, encoding_format: "float" as const, input: [...input], model };
    const answer = await client.embeddings.create(body, { signal });
    return toEmbeddingResult(answer, model, input.length);
  });
}

async function guardedCall<Answer>(
  call: Call,
  ask: (client: OpenAI, signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const timeout = AbortSignal.timeout(call.timeoutMs);
  const signal = AbortSignal.any([call.signal, timeout]);
  try {
    const answer = await ask(await openClient(call), signal);
    // The library treats an aborted stream as a complete one.
    signal.throwIfAborted();
    return answer;
  } catch (thrown) {
    if (call.signal.aborted) throw thrown;
    if (timeout.aborted)
      throw new ProviderCallError(`it did not respond within ${call.timeoutMs} ms`, {
        again: true,
        elsewhere: true,
        cause: thrown,
      });
    throw toProviderCallError(thrown);
  }
}

/** A client that uses only the given configuration, does not retry and does not log. */
async function openClient({ network, provider, headers, timeoutMs }: Call): Promise<OpenAI> {
  const { OpenAI: Client } = await import("openai");
  return new Client({
    baseURL: provider.baseUrl,
    apiKey: provider.key ?? "none",
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    timeout: timeoutMs + LATER_MS,
    logLevel: "off",
    defaultHeaders: { ...(provider.key === undefined ? { authorization: null } : {}), ...headers },
    fetch: createProviderFetch(network),
  });
}
