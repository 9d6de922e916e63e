import type { Secrets } from "../platform/secrets.ts";
import type { LlmProviderSettings, LlmSettings } from "../settings/llm.ts";
import type { CallConfig } from "./config.ts";
import { LlmFailed } from "./errors.ts";

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
 * author's own `base_url` gets no key, and must be a host that the settings allow. Throws LlmFailed.
 */
export async function chooseProviders(
  settings: LlmSettings,
  { provider, baseUrl, model }: Pick<CallConfig, "provider" | "baseUrl" | "model">,
  secrets: Pick<Secrets, "get">,
): Promise<readonly Provider[]> {
  const named = provider === undefined ? settings.providers : [providerNamed(settings, provider)];
  const chosen = baseUrl === undefined ? named : [atBaseUrl(settings, named, baseUrl)];
  if (chosen.length === 0)
    throw new LlmFailed("not_configured", "no provider of language models is configured: set LLM_BASE_URL");
  return Promise.all(
    chosen.map(async (one) => {
      const used = model ?? one.model;
      if (used === undefined)
        throw new LlmFailed(
          "invalid",
          `no model: set LLM_MODEL, or model in llm_config (provider ${one.name})`,
        );
      return { name: one.name, baseUrl: one.baseUrl, model: used, key: await keyOf(one, secrets) };
    }),
  );
}

function providerNamed({ providers }: LlmSettings, name: string): LlmProviderSettings {
  const found = providers.find((one) => one.name === name);
  if (found !== undefined) return found;
  const known = providers.map((one) => one.name).join(", ");
  throw new LlmFailed(
    providers.length === 0 ? "not_configured" : "invalid",
    providers.length === 0
      ? `llm_config.provider: there is no provider "${name}": set LLM_BASE_URL or LLM_PROVIDERS`
      : `llm_config.provider: there is no provider "${name}", there are: ${known}`,
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
    throw new LlmFailed("invalid", "llm_config.base_url: must be an http or https URL without user name");
  url.search = "";
  url.hash = "";
  const base = url.href.replace(/\/+$/, "").replace(/\/(?:chat\/completions|embeddings)$/, "");
  const own = providers.find((one) => new URL(one.baseUrl).origin === url.origin);
  if (own !== undefined) return { ...own, baseUrl: base };
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  if (!allowedHosts.includes(url.host) && !allowedHosts.includes(`${url.hostname}:${port}`))
    throw new LlmFailed("invalid", `llm_config.base_url: LLM_ALLOWED_HOSTS does not have ${url.host}`);
  return { name: url.host, baseUrl: base };
}

async function keyOf(
  { name, apiKey, apiKeySecret }: LlmProviderSettings,
  secrets: Pick<Secrets, "get">,
): Promise<string | undefined> {
  if (apiKey !== undefined || apiKeySecret === undefined) return apiKey;
  const key = await secrets.get(apiKeySecret).catch((error: unknown) => {
    if ((error as { name?: unknown }).name !== "AccessDeniedException") throw error;
    const where = "in AWS, endpoints read only secrets whose names begin with LLM_";
    throw new LlmFailed("not_configured", `provider ${name}: ${apiKeySecret} may not be read (${where})`);
  });
  if (key === undefined && !OPTIONAL_KEY_SECRETS.has(apiKeySecret))
    throw new LlmFailed("not_configured", `provider ${name}: there is no secret ${apiKeySecret}`);
  return key;
}
