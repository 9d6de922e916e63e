import * as z from "zod";
import { parseDuration } from "../durations.ts";
import { LlmError } from "./errors.ts";

/** Parameters that an author may set; unknown keys are sent to the provider unchanged. */
export type LlmParameters = Readonly<Record<string, unknown>>;

/** Configuration of a call, and the request without its messages. */
export interface CallConfig {
  readonly provider?: string;
  readonly baseUrl?: string;
  readonly model?: string;
  readonly stream: boolean;
  /** Timeout of one request, milliseconds. */
  readonly timeoutMs: number;
  /** Maximum number of requests to one provider. */
  readonly tries: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Additional keys of the request. */
  readonly parameters: LlmParameters;
}

const REQUEST_TIMEOUT_MS = 120_000;
const TRIES = 3;
const TRIES_MAX = 10;
const ANSWERS_MAX = 128;

/** Values of templates and params are text. */
function numeric(check: (value: number) => boolean, message: string) {
  return z
    .union([z.number(), z.string()], { error: message })
    .transform((value) => (typeof value === "string" && value.trim() !== "" ? Number(value) : value))
    .refine((value): value is number => typeof value === "number" && check(value), { error: message });
}

const anyNumber = numeric(Number.isFinite, "must be a number");
const count = numeric(
  (value) => Number.isInteger(value) && value >= 1,
  "must be a whole number of at least 1",
);
const text = z.string({ error: "must be text" }).min(1, { error: "must not be empty" });
const map = z.record(z.string(), z.unknown(), { error: "must be a map" });

const config = z.looseObject({
  provider: text.optional(),
  base_url: text.optional(),
  model: text.optional(),
  stream: z
    .union([z.boolean(), z.stringbool({ truthy: ["true"], falsy: ["false"] })], {
      error: "must be true or false",
    })
    .optional(),
  timeout: z
    .union([z.number(), z.string()], { error: "must be a duration" })
    .transform((value, context) => {
      const milliseconds = parseDuration(value);
      if (milliseconds !== undefined && milliseconds > 0) return milliseconds;
      context.addIssue({ code: "custom", message: "must be a duration, such as 90 or 2m" });
      return z.NEVER;
    })
    .optional(),
  max_retries: numeric(
    (value) => Number.isInteger(value) && value >= 0 && value <= TRIES_MAX,
    `must be 0 to ${TRIES_MAX}`,
  ).optional(),
  custom_headers: z
    .record(
      z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, { error: "is not a valid header name" }),
      z
        .union([z.string(), z.number(), z.boolean()], { error: "must be text" })
        .transform(String)
        .refine((value) => !/[\r\n\0]/.test(value), { error: "must not have line breaks" }),
      { error: "must be a map" },
    )
    .optional(),
  response_format: z
    .union([map, text.transform((type) => ({ type }))], { error: "must be a map with type" })
    .optional(),
  n: numeric(
    (value) => Number.isInteger(value) && value >= 1 && value <= ANSWERS_MAX,
    `must be 1 to ${ANSWERS_MAX}`,
  ).optional(),
  max_tokens: count.optional(),
  max_completion_tokens: count.optional(),
  temperature: anyNumber.optional(),
  top_p: anyNumber.optional(),
  top_k: count.optional(),
  seed: anyNumber.optional(),
  presence_penalty: anyNumber.optional(),
  frequency_penalty: anyNumber.optional(),
  api_key: z
    .undefined({
      error:
        "must not contain API keys: set LLM_API_KEY or LLM_PROVIDERS, whose keys are sent only to their own host",
    })
    .optional(),
});

/** Keys of the request that are not parameters. */
const OWN_KEYS: ReadonlySet<string> = new Set([
  "messages",
  "input",
  "tools",
  "tool_choice",
  "stream_options",
]);

/**
 * Merges the configuration of a call; the first source that sets a value wins: the step's `stream`,
 * `extra_llm_parameters`, `llm_config`, and the settings, which `chooseProviders` reads. Throws LlmError.
 */
export function callConfig(sources: {
  readonly stream?: boolean | undefined;
  readonly extra?: LlmParameters | undefined;
  readonly config?: LlmParameters | undefined;
}): CallConfig {
  const said = Object.entries({ ...sources.config, ...sources.extra }).filter(
    ([name, value]) => value !== null && value !== undefined && value !== "" && !OWN_KEYS.has(name),
  );
  const parsed = config.safeParse(Object.fromEntries(said));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const inner = issue?.code === "invalid_key" ? issue.issues[0]?.message : issue?.message;
    throw new LlmError("invalid", `llm_config.${issue?.path.join(".")}: ${inner}`);
  }
  const { provider, base_url, model, stream, timeout, max_retries, custom_headers, ...parameters } =
    parsed.data;
  return {
    ...(provider === undefined ? {} : { provider }),
    ...(base_url === undefined ? {} : { baseUrl: base_url }),
    ...(model === undefined ? {} : { model }),
    stream: sources.stream ?? stream ?? false,
    timeoutMs: timeout ?? REQUEST_TIMEOUT_MS,
    tries: Math.max(1, max_retries ?? TRIES),
    headers: custom_headers ?? {},
    parameters,
  };
}
