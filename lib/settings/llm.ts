import { list, type SettingType, url } from "./setting-types.ts";

/** A provider of language models with an OpenAI-compatible API. */
export interface LlmProviderSettings {
  readonly name: string;
  /** `https://host/v1`, without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  /** The secret that holds the key, if the settings do not. */
  readonly apiKeySecret?: string;
  readonly model?: string;
}

export interface LlmSettings {
  /** In the order in which they are tried. */
  readonly providers: readonly LlmProviderSettings[];
  /** `host` or `host:port` that a step may use in `base_url`, in lower case. */
  readonly allowedHosts: readonly string[];
}

/** Name of the provider of `LLM_BASE_URL`, and of the secret that may hold its key. */
export const DEFAULT_PROVIDER = "default";
const DEFAULT_KEY_SECRET = "LLM_API_KEY";

const PROVIDERS_MAX = 32;

const anyUrl = url({ without: ["username", "search"] });

/** The base URL of an API, without the paths that the client appends. */
export const llmBaseUrl: SettingType<string> = {
  parse: (value) =>
    anyUrl
      .parse(value.trim())
      .replace(/\/+$/, "")
      .replace(/\/(?:chat\/completions|embeddings)$/, ""),
};

const PROVIDER_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const PROVIDER_FIELDS = ["name", "base_url", "api_key", "api_key_secret", "model"];

/** A JSON array. Errors never contain the text, which may hold keys. */
export const llmProviders: SettingType<readonly LlmProviderSettings[]> = {
  parse: (value) => {
    if (value.trim() === "") return [];
    let providers: unknown;
    try {
      providers = JSON.parse(value);
    } catch {
      throw new Error("must be valid JSON");
    }
    if (!Array.isArray(providers) || providers.length > PROVIDERS_MAX)
      throw new Error(`must be a JSON array of at most ${PROVIDERS_MAX} providers`);
    return providers.map(parseProvider);
  },
};

function parseProvider(value: unknown, index: number): LlmProviderSettings {
  const provider = Object(value) as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(provider).find((field) => !PROVIDER_FIELDS.includes(field));
  if (unknown !== undefined)
    throw new Error(`[${index}] must have no field besides ${PROVIDER_FIELDS.join(", ")}`);
  const field = (name: string): string => {
    const given = provider[name];
    if (typeof given === "string" && given !== "") return given;
    throw new Error(`[${index}].${name} must be a string that is not empty`);
  };
  const name = field("name");
  if (!PROVIDER_NAME.test(name))
    throw new Error(`[${index}].name must be up to 64 letters, digits, dots, underscores and hyphens`);
  return {
    name,
    baseUrl: parseBaseUrl(field("base_url"), index),
    ...(provider["api_key"] === undefined ? {} : { apiKey: field("api_key") }),
    ...(provider["api_key_secret"] === undefined ? {} : { apiKeySecret: field("api_key_secret") }),
    ...(provider["model"] === undefined ? {} : { model: field("model") }),
  };
}

function parseBaseUrl(value: string, index: number): string {
  try {
    return llmBaseUrl.parse(value);
  } catch (error) {
    throw new Error(`[${index}].base_url ${(error as Error).message}`);
  }
}

const hosts = list(
  (host) => !/[/@?#]/.test(host) && URL.parse(`http://${host}`)?.pathname === "/",
  "hosts, as host or host:port, separated by commas",
);

/** Hosts separated by commas or spaces. */
export const llmHosts: SettingType<readonly string[]> = {
  parse: (value) => hosts.parse(value.toLowerCase().replaceAll(/\s+/g, ",")),
};

/** The settings as one value. Throws an Error if two providers have the same name. */
export function toLlmSettings(values: {
  readonly LLM_BASE_URL: string | undefined;
  readonly LLM_API_KEY: string | undefined;
  readonly LLM_MODEL: string | undefined;
  readonly LLM_PROVIDERS: readonly LlmProviderSettings[];
  readonly LLM_ALLOWED_HOSTS: readonly string[];
}): LlmSettings {
  const { LLM_BASE_URL: baseUrl, LLM_API_KEY: apiKey, LLM_MODEL: model } = values;
  const key = apiKey === undefined ? { apiKeySecret: DEFAULT_KEY_SECRET } : { apiKey };
  const first = baseUrl === undefined ? [] : [{ name: DEFAULT_PROVIDER, baseUrl, ...key }];
  const providers = [...first, ...values.LLM_PROVIDERS].map((provider: LlmProviderSettings) =>
    provider.model === undefined && model !== undefined ? { ...provider, model } : provider,
  );
  const names = providers.map(({ name }) => name);
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (duplicate !== undefined)
    throw new Error(`LLM_PROVIDERS: two providers have the name ${duplicate}; rename one of them`);
  return { providers, allowedHosts: values.LLM_ALLOWED_HOSTS };
}

/** The keys in the settings, for redaction. */
export const llmKeys = ({ providers }: LlmSettings): string[] =>
  providers.flatMap(({ apiKey }) => (apiKey === undefined ? [] : [apiKey]));
