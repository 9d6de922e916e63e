import type { Secrets } from "../platform/secrets.ts";
import type { LlmProviderSettings, LlmSettings } from "../settings/llm.ts";
import type { CallConfig } from "./config.ts";
import { LlmError } from "./errors.ts";

/** A provider as a call uses it. */
export interface Provider {
  readonly name: string;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly model: string;
  readonly key: string | undefined;
}

/** Secrets that may be missing, because local models need no key. */
const OPTIONAL_KEY_SECRETS: ReadonlySet<string> = new Set(["LLM_API_KEY"]);

/**
 * The providers that a call may use, in order. A key is sent only to the origin that it was configured for, so an
 * author's own `base_url` gets no key, and must be a host that the settings allow. Throws LlmError.
 */
export async function chooseProviders(
  settings: LlmSettings,
  { provider, baseUrl, model }: Pick<CallConfig, "provider" | "baseUrl" | "model">,
  secrets: Pick<Secrets, "get">,
): Promise<readonly Provider[]> {
  const named = provider === undefined ? settings.providers : [providerNamed(settings, provider)];
  const chosen = baseUrl === undefined ? named : [atBaseUrl(settings, named, baseUrl)];
  if (chosen.length === 0)
    throw new LlmError("not_configured", "no provider of language models is configured: set LLM_BASE_URL");
  return Promise.all(
    chosen.map(async (one) => {
      const used = model ?? one.model;
      if (used === undefined)
        throw new LlmError(
          "invalid",
          `no model for provider ${one.name}: set LLM_MODEL, or model in llm_config`,
        );
      return { name: one.name, baseUrl: one.baseUrl, model: used, key: await keyOf(one, secrets) };
    }),
  );
}

function providerNamed({ providers }: LlmSettings, name: string): LlmProviderSettings {
  const found = providers.find((one) => one.name === name);
  if (found !== undefined) return found;
  const known = providers.map((one) => one.name).join(", ");
  throw new LlmError(
    providers.length === 0 ? "not_configured" : "invalid",
    providers.length === 0
      ? `llm_config.provider: unknown provider "${name}": set LLM_BASE_URL or LLM_PROVIDERS`
      : `llm_config.provider: unknown provider "${name}", must be one of: ${known}`,
  );
}

/** Compares whole origins: a key is never sent to another host or port, or over http instead of https. */
function atBaseUrl(
  { allowedHosts }: LlmSettings,
  providers: readonly LlmProviderSettings[],
  baseUrl: string,
): LlmProviderSettings {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "")
    throw new LlmError("invalid", "llm_config.base_url: must be an http or https URL without a user name");
  url.search = "";
  url.hash = "";
  const base = url.href.replace(/\/+$/, "").replace(/\/(?:chat\/completions|embeddings)$/, "");
  const own = providers.find((one) => new URL(one.baseUrl).origin === url.origin);
  if (own !== undefined) return { ...own, baseUrl: base };
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  if (!allowedHosts.includes(url.host) && !allowedHosts.includes(`${url.hostname}:${port}`))
    throw new LlmError("invalid", `llm_config.base_url: ${url.host} is not one of LLM_ALLOWED_HOSTS`);
  return { name: url.host, baseUrl: base };
}

async function keyOf(
  { name, apiKey, apiKeySecret }: LlmProviderSettings,
  secrets: Pick<Secrets, "get">,
): Promise<string | undefined> {
  if (apiKey !== undefined || apiKeySecret === undefined) return apiKey;
  const key = await secrets.get(apiKeySecret).catch((error: unknown) => {
    if ((error as { name?: unknown }).name !== "AccessDeniedException") throw error;
    const where = "on AWS, endpoints may read only secrets whose names begin with LLM_";
    throw new LlmError(
      "not_configured",
      `provider ${name}: reading the secret ${apiKeySecret} is not allowed (${where})`,
    );
  });
  if (key === undefined && !OPTIONAL_KEY_SECRETS.has(apiKeySecret))
    throw new LlmError("not_configured", `provider ${name}: the secret ${apiKeySecret} does not exist`);
  return key;
}
