import type { Network } from "../network/network.ts";
import type { Secrets } from "../platform/secrets.ts";
import type { LlmSettings } from "../settings/llm.ts";
import { type Call, callChat, callEmbeddings } from "./calls.ts";
import type { ChatResult, EmbeddingResult } from "./completion-results.ts";
import type { CallConfig } from "./config.ts";
import { tryProviders } from "./provider-fallback.ts";
import { chooseProviders } from "./providers.ts";

export interface LlmDeps {
  readonly llm: LlmSettings;
  readonly network: Network;
  readonly secrets: Secrets;
}

/** Limits of a call besides its configuration. */
export interface CallLimits {
  /** For all requests and the waits between them, milliseconds. */
  readonly budgetMs: number;
  readonly signal: AbortSignal;
}

export interface ChatRequest {
  readonly messages: readonly unknown[];
  readonly tools?: readonly unknown[];
  /** `auto`, `none`, `required`, the name of a tool, or a value of the protocol. */
  readonly toolChoice?: unknown;
}

/**
 * Sends a chat request to the first provider that responds. Tools are offered to the model; its tool calls are in the
 * result. Throws LlmError. Seed: workflow 2.7 (llm).
 */
export function completeChat(
  deps: LlmDeps,
  config: CallConfig,
  { messages, tools = [], toolChoice }: ChatRequest,
  bounds: CallLimits,
): Promise<ChatResult> {
  const offered =
    tools.length === 0
      ? {}
      : { tools, ...(toolChoice === undefined ? {} : { tool_choice: toToolChoice(toolChoice, tools) }) };
  const body = { ...config.parameters, messages, ...offered };
  return callProviders(deps, config, body, bounds, (call) => callChat(call, config.stream));
}

/** Requests the embeddings of texts from the first provider that responds. Throws LlmError. */
export function embedTexts(
  deps: LlmDeps,
  config: CallConfig,
  input: readonly string[],
  bounds: CallLimits,
): Promise<EmbeddingResult> {
  return callProviders(deps, config, config.parameters, bounds, (call) => callEmbeddings(call, input));
}

async function callProviders<Answer>(
  deps: LlmDeps,
  config: CallConfig,
  body: Call["body"],
  { budgetMs, signal }: CallLimits,
  call: (call: Call) => Promise<Answer>,
): Promise<Answer> {
  const providers = await chooseProviders(deps.llm, config, deps.secrets);
  const { tries, timeoutMs, headers } = config;
  return tryProviders(providers, { tries, timeoutMs, budgetMs, signal }, (provider, ownTimeoutMs) =>
    call({ network: deps.network, provider, headers, body, timeoutMs: ownTimeoutMs, signal }),
  );
}

function toToolChoice(choice: unknown, tools: readonly unknown[]): unknown {
  const isTool = tools.some((tool) => (tool as { function?: { name?: unknown } }).function?.name === choice);
  return isTool ? { type: "function", function: { name: choice } } : choice;
}
