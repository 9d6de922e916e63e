import * as z from "zod";
import { ApiError } from "../errors.ts";
import { type CallLimits, completeChat, embedTexts, type LlmDeps } from "./complete.ts";
import { type CallConfig, callConfig, type LlmParameters } from "./config.ts";
import { LlmError } from "./errors.ts";

/** Time limit for all requests to providers, milliseconds: slightly less than an endpoint's. */
const BUDGET_MS = 27_000;
const MESSAGES_MAX = 1_000;
const TOOLS_MAX = 128;
const INPUTS_MAX = 2_048;
const TEXT_MAX_LENGTH = 4 * 1024 * 1024;
const ROLES = ["system", "user", "assistant", "tool"] as const;
/** Images are sent as data URLs; Lambda accepts 6 MB. */
export const LLM_BODY_LIMIT_BYTES = 5 * 1024 * 1024;

const map = z.record(z.string(), z.unknown(), { error: "must be a map" });
const text = z.string({ error: "must be text" }).max(TEXT_MAX_LENGTH);
const message = z.looseObject(
  {
    role: z.enum(ROLES, { error: `must be one of ${ROLES.join(", ")}` }),
    content: z
      .union([text, z.array(map).min(1).max(MESSAGES_MAX), z.null()], {
        error: "must be text or a list of parts",
      })
      .optional(),
  },
  { error: "must be a message: {role, content}" },
);

/**
 * Body of `POST /llm/v1/chat/completions`: unknown keys are sent to the provider unchanged. Reference: workflow 1.10.
 */
export const chatBody = z.looseObject({
  messages: z
    .array(message, { error: "must be a list of messages" })
    .min(1, "must not be empty")
    .max(MESSAGES_MAX),
  model: text.optional().describe("Default: the provider's"),
  stream: z
    .boolean()
    .optional()
    .describe("Whether to request a stream from the provider; the response is not streamed either way"),
  tools: z.array(map).max(TOOLS_MAX).optional(),
  tool_choice: z.union([text, map], { error: "must be text or a map" }).optional(),
});

/** Body of `POST /llm/v1/embeddings`. Reference: workflow 1.10. */
export const embeddingsBody = z.looseObject({
  input: z.union([text.min(1).transform((one) => [one]), z.array(text.min(1)).min(1).max(INPUTS_MAX)], {
    error: `must be text or a list of 1 to ${INPUTS_MAX} texts`,
  }),
  model: text.optional().describe("Default: the provider's"),
});

export const chatCompletion = z
  .object({
    id: z.string(),
    model: z.string(),
    created: z.number(),
    role: z.string(),
    content: z.string(),
    finish_reason: z.string(),
    tool_calls: z
      .array(
        z.object({
          id: z.string(),
          type: z.string(),
          function: z.object({ name: z.string(), arguments: z.string() }),
        }),
      )
      .optional(),
    all_contents: z.array(z.string()).optional().describe("One per choice, if there are several"),
    usage: map,
  })
  .meta({ id: "ChatCompletion" });

export const embeddings = z
  .object({ model: z.string(), embeddings: z.array(z.array(z.number())), usage: map })
  .meta({ id: "Embeddings" });

/** Handles a chat request. Throws `bad_request`, and `unavailable` if no provider responds. */
export function handleChat(
  deps: LlmDeps,
  body: z.infer<typeof chatBody>,
): Promise<z.infer<typeof chatCompletion>> {
  const { messages, tools = [], tool_choice, ...parameters } = body;
  const toolChoice = tool_choice === undefined ? {} : { toolChoice: tool_choice };
  return answered(deps, parameters, (config, bounds) =>
    completeChat(deps, config, { messages, tools, ...toolChoice }, bounds),
  );
}

/** Handles an embeddings request. Throws `bad_request`, and `unavailable` if no provider responds. */
export function handleEmbeddings(
  deps: LlmDeps,
  body: z.infer<typeof embeddingsBody>,
): Promise<z.infer<typeof embeddings>> {
  const { input, ...parameters } = body;
  return answered(deps, parameters, (config, bounds) => embedTexts(deps, config, input, bounds));
}

async function answered<Answer>(
  { secrets }: LlmDeps,
  parameters: LlmParameters,
  ask: (config: CallConfig, bounds: CallLimits) => Promise<unknown>,
): Promise<Answer> {
  try {
    const signal = new AbortController().signal;
    const answer = await ask(callConfig({ config: parameters }), { budgetMs: BUDGET_MS, signal });
    return JSON.parse(secrets.redact(JSON.stringify(answer))) as Answer;
  } catch (thrown) {
    if (!(thrown instanceof LlmError)) throw thrown;
    const message = secrets.redact(thrown.message);
    // The keys are fields of the body, so their prefix is removed.
    if (thrown.fault === "invalid") throw new ApiError("bad_request", message.replace(/^llm_config\./, ""));
    const what = thrown.fault === "not_configured" ? "No LLM providers configured" : "LLM request failed";
    throw new ApiError("unavailable", `${what}: ${message}`, { cause: thrown });
  }
}
