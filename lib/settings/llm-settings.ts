import * as z from "zod";

/** A provider of language models that speaks OpenAI's protocol, as the settings name it. */
export interface LlmProviderSettings {
  readonly name: string;
  /** `https://host/v1`, without a slash at its end. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  /** The secret that holds the key where the settings do not. */
  readonly apiKeySecret?: string;
  readonly model?: string;
}

export interface LlmSettings {
  /** In the order in which they are tried. */
  readonly providers: readonly LlmProviderSettings[];
  /** `host` or `host:port` that a step may name as `base_url`, in lower case. */
  readonly allowedHosts: readonly string[];
}

/** Name of the provider of `LLM_BASE_URL`, and of the secret that may hold its key. */
export const DEFAULT_PROVIDER = "default";
const DEFAULT_KEY_SECRET = "LLM_API_KEY";

const PROVIDERS_MAX = 32;

/** An address of an API; what callers append themselves is taken off. */
export const llmBaseUrl = z
  .string()
  .trim()
  .refine((value) => {
    const url = URL.canParse(value) ? new URL(value) : undefined;
    return url !== undefined && /^https?:$/.test(url.protocol) && url.username === "" && url.search === "";
  }, "must be an http or https URL without user name and query")
  .transform((value) => value.replace(/\/+$/, "").replace(/\/(?:chat\/completions|embeddings)$/, ""));

const provider = z
  .strictObject({
    name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, "must be a name"),
    base_url: llmBaseUrl,
    api_key: z.string().min(1).exactOptional(),
    api_key_secret: z.string().min(1).exactOptional(),
    model: z.string().min(1).exactOptional(),
  })
  .transform(
    ({ name, base_url, api_key, api_key_secret, model }): LlmProviderSettings => ({
      name,
      baseUrl: base_url,
      ...(api_key === undefined ? {} : { apiKey: api_key }),
      ...(api_key_secret === undefined ? {} : { apiKeySecret: api_key_secret }),
      ...(model === undefined ? {} : { model }),
    }),
  );

/** A JSON list of providers; nothing is none. What is wrong is told without the text: it may hold keys. */
export const llmProviders = z
  .string()
  .optional()
  .transform((text, context): readonly LlmProviderSettings[] => {
    if (text === undefined || text.trim() === "") return [];
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      context.addIssue({ code: "custom", message: "must be JSON" });
      return z.NEVER;
    }
    const parsed = z.array(provider).max(PROVIDERS_MAX).safeParse(value);
    if (parsed.success) return parsed.data;
    for (const { path, message } of parsed.error.issues)
      context.addIssue({ code: "custom", message: `[${path.join(".")}] ${message}` });
    return z.NEVER;
  });

/** Hosts, by commas or spaces. */
export const llmAllowedHosts = z
  .string()
  .optional()
  .transform((text) =>
    (text ?? "")
      .toLowerCase()
      .split(/[\s,]+/)
      .filter((host) => host !== ""),
  )
  .refine(
    (hosts) =>
      hosts.every(
        (host) =>
          URL.canParse(`http://${host}`) &&
          new URL(`http://${host}`).pathname === "/" &&
          !/[/@?#]/.test(host),
      ),
    "must be hosts, as host or host:port",
  );

/** The settings put together. Throws an Error where two providers have one name. */
export function llmSettings(parsed: {
  readonly LLM_BASE_URL?: string | undefined;
  readonly LLM_API_KEY: string | undefined;
  readonly LLM_MODEL: string | undefined;
  readonly LLM_PROVIDERS: readonly LlmProviderSettings[];
  readonly LLM_ALLOWED_HOSTS: readonly string[];
}): LlmSettings {
  const { LLM_BASE_URL: baseUrl, LLM_API_KEY: apiKey, LLM_MODEL: model } = parsed;
  const first: LlmProviderSettings[] =
    baseUrl === undefined
      ? []
      : [
          {
            name: DEFAULT_PROVIDER,
            baseUrl,
            ...(apiKey === undefined ? { apiKeySecret: DEFAULT_KEY_SECRET } : { apiKey }),
          },
        ];
  const providers = [...first, ...parsed.LLM_PROVIDERS].map((each) =>
    each.model === undefined && model !== undefined ? { ...each, model } : each,
  );
  const names = providers.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new Error(`LLM_PROVIDERS: two providers have the name ${twice}`);
  return { providers, allowedHosts: parsed.LLM_ALLOWED_HOSTS };
}

/** The keys that stand in the settings, for whoever keeps them out of texts. */
export function llmKeys({ providers }: LlmSettings): string[] {
  return providers.flatMap(({ apiKey }) => (apiKey === undefined ? [] : [apiKey]));
}
