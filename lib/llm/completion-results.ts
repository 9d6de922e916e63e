import * as z from "zod";
import { ProviderCallError } from "./errors.ts";

/** A chat response, flattened: the first choice, and all choices if there are several. */
export interface ChatResult {
  readonly id: string;
  readonly model: string;
  /** Seconds since the epoch. */
  readonly created: number;
  readonly usage: Readonly<Record<string, unknown>>;
  readonly content: string;
  readonly finish_reason: string;
  readonly role: string;
  readonly tool_calls?: readonly ToolCall[];
  readonly all_contents?: readonly string[];
}

/** A tool call that the model requests; Weft does not execute it. */
export interface ToolCall {
  readonly id: string;
  readonly type: string;
  /** `arguments` is JSON, as the model wrote it. */
  readonly function: { readonly name: string; readonly arguments: string };
}

export interface EmbeddingResult {
  readonly model: string;
  readonly usage: Readonly<Record<string, unknown>>;
  /** In the order of the inputs. */
  readonly embeddings: readonly (readonly number[])[];
}

const usage = z.record(z.string(), z.unknown()).nullish();
const toolCall = z.object({
  id: z.string().nullish(),
  type: z.string().nullish(),
  function: z.object({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
});
const part = z.looseObject({ text: z.string().nullish() });
const content = z.union([z.string(), z.array(part)]).nullish();

const completion = z.object({
  id: z.string().nullish(),
  model: z.string().nullish(),
  created: z.number().nullish(),
  usage,
  choices: z
    .array(
      z.object({
        finish_reason: z.string().nullish(),
        message: z.object({
          role: z.string().nullish(),
          content,
          tool_calls: z.array(toolCall).nullish(),
        }),
      }),
    )
    .min(1),
});
export type Completion = z.infer<typeof completion>;

const embeddings = z.object({
  model: z.string().nullish(),
  usage,
  data: z.array(z.object({ index: z.number().nullish(), embedding: z.array(z.number()) })),
});

/** Parses a chat response in the variants of different servers. Throws ProviderCallError for an invalid one. */
export function toChatResult(body: unknown, model: string): ChatResult {
  const parsed = completion.safeParse(body);
  if (!parsed.success) throw unusable(body);
  const { choices, ...rest } = parsed.data;
  const contents = choices.map(({ message }) => textOf(message.content));
  const [first] = choices;
  const calls = first?.message.tool_calls ?? [];
  return {
    id: rest.id ?? "",
    model: rest.model ?? model,
    created: rest.created ?? 0,
    usage: toUsage(rest.usage),
    content: contents[0] ?? "",
    finish_reason: first?.finish_reason ?? "",
    role: first?.message.role ?? "assistant",
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(toToolCall) }),
    ...(contents.length > 1 ? { all_contents: contents } : {}),
  };
}

/** Parses an embeddings response. Throws ProviderCallError unless it has one embedding per input. */
export function toEmbeddingResult(body: unknown, model: string, inputs: number): EmbeddingResult {
  const parsed = embeddings.safeParse(body);
  if (!parsed.success) throw unusable(body);
  const { data } = parsed.data;
  if (data.length !== inputs)
    throw new ProviderCallError(`it returned ${data.length} embeddings for ${inputs} inputs`, {
      again: true,
      elsewhere: true,
    });
  const ordered = data.toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0));
  return {
    model: parsed.data.model ?? model,
    usage: toUsage(parsed.data.usage),
    embeddings: ordered.map(({ embedding }) => embedding),
  };
}

function textOf(value: z.infer<typeof content>): string {
  if (typeof value === "string") return value;
  return (value ?? []).map(({ text }) => text ?? "").join("");
}

function toToolCall(call: z.infer<typeof toolCall>): ToolCall {
  return {
    id: call.id ?? "",
    type: call.type ?? "function",
    function: { name: call.function?.name ?? "", arguments: call.function?.arguments ?? "" },
  };
}

function toUsage(said: z.infer<typeof usage>): Readonly<Record<string, unknown>> {
  return { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0, ...said };
}

const SHOWN_CHARACTERS = 200;

/** Some servers report errors with a success status. */
function unusable(body: unknown): ProviderCallError {
  const said = (body as { error?: { message?: unknown } } | null)?.error?.message;
  const message =
    typeof said === "string"
      ? said.slice(0, SHOWN_CHARACTERS)
      : "its response does not follow OpenAI's protocol";
  return new ProviderCallError(message, { again: true, elsewhere: true });
}
