import { type KeySet, publicKeySet } from "../platform/key-set.ts";
import { PRODUCT_VERSION } from "../platform/product-version.ts";
import { DOCUMENT_SECRETS, documentSettings } from "./document-settings.ts";
import { withSettingFiles } from "./setting-files.ts";
import { type ThrottleRates, throttleRates } from "./throttle-rates.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** What settings were called before, or elsewhere. Seed: documents 2; reference 0.1, 0.2. */
const RENAMED: Readonly<Record<string, string>> = {
  AI_API_KEY: "PRIMARY_SDK_API_KEY",
  AI_BASE_URL: "PRIMARY_SDK_BASE_URL",
  OPENAI_SDK_API_KEY: "PRIMARY_SDK_API_KEY",
  OPENAI_SDK_BASE_URL: "PRIMARY_SDK_BASE_URL",
  COLLABORATION_WS_NOT_CONNECTED_READY_ONLY: "COLLABORATION_WS_NOT_CONNECTED_READ_ONLY",
  DJANGO_LANGUAGES: "LANGUAGES",
  DJANGO_LANGUAGE_CODE: "LANGUAGE_CODE",
  DJANGO_SERVER_TO_SERVER_API_TOKENS: "SERVER_TO_SERVER_API_TOKENS",
};

/** Secrets that a file may hold. */
const FROM_FILES = [...DOCUMENT_SECRETS, "LLM_API_KEY", "DJANGO_EMAIL_HOST_PASSWORD"];

/** Which family of language models documents use. Seed: documents 9.5. */
export interface DocumentModels {
  readonly family: "primary" | "mistral";
  readonly apiKey: string | undefined;
  readonly baseUrl: string | undefined;
  readonly model: string | undefined;
}

/** What GET config tells besides the theme, by its names. Reference 1.14. */
export interface ShownSettings {
  readonly AI_BOT: { readonly name: string; readonly color: string };
  readonly AI_FEATURE_ENABLED: boolean;
  readonly AI_FEATURE_BLOCKNOTE_ENABLED: boolean;
  readonly AI_FEATURE_LEGACY_ENABLED: boolean;
  readonly API_USERS_SEARCH_QUERY_MIN_LENGTH: number;
  readonly COLLABORATION_WS_URL: string | null;
  readonly COLLABORATION_WS_NOT_CONNECTED_READ_ONLY: boolean;
  readonly COLLABORATION_WS_INACTIVITY_TIMEOUT: number | null;
  readonly CONVERSION_FILE_EXTENSIONS_ALLOWED: readonly string[];
  readonly CONVERSION_FILE_MAX_SIZE: number;
  readonly CONVERSION_UPLOAD_ENABLED: boolean;
  readonly ENVIRONMENT: string;
  readonly FRONTEND_CSS_URL: string | null;
  readonly FRONTEND_HOMEPAGE_FEATURE_ENABLED: boolean;
  readonly FRONTEND_JS_URL: string | null;
  readonly FRONTEND_SILENT_LOGIN_ENABLED: boolean;
  readonly FRONTEND_THEME: string | null;
  readonly MEDIA_BASE_URL: string | null;
  readonly POSTHOG_KEY: string | null;
  readonly POSTHOG_HOST: string;
  readonly LANGUAGES: readonly (readonly [code: string, name: string])[];
  readonly LANGUAGE_CODE: string;
  readonly REACTIONS_MAX_PER_COMMENT: number;
  readonly SENTRY_DSN: string | null;
  readonly TRASHBIN_CUTOFF_DAYS: number;
  readonly RELEASE_VERSION: string;
}

/** What the settings of documents come to. */
export interface DocumentSettingsRead {
  readonly shown: ShownSettings;
  readonly theme: { readonly path: string | undefined; readonly cacheMs: number };
  /** Of the key that was set; none without one. */
  readonly keySet: KeySet | undefined;
  readonly throttles: ThrottleRates;
  readonly yProviderApiKey: string | undefined;
  readonly models: DocumentModels | undefined;
  /** Where a collaboration server of its own reaches this service. */
  readonly collaborationBackendBaseUrl: string | undefined;
  readonly publishAsMit: boolean;
  readonly allEndpointEnabled: boolean;
  /** Any of them opens what servers ask for. */
  readonly serverTokens: readonly string[];
  /** Name of the header, in lower case. */
  readonly mediaAuthOriginalUrlHeader: string;
  /** What no log may hold. */
  readonly secrets: readonly string[];
}

/**
 * The environment with what `DOCUMENT_SETTINGS` holds and what files hold. What is named by itself goes before.
 * Throws an Error of one sentence for a setting that is called otherwise now.
 */
export function documentEnvironment(given: Environment): Environment {
  const bundled = readBundled(given["DOCUMENT_SETTINGS"]);
  const environment: Environment = { ...bundled, ...given };
  for (const [old, name] of Object.entries(RENAMED)) {
    if (environment[old] || environment[`${old}_FILE`])
      throw new Error(`${old}: is called ${name} now, so set that one in its place`);
  }
  return withSettingFiles(environment, FROM_FILES);
}

function readBundled(value: string | undefined): Readonly<Record<string, string>> {
  if (value === undefined || value.trim() === "") return {};
  let read: unknown;
  try {
    read = JSON.parse(value);
  } catch {
    throw new Error("DOCUMENT_SETTINGS: must be JSON, and it does not parse");
  }
  if (typeof read !== "object" || read === null || Array.isArray(read) || Object.values(read).some(isNoText))
    throw new Error("DOCUMENT_SETTINGS: must be a JSON object of texts");
  const bundled = read as Readonly<Record<string, string>>;
  const apart: readonly string[] = [...DOCUMENT_SECRETS, "DOCUMENT_SETTINGS"];
  const wrong = Object.keys(bundled).find(
    (name) =>
      (!Object.hasOwn(documentSettings, name) && !Object.hasOwn(RENAMED, name)) || apart.includes(name),
  );
  if (wrong !== undefined)
    throw new Error(`DOCUMENT_SETTINGS: ${wrong.slice(0, 100)} cannot be set in there`);
  return bundled;
}

const isNoText = (value: unknown): boolean => typeof value !== "string";

type Parsed = Installation & {
  readonly [Name in keyof typeof documentSettings]: ReturnType<(typeof documentSettings)[Name]["read"]>;
};

/** What the rest of the settings say that matters here. */
interface Installation {
  readonly WEFT_PLATFORM: "embedded" | "aws";
  readonly TRASHBIN_CUTOFF_DAYS: number;
  readonly HOST: string;
}

const LOOPBACK_HOST = /^(?:localhost\.?|127(?:\.\d{1,3}){3}|::1|\[::1\])$/i;
/** Whether only programs of the same machine reach a server that listens there. */
const isLoopbackHost = (host: string): boolean => LOOPBACK_HOST.test(host);

/** Reads each by itself. Throws an Error that names every one that is wrong. */
function readEach(environment: Environment, installation: Installation): Parsed {
  const wrong: string[] = [];
  const values = Object.entries(documentSettings).map(([name, setting]) => {
    try {
      return [name, setting.read(environment[name] || undefined, environment[name] === "")];
    } catch (error) {
      wrong.push(`${name}: ${(error as Error).message}`);
      return [name, undefined];
    }
  });
  if (wrong.length > 0) throw new Error(wrong.join("; "));
  return { ...(Object.fromEntries(values) as Parsed), ...installation };
}

/** Puts the settings together. Throws an Error of a sentence for what is wrong or contradicts another. */
export function readDocumentSettings(
  environment: Environment,
  { WEFT_PLATFORM, TRASHBIN_CUTOFF_DAYS, HOST }: Installation,
): DocumentSettingsRead {
  const parsed = readEach(environment, { WEFT_PLATFORM, TRASHBIN_CUTOFF_DAYS, HOST });
  const serverTokens = readTokens(parsed.SERVER_TO_SERVER_API_TOKENS);
  return {
    shown: shownSettings(parsed),
    theme: {
      path: parsed.THEME_CUSTOMIZATION_FILE_PATH,
      cacheMs: parsed.THEME_CUSTOMIZATION_CACHE_TIMEOUT * 1000,
    },
    keySet: readKeySet(parsed),
    throttles: throttleRates(parsed, WEFT_PLATFORM === "aws" || !isLoopbackHost(HOST)),
    yProviderApiKey: parsed.Y_PROVIDER_API_KEY,
    models: readModels(parsed),
    collaborationBackendBaseUrl: parsed.COLLABORATION_BACKEND_BASE_URL,
    publishAsMit: parsed.PUBLISH_AS_MIT,
    allEndpointEnabled: parsed.DOCUMENT_ALL_ENDPOINT_ENABLED,
    serverTokens,
    mediaAuthOriginalUrlHeader: parsed.MEDIA_AUTH_ORIGINAL_URL_HEADER.slice("HTTP_".length)
      .replaceAll("_", "-")
      .toLowerCase(),
    secrets: [...DOCUMENT_SECRETS.map((name) => parsed[name]), ...serverTokens].filter(
      (value) => value !== undefined,
    ),
  };
}

function readTokens(value = ""): readonly string[] {
  const tokens = value.split(",").map((each) => each.trim());
  if (tokens.some((token) => /\s/.test(token)))
    throw new Error("SERVER_TO_SERVER_API_TOKENS: must be tokens without blanks in them, with , between");
  return tokens.filter((token) => token !== "");
}

function readModels(parsed: Parsed): DocumentModels | undefined {
  const { PRIMARY_SDK_API_KEY: primary, MISTRAL_SDK_API_KEY: mistral, AI_MODEL: model } = parsed;
  const { PRIMARY_SDK_BASE_URL: primaryUrl, MISTRAL_SDK_BASE_URL: mistralUrl } = parsed;
  const hasPrimary = primary !== undefined || primaryUrl !== undefined;
  const hasMistral = mistral !== undefined || mistralUrl !== undefined;
  if (hasPrimary && hasMistral)
    throw new Error(
      "PRIMARY_SDK_API_KEY: documents use one family of language models, so set either the PRIMARY_SDK_ or the MISTRAL_SDK_ settings, not both",
    );
  if (hasPrimary) return { family: "primary", apiKey: primary, baseUrl: primaryUrl, model };
  return hasMistral ? { family: "mistral", apiKey: mistral, baseUrl: mistralUrl, model } : undefined;
}

function readKeySet(parsed: Parsed): KeySet | undefined {
  if (parsed.OIDC_RS_PRIVATE_KEY_STR === undefined) return undefined;
  try {
    return publicKeySet(parsed.OIDC_RS_PRIVATE_KEY_STR, parsed.OIDC_RS_ENCRYPTION_ALGO);
  } catch (error) {
    throw new Error(`OIDC_RS_PRIVATE_KEY_STR: ${(error as Error).message}`);
  }
}

function shownSettings(parsed: Parsed): ShownSettings {
  const codes = parsed.LANGUAGES.map(([code]) => code);
  if (!codes.includes(parsed.LANGUAGE_CODE))
    throw new Error(`LANGUAGE_CODE: must be one of LANGUAGES, which are ${codes.join(", ")}`);
  return {
    AI_BOT: parsed.AI_BOT,
    AI_FEATURE_ENABLED: parsed.AI_FEATURE_ENABLED,
    AI_FEATURE_BLOCKNOTE_ENABLED: parsed.AI_FEATURE_BLOCKNOTE_ENABLED,
    AI_FEATURE_LEGACY_ENABLED: parsed.AI_FEATURE_LEGACY_ENABLED,
    API_USERS_SEARCH_QUERY_MIN_LENGTH: parsed.API_USERS_SEARCH_QUERY_MIN_LENGTH,
    COLLABORATION_WS_URL: parsed.COLLABORATION_WS_URL ?? null,
    COLLABORATION_WS_NOT_CONNECTED_READ_ONLY: parsed.COLLABORATION_WS_NOT_CONNECTED_READ_ONLY,
    COLLABORATION_WS_INACTIVITY_TIMEOUT: parsed.COLLABORATION_WS_INACTIVITY_TIMEOUT,
    CONVERSION_FILE_EXTENSIONS_ALLOWED: parsed.CONVERSION_FILE_EXTENSIONS_ALLOWED,
    CONVERSION_FILE_MAX_SIZE: parsed.CONVERSION_FILE_MAX_SIZE,
    CONVERSION_UPLOAD_ENABLED: parsed.CONVERSION_UPLOAD_ENABLED,
    ENVIRONMENT: parsed.ENVIRONMENT ?? "production",
    FRONTEND_CSS_URL: parsed.FRONTEND_CSS_URL ?? null,
    FRONTEND_HOMEPAGE_FEATURE_ENABLED: parsed.FRONTEND_HOMEPAGE_FEATURE_ENABLED,
    FRONTEND_JS_URL: parsed.FRONTEND_JS_URL ?? null,
    FRONTEND_SILENT_LOGIN_ENABLED: parsed.FRONTEND_SILENT_LOGIN_ENABLED,
    FRONTEND_THEME: parsed.FRONTEND_THEME ?? null,
    MEDIA_BASE_URL: parsed.MEDIA_BASE_URL ?? null,
    POSTHOG_KEY: parsed.POSTHOG_KEY ?? null,
    POSTHOG_HOST: parsed.POSTHOG_HOST,
    LANGUAGES: parsed.LANGUAGES,
    LANGUAGE_CODE: parsed.LANGUAGE_CODE,
    REACTIONS_MAX_PER_COMMENT: parsed.REACTIONS_MAX_PER_COMMENT,
    SENTRY_DSN: parsed.SENTRY_DSN ?? null,
    TRASHBIN_CUTOFF_DAYS: parsed.TRASHBIN_CUTOFF_DAYS,
    RELEASE_VERSION: PRODUCT_VERSION,
  };
}
