import { PRODUCT_VERSION } from "../product-version.ts";
import { type KeySet, publicKeySet } from "./key-set.ts";
import { type LoginSettings, toLoginSettings } from "./oidc-login.ts";
import { type ResourceServerSettings, toResourceServerSettings } from "./resource-server.ts";
import type { SocketAddress } from "./setting-types.ts";
import type { SettingValues } from "./settings.ts";
import { type ThrottleRate, type ThrottleRates, throttleRates } from "./throttle-rates.ts";

/** The provider of AI functions in documents. Seed: documents 9.5. */
export interface DocumentModels {
  readonly family: "primary" | "mistral";
  /** Undefined in functions on AWS that use no model. */
  readonly apiKey: string | undefined;
  readonly baseUrl: string;
  readonly model: string | undefined;
}

/** The settings that GET config returns, in the order of the response. Reference 1.14. */
const CLIENT_SETTINGS = [
  "AI_BOT",
  "AI_FEATURE_ENABLED",
  "AI_FEATURE_BLOCKNOTE_ENABLED",
  "AI_FEATURE_LEGACY_ENABLED",
  "API_USERS_SEARCH_QUERY_MIN_LENGTH",
  "COLLABORATION_WS_URL",
  "COLLABORATION_WS_NOT_CONNECTED_READ_ONLY",
  "COLLABORATION_WS_INACTIVITY_TIMEOUT",
  "CONVERSION_FILE_EXTENSIONS_ALLOWED",
  "CONVERSION_FILE_MAX_SIZE",
  "CONVERSION_UPLOAD_ENABLED",
  "ENVIRONMENT",
  "FRONTEND_CSS_URL",
  "FRONTEND_HOMEPAGE_FEATURE_ENABLED",
  "FRONTEND_JS_URL",
  "FRONTEND_SILENT_LOGIN_ENABLED",
  "FRONTEND_THEME",
  "MEDIA_BASE_URL",
  "POSTHOG_KEY",
  "POSTHOG_HOST",
  "LANGUAGES",
  "LANGUAGE_CODE",
  "REACTIONS_MAX_PER_COMMENT",
  "SENTRY_DSN",
  "TRASHBIN_CUTOFF_DAYS",
] as const satisfies readonly (keyof SettingValues)[];

/** Unset settings are null, as clients expect. */
export type ClientSettings = {
  readonly [Name in (typeof CLIENT_SETTINGS)[number]]: undefined extends SettingValues[Name]
    ? Exclude<SettingValues[Name], undefined> | null
    : SettingValues[Name];
} & { readonly RELEASE_VERSION: string };

/** How long browser sessions last. */
export interface SessionSettings {
  /** Without a request. */
  readonly idleMs: number;
  /** Since the login. */
  readonly maxMs: number;
}

export interface AttachmentSettings {
  /** Maximum size of a file, of all files that were uploaded to a document, and of all files, bytes. */
  readonly maxBytes: number;
  readonly documentMaxBytes: number;
  readonly totalMaxBytes: number;
  /** Whether dangerous and mismatched types are marked as unsafe. */
  readonly checksTypes: boolean;
  /** How long an attachment is kept that nothing references. */
  readonly unreferencedMs: number;
  /** What decides whether an upload is safe; without it, every one is. */
  readonly checkedBy: { readonly clamav: SocketAddress } | "workflow" | undefined;
}

/** The DocSpec server that converts Word documents. */
export interface DocspecSettings {
  /** `DOCSPEC_API_URL`. */
  readonly apiUrl: string;
  /** Time limit of a conversion. */
  readonly timeoutMs: number;
}

export interface DocumentSettings {
  /** Email address of the user to whom the installation's access token belongs. */
  readonly ownerEmail: string;
  readonly aiAllowReachFrom: "public" | "authenticated" | "restricted";
  /** Age after which a deleted document can no longer be restored. */
  readonly trashbinCutoffMs: number;
  /** Maximum number of users in the response to a search. */
  readonly usersListLimit: number;
  /** Email address of the user as whom workflows access documents; empty for the owner. */
  readonly workflowsEmail: string;
  /** Whether users with an unknown `sub` are identified by email address. */
  readonly fallbackToEmail: boolean;
  readonly allowDuplicateEmails: boolean;
  readonly clientSettings: ClientSettings;
  readonly theme: { readonly path: string | undefined; readonly cacheMs: number };
  /** The public key of OIDC_RS_PRIVATE_KEY_STR, if it is set. */
  readonly keySet: KeySet | undefined;
  readonly throttles: ThrottleRates;
  readonly yProviderApiKey: string | undefined;
  readonly models: DocumentModels | undefined;
  /** Time limit of a request to the model, milliseconds. */
  readonly aiTimeoutMs: number;
  readonly aiRates: { readonly document: readonly ThrottleRate[]; readonly user: readonly ThrottleRate[] };
  readonly collaborationServerSecret: string | undefined;
  /** Empty for the server's own. */
  readonly collaborationServerOrigins: readonly string[];
  readonly collaborationBackendBaseUrl: string | undefined;
  readonly publishAsMit: boolean;
  readonly allEndpointEnabled: boolean;
  readonly serverTokens: readonly string[];
  readonly sessions: SessionSettings;
  readonly login: LoginSettings;
  /** Undefined if the external API is disabled. */
  readonly resourceServer: ResourceServerSettings | undefined;
  /** In lower case. */
  readonly mediaAuthOriginalUrlHeader: string;
  readonly attachments: AttachmentSettings;
  /** Undefined if Weft converts Word documents itself. */
  readonly docspec: DocspecSettings | undefined;
  /** Whether one session at a time may save while nobody is connected, and for how long after its last save. */
  readonly editLock: { readonly isEnabled: boolean; readonly holdMs: number };
  /** The API of a separate collaboration server. */
  readonly collaborationApi: { readonly apiUrl: string; readonly secret: string } | undefined;
  /** Values to redact in logs. */
  readonly secrets: readonly string[];
}

const DAY_MS = 24 * 60 * 60 * 1000;
const LOOPBACK_HOST = /^(?:localhost\.?|127(?:\.\d{1,3}){3}|::1|\[::1\])$/i;

/** Throws an Error if settings contradict each other. */
export function toDocumentSettings(values: SettingValues): DocumentSettings {
  const keys = keySet(values);
  const secrets = [
    values.PRIMARY_SDK_API_KEY,
    values.MISTRAL_SDK_API_KEY,
    values.Y_PROVIDER_API_KEY,
    values.COLLABORATION_SERVER_SECRET,
    values.OIDC_RS_PRIVATE_KEY_STR,
    values.OIDC_RP_CLIENT_SECRET,
    values.OIDC_RS_CLIENT_SECRET,
    ...values.SERVER_TO_SERVER_API_TOKENS,
  ];
  return {
    ownerEmail: values.WEFT_OWNER_EMAIL,
    aiAllowReachFrom: values.AI_ALLOW_REACH_FROM,
    trashbinCutoffMs: values.TRASHBIN_CUTOFF_DAYS * DAY_MS,
    usersListLimit: values.API_USERS_LIST_LIMIT,
    workflowsEmail: values.WORKFLOW_DOCUMENTS_USER,
    fallbackToEmail: values.OIDC_FALLBACK_TO_EMAIL_FOR_IDENTIFICATION,
    allowDuplicateEmails: values.OIDC_ALLOW_DUPLICATE_EMAILS,
    clientSettings: clientSettings(values),
    theme: {
      path: values.THEME_CUSTOMIZATION_FILE_PATH,
      cacheMs: values.THEME_CUSTOMIZATION_CACHE_TIMEOUT * 1000,
    },
    keySet: keys,
    throttles: throttleRates(values, values.WEFT_PLATFORM === "aws" || !LOOPBACK_HOST.test(values.HOST)),
    yProviderApiKey: values.Y_PROVIDER_API_KEY,
    models: models(values),
    aiTimeoutMs: values.AI_REQUEST_TIMEOUT * 1000,
    aiRates: { document: values.AI_DOCUMENT_RATE_THROTTLE_RATES, user: values.AI_USER_RATE_THROTTLE_RATES },
    collaborationServerSecret: values.COLLABORATION_SERVER_SECRET,
    collaborationServerOrigins: values.COLLABORATION_SERVER_ORIGIN,
    collaborationBackendBaseUrl: values.COLLABORATION_BACKEND_BASE_URL,
    publishAsMit: values.PUBLISH_AS_MIT,
    allEndpointEnabled: values.DOCUMENT_ALL_ENDPOINT_ENABLED,
    serverTokens: values.SERVER_TO_SERVER_API_TOKENS,
    login: toLoginSettings(values),
    resourceServer: toResourceServerSettings(values, keys?.keys[0]),
    sessions: { idleMs: values.SESSION_COOKIE_AGE * 1000, maxMs: values.SESSION_MAX_AGE * 1000 },
    mediaAuthOriginalUrlHeader: values.MEDIA_AUTH_ORIGINAL_URL_HEADER,
    attachments: attachmentSettings(values),
    docspec:
      values.DOCSPEC_API_URL === undefined
        ? undefined
        : { apiUrl: values.DOCSPEC_API_URL, timeoutMs: values.CONVERSION_API_TIMEOUT * 1000 },
    editLock: {
      isEnabled: values.COLLABORATION_WS_NOT_CONNECTED_READ_ONLY,
      holdMs: values.NO_WEBSOCKET_CACHE_TIMEOUT * 1000,
    },
    collaborationApi: collaborationApi(values),
    secrets: secrets.filter((secret) => secret !== undefined),
  };
}

function attachmentSettings(values: SettingValues): AttachmentSettings {
  const { CLAMAV_ADDRESS: clamav, ATTACHMENTS_CHECKED_BY_WORKFLOW: byWorkflow } = values;
  if (clamav !== undefined && byWorkflow)
    throw new Error(
      "ATTACHMENTS_CHECKED_BY_WORKFLOW: attachments are checked by a workflow or by the server of CLAMAV_ADDRESS; set one of them",
    );
  return {
    maxBytes: values.DOCUMENT_IMAGE_MAX_SIZE,
    documentMaxBytes: values.DOCUMENT_ATTACHMENTS_MAX_SIZE,
    totalMaxBytes: values.ATTACHMENTS_TOTAL_MAX_SIZE,
    checksTypes: values.DOCUMENT_ATTACHMENT_CHECK_UNSAFE_MIME_TYPES_ENABLED,
    unreferencedMs: values.ATTACHMENTS_UNREFERENCED_DAYS * DAY_MS,
    checkedBy: clamav === undefined ? (byWorkflow ? "workflow" : undefined) : { clamav },
  };
}

function collaborationApi(values: SettingValues): DocumentSettings["collaborationApi"] {
  const { COLLABORATION_API_URL: apiUrl, COLLABORATION_SERVER_SECRET: secret } = values;
  if (apiUrl === undefined) return undefined;
  if (secret === undefined)
    throw new Error("COLLABORATION_API_URL: requires COLLABORATION_SERVER_SECRET, the secret of that server");
  return { apiUrl, secret };
}

/** Throws an Error if both providers are set, or one of them incompletely. */
function models(values: SettingValues): DocumentModels | undefined {
  const { PRIMARY_SDK_API_KEY: primaryKey, PRIMARY_SDK_BASE_URL: primaryUrl } = values;
  const { MISTRAL_SDK_API_KEY: mistralKey, MISTRAL_SDK_BASE_URL: mistralUrl } = values;
  const hasPrimary = primaryKey !== undefined || primaryUrl !== undefined;
  const hasMistral = mistralKey !== undefined || mistralUrl !== undefined;
  if (hasPrimary && hasMistral)
    throw new Error(
      "PRIMARY_SDK_API_KEY: documents use one AI provider; set either the PRIMARY_SDK_ or the MISTRAL_SDK_ settings, not both",
    );
  if (hasPrimary) return provider("primary", "PRIMARY_SDK", primaryKey, primaryUrl, values);
  return hasMistral ? provider("mistral", "MISTRAL_SDK", mistralKey, mistralUrl, values) : undefined;
}

function provider(
  family: DocumentModels["family"],
  prefix: string,
  apiKey: string | undefined,
  baseUrl: string | undefined,
  { AI_MODEL: model, AI_FEATURE_ENABLED: isEnabled, WEFT_PLATFORM: platform }: SettingValues,
): DocumentModels {
  if (baseUrl === undefined) throw new Error(`${prefix}_BASE_URL: must be set if ${prefix}_API_KEY is set`);
  // On AWS, functions that use no model do not read its key.
  if (apiKey === undefined && platform !== "aws")
    throw new Error(
      `${prefix}_API_KEY: must be set if ${prefix}_BASE_URL is set; any text if the server requires none`,
    );
  if (model === undefined && isEnabled)
    throw new Error(`AI_MODEL: must be set if AI_FEATURE_ENABLED is true and ${prefix}_BASE_URL is set`);
  return { family, apiKey, baseUrl, model };
}

function keySet(values: SettingValues): KeySet | undefined {
  if (values.OIDC_RS_PRIVATE_KEY_STR === undefined) return undefined;
  try {
    return publicKeySet(values.OIDC_RS_PRIVATE_KEY_STR, values.OIDC_RS_ENCRYPTION_ALGO);
  } catch (error) {
    throw new Error(`OIDC_RS_PRIVATE_KEY_STR: ${(error as Error).message}`);
  }
}

function clientSettings(values: SettingValues): ClientSettings {
  const codes = values.LANGUAGES.map(([code]) => code);
  if (!codes.includes(values.LANGUAGE_CODE))
    throw new Error(`LANGUAGE_CODE: must be one of LANGUAGES, which are ${codes.join(", ")}`);
  const shown = Object.fromEntries(CLIENT_SETTINGS.map((name) => [name, values[name] ?? null]));
  return { ...shown, RELEASE_VERSION: PRODUCT_VERSION } as ClientSettings;
}
