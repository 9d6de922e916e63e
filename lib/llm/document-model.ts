import type { LanguageModel, ModelMessage, ToolSet, UIMessageChunk } from "ai";
import type { Network } from "../network/network.ts";
import type { DocumentModels } from "../settings/document-config.ts";
import { LlmError } from "./errors.ts";
import { toProviderCallError } from "./provider-errors.ts";
import { createProviderFetch } from "./provider-fetch.ts";

/** The model that AI functions of documents use. */
export interface DocumentModelDeps {
  readonly network: Network;
  readonly documents: {
    readonly models: DocumentModels | undefined;
    /** Time limit of a response, milliseconds. */
    readonly aiTimeoutMs: number;
  };
}

export interface ModelPrompt {
  readonly instructions: string;
  readonly messages: readonly ModelMessage[];
  /** Executed by the caller: the model's calls are in its response. */
  readonly tools?: ToolSet;
  /** Whether the model must call a tool. */
  readonly mustCallTool?: boolean;
}

/** Requests a whole response. Throws LlmError; rejects with the signal's reason if the caller aborts. */
export async function generateText(
  deps: DocumentModelDeps,
  prompt: ModelPrompt,
  signal: AbortSignal,
): Promise<string> {
  const call = await prepareCall(deps, prompt, signal);
  const { generateText: generate } = await import("./ai-sdk.ts");
  try {
    const { text, finishReason } = await generate(call.options);
    if (finishReason === "content-filter") throw refused();
    if (text.trim() === "") throw empty();
    return text;
  } catch (thrown) {
    throw call.toError(thrown);
  }
}

/** Chunks that show that the model has begun to respond. */
const CONTENT: ReadonlySet<UIMessageChunk["type"]> = new Set([
  "text-delta",
  "tool-input-start",
  "tool-input-available",
  "tool-input-error",
]);

/**
 * Streams a response as chunks of AI SDK's UI message stream. Throws LlmError if it fails before the first text or tool
 * call; a later failure is the chunk `error`. Ends without an error if the caller aborts.
 */
export async function* streamMessage(
  deps: DocumentModelDeps,
  prompt: ModelPrompt,
  signal: AbortSignal,
): AsyncGenerator<UIMessageChunk> {
  const call = await prepareCall(deps, prompt, signal);
  const { streamText } = await import("./ai-sdk.ts");
  let failure: LlmError | undefined;
  const result = streamText({ ...call.options, onError: () => {} });
  const chunks = result.toUIMessageStream({
    sendReasoning: false,
    sendSources: false,
    onError: (thrown) => {
      failure = call.toError(thrown);
      return failure.message;
    },
  });
  let held: UIMessageChunk[] | undefined = [];
  try {
    for await (const chunk of chunks) {
      if (signal.aborted) return;
      const error = chunk.type === "abort" ? call.toError(undefined) : problemOf(chunk, failure, held);
      if (error !== undefined) throw error;
      if (held === undefined) yield chunk;
      else {
        held.push(chunk);
        if (CONTENT.has(chunk.type)) {
          yield* held;
          held = undefined;
        }
      }
    }
  } catch (thrown) {
    const error = call.toError(thrown);
    if (held !== undefined) throw error;
    yield { type: "error", errorText: error.message };
  }
}

/** The error that a chunk reports. `held` is undefined once the model has begun to respond. */
function problemOf(
  chunk: UIMessageChunk,
  failure: LlmError | undefined,
  held: readonly UIMessageChunk[] | undefined,
): LlmError | undefined {
  if (chunk.type === "error") return failure ?? new LlmError("failed", chunk.errorText);
  if (chunk.type !== "finish") return undefined;
  if (chunk.finishReason === "content-filter") return refused();
  return held === undefined ? undefined : empty();
}

const refused = (): LlmError => new LlmError("refused", "The language model refused to answer.");
const empty = (): LlmError => new LlmError("empty", "The language model returned an empty response.");

/** What AI SDK's functions are called with, and the error for what they throw. */
async function prepareCall(
  { network, documents: { models, aiTimeoutMs } }: DocumentModelDeps,
  { instructions, messages, tools, mustCallTool }: ModelPrompt,
  signal: AbortSignal,
) {
  const timeout = AbortSignal.timeout(aiTimeoutMs);
  // Otherwise the library writes warnings to the console.
  globalThis.AI_SDK_LOG_WARNINGS = false;
  return {
    options: {
      model: await openModel(network, models),
      instructions,
      messages: [...messages],
      ...(tools === undefined ? {} : { tools }),
      ...(mustCallTool === true ? { toolChoice: "required" as const } : {}),
      maxRetries: 0,
      abortSignal: AbortSignal.any([signal, timeout]),
      // Whatever a prompt contains, nothing is downloaded for it.
      experimental_download: async (files: readonly unknown[]) => {
        if (files.length > 0) throw new LlmError("invalid", "Files are not supported.");
        return [];
      },
    },
    toError: (thrown: unknown): LlmError => {
      if (signal.aborted) throw signal.reason;
      if (thrown instanceof LlmError) return thrown;
      if (timeout.aborted) {
        const message = `The language model did not respond within ${aiTimeoutMs / 1000} seconds.`;
        return new LlmError("timed_out", message, { cause: thrown });
      }
      const error = toProviderCallError(thrown);
      // Its own text may contain the key, or what a caller may not see.
      if (error.status === 429)
        return new LlmError("busy", "The language model is busy, try again later.", {
          retryAfterMs: error.retryAfterMs,
          cause: error,
        });
      const reason = error.status === undefined ? "" : ` with status ${error.status}`;
      return new LlmError("failed", `The language model failed${reason}.`, { cause: error });
    },
  };
}

/** The model of the settings. A key is sent only to the origin of its family's base URL. Throws LlmError. */
async function openModel(network: Network, models: DocumentModels | undefined): Promise<LanguageModel> {
  const { family, apiKey, baseUrl, model } = models ?? ({} as Partial<DocumentModels>);
  const prefix = family === "mistral" ? "MISTRAL_SDK" : "PRIMARY_SDK";
  const missing = Object.entries({
    [`${prefix}_API_KEY`]: apiKey,
    [`${prefix}_BASE_URL`]: baseUrl,
    AI_MODEL: model,
  }).filter(([, value]) => value === undefined);
  if (apiKey === undefined || baseUrl === undefined || model === undefined)
    throw new LlmError("not_configured", `No language model is configured: ${missing[0]?.[0]} is not set.`);
  const options = { apiKey, fetch: createProviderFetch(network) };
  const url = baseUrl.replace(/\/+$/, "");
  const { createMistral, createOpenAI } = await import("./ai-sdk.ts");
  if (family === "mistral")
    return createMistral({ ...options, baseURL: url.endsWith("/v1") ? url : `${url}/v1` }).chat(model);
  return createOpenAI({ ...options, baseURL: url }).chat(model);
}
