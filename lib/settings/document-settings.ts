import { loginSettings } from "./login-settings.ts";
import { resourceServerSettings } from "./resource-server-settings.ts";
import {
  boolean,
  integer,
  list,
  mapped,
  matching,
  oneOf,
  type Setting,
  type SettingType,
  text,
  url,
} from "./setting-types.ts";
import { throttleRate, throttleRateList, throttleSetting } from "./throttle-rates.ts";

const TEXT_MAX = 2000;
const SECRET_MAX = 16_384;

const shortText = text(TEXT_MAX);
const secret = text(SECRET_MAX);
const shortUrl = url({ without: ["username"], maxLength: TEXT_MAX });
const webSocketUrl = url({ protocols: ["ws", "wss"], without: ["username"], maxLength: TEXT_MAX });
const urlOrPath = url({ without: ["username"], maxLength: TEXT_MAX, orPath: true });

const LANGUAGE = /^[a-z]{2,3}(?:-[a-z0-9]{2,8})*,[^,;]{1,60}$/i;
const LANGUAGES_MAX = 100;

const languages: SettingType<readonly (readonly [code: string, name: string])[]> = {
  parse: (value) => {
    const items = value.split(";").map((item) => item.trim());
    if (items.length > LANGUAGES_MAX || !items.every((item) => LANGUAGE.test(item)))
      throw new Error(
        "must be languages as code,Name separated by semicolons, such as en-us,English;fr-fr,Français",
      );
    return items.map((item) => item.split(",", 2) as [code: string, name: string]);
  },
};

const AI_BOT = '{"name":"Weft AI","color":"#8bc6ff"}';
const COLOR = /^#[0-9a-f]{6}$/i;
const BOT_NAME_MAX = 100;

const bot: SettingType<{ readonly name: string; readonly color: string }> = {
  parse: (value) => {
    try {
      const { name, color, ...others } = JSON.parse(value) as Record<string, unknown>;
      if (typeof name === "string" && name !== "" && name.length <= BOT_NAME_MAX)
        if (typeof color === "string" && COLOR.test(color) && Object.keys(others).length === 0)
          return { name, color };
    } catch {
      // Invalid JSON has the same error as an invalid object.
    }
    throw new Error(`must be JSON such as ${AI_BOT}`);
  },
};

const EXTENSIONS_MAX = 50;

const fileExtensions: SettingType<readonly string[]> = {
  parse: (value) => {
    const extensions = value.split(",").map((extension) => extension.trim().toLowerCase());
    if (extensions.length > EXTENSIONS_MAX || !extensions.every((each) => /^\.[a-z0-9]{1,10}$/.test(each)))
      throw new Error("must be file extensions separated by commas, such as .docx,.md");
    return extensions;
  },
};

/** The value is the name of the HTTP header, in lower case. */
const cgiHeader = mapped(
  matching(
    /^HTTP_[A-Z0-9]{1,40}(?:_[A-Z0-9]{1,40}){0,20}$/,
    "HTTP_ and the name of a header in capitals, such as HTTP_X_ORIGINAL_URL",
  ),
  (value) => value.slice("HTTP_".length).replaceAll("_", "-").toLowerCase(),
);

const tokens: SettingType<readonly string[]> = mapped(secret, (value) => {
  const items = value.split(",").map((item) => item.trim());
  if (items.some((item) => /\s/.test(item)))
    throw new Error("must be tokens without spaces, separated by commas");
  return items.filter((item) => item !== "");
});

const NODE_ADDRESS = /^(?:[a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?|\[[0-9a-f:.]{2,45}\]):\d{1,5}$/i;

const isOrigin = (value: string): boolean => URL.parse(value)?.origin === value;
const origins = list(
  isOrigin,
  "origins without a path, separated by commas, such as https://docs.example.org",
);

/**
 * Further settings of the document service. All but the secrets may be set together in DOCUMENT_SETTINGS.
 * Seed: documents 2; reference 7.1.
 */
export const documentSettings = {
  PRIMARY_SDK_API_KEY: {
    type: secret,
    isSecret: true,
    description: "API key of an OpenAI-compatible provider, for AI functions in documents",
  },
  PRIMARY_SDK_BASE_URL: { type: shortUrl, description: "Base URL of this provider" },
  MISTRAL_SDK_API_KEY: {
    type: secret,
    isSecret: true,
    description: "API key of Mistral, for AI functions in documents; an alternative to PRIMARY_SDK_API_KEY",
  },
  MISTRAL_SDK_BASE_URL: { type: shortUrl, description: "Base URL of Mistral's API" },
  AI_MODEL: { type: shortText, description: "Model that AI functions in documents use" },
  AI_REQUEST_TIMEOUT: {
    type: integer(1, 290, "a number of seconds"),
    default: "60",
    description: "Seconds after which an AI function that has not finished fails",
  },
  AI_DOCUMENT_RATE_THROTTLE_RATES: {
    type: throttleRateList,
    default: "5/minute,100/hour,500/day",
    acceptsEmpty: true,
    description: "Rate limits for AI functions per document, all of which apply; empty or off for no limit",
  },
  AI_USER_RATE_THROTTLE_RATES: {
    type: throttleRateList,
    default: "3/minute,50/hour,200/day",
    acceptsEmpty: true,
    description:
      "Rate limits for AI functions per user, or per address if anonymous, all of which apply; empty or off for no limit",
  },
  AI_BOT: { type: bot, default: AI_BOT, description: "Name and color of the AI cursor, as JSON" },
  AI_FEATURE_ENABLED: {
    type: boolean,
    default: "false",
    description: "Whether clients show AI functions in documents",
  },
  AI_FEATURE_LEGACY_ENABLED: {
    type: boolean,
    default: "true",
    description: "Whether clients show the menu of AI actions, if AI_FEATURE_ENABLED is true",
  },
  AI_FEATURE_BLOCKNOTE_ENABLED: {
    type: boolean,
    default: "false",
    description: "Whether clients show the editor's own AI assistant, if AI_FEATURE_ENABLED is true",
  },
  API_USERS_SEARCH_QUERY_MIN_LENGTH: {
    type: integer(1, 254),
    default: "3",
    description: "Minimum length of a user search query",
  },
  COLLABORATION_BACKEND_BASE_URL: {
    type: shortUrl,
    description: "URL at which a separate collaboration server reaches this service",
  },
  COLLABORATION_NODE_ADDRESS: {
    type: matching(NODE_ADDRESS, "a host and a port, such as 10.0.1.7:4444"),
    documentedDefault: "the machine's first address and the port",
    description:
      "Address at which other processes of a separate collaboration server reach this one, such as 10.0.1.7:4444",
  },
  COLLABORATION_TRUSTED_PROXIES: {
    type: integer(0, 10),
    default: "0",
    description:
      "Number of proxies in front of a separate collaboration server; the last of them appends the client's address to X-Forwarded-For",
  },
  COLLABORATION_SERVER_ORIGIN: {
    type: origins,
    default: "",
    documentedDefault: "the origin of PUBLIC_URL and of the server itself",
    description:
      "Origins of pages that may connect to the collaboration server, separated by commas, such as https://docs.example.org",
  },
  COLLABORATION_WS_URL: {
    type: webSocketUrl,
    description: "URL at which clients reach the collaboration server",
  },
  COLLABORATION_WS_NOT_CONNECTED_READ_ONLY: {
    type: boolean,
    default: "false",
    description: "Whether only one of several editors may save while none is connected to it",
  },
  NO_WEBSOCKET_CACHE_TIMEOUT: {
    type: integer(1, 86_400),
    default: "120",
    description: "Seconds after a save during which no other session may save, if it is true",
  },
  COLLABORATION_API_URL: {
    type: shortUrl,
    description: "URL of the API of a separate collaboration server, such as https://…/collaboration/api/",
  },
  COLLABORATION_SERVER_SECRET: {
    type: secret,
    isSecret: true,
    description: "Secret of the collaboration server's API",
  },
  COLLABORATION_WS_INACTIVITY_TIMEOUT: {
    type: integer(1, 9_999_999_999),
    description: "Seconds for which the page of a document may be hidden before it disconnects",
  },
  Y_PROVIDER_API_KEY: {
    type: secret,
    isSecret: true,
    description: "API key of the collaboration server; its requests are not throttled",
  },
  CONVERSION_FILE_EXTENSIONS_ALLOWED: {
    type: fileExtensions,
    default: ".docx,.md",
    description:
      "Extensions of files that may be imported, of .docx, .html, .htm, .markdown, .md, .odt, .txt and .zip",
  },
  CONVERSION_FILE_MAX_SIZE: {
    type: integer(1, 1_073_741_824),
    default: "20971520",
    description: "Maximum size of an imported file, bytes",
  },
  CONVERSION_UPLOAD_ENABLED: {
    type: boolean,
    default: "false",
    description: "Whether files can be imported as documents",
  },
  DOCUMENT_IMAGE_MAX_SIZE: {
    type: integer(1, 104_857_600),
    default: "10485760",
    description: "Maximum size of an attachment, bytes",
  },
  DOCUMENT_ATTACHMENT_CHECK_UNSAFE_MIME_TYPES_ENABLED: {
    type: boolean,
    default: "true",
    description:
      "Whether attachments are marked as unsafe whose type is dangerous to open or not the one of their extension",
  },
  DOCUMENT_ATTACHMENTS_MAX_SIZE: {
    type: integer(1, 1_099_511_627_776),
    default: "1073741824",
    description: "Maximum size of all attachments that were uploaded to one document, bytes",
  },
  ATTACHMENTS_TOTAL_MAX_SIZE: {
    type: integer(1, 999_999_999_999_999),
    default: "107374182400",
    description: "Maximum size of all attachments of the installation, bytes",
  },
  DOCUMENT_ALL_ENDPOINT_ENABLED: {
    type: boolean,
    default: "true",
    description: "Whether GET documents/all/ is available",
  },
  ENVIRONMENT: {
    type: shortText,
    default: "production",
    description: "Name of this installation in the error reports of clients",
  },
  FRONTEND_THEME: { type: shortText, description: "Theme of the frontend" },
  FRONTEND_CSS_URL: { type: urlOrPath, description: "URL or path of an additional style sheet" },
  FRONTEND_JS_URL: { type: urlOrPath, description: "URL or path of an additional script" },
  FRONTEND_HOMEPAGE_FEATURE_ENABLED: {
    type: boolean,
    default: "true",
    description: "Whether anonymous users see a home page",
  },
  FRONTEND_SILENT_LOGIN_ENABLED: {
    type: boolean,
    default: "false",
    description: "Whether the frontend tries to sign in without a prompt",
  },
  THEME_CUSTOMIZATION_FILE_PATH: {
    type: shortText,
    isPath: true,
    description: "JSON file whose members replace those of the built-in theme, such as the footer",
  },
  THEME_CUSTOMIZATION_CACHE_TIMEOUT: {
    type: integer(0, 31_536_000),
    default: "86400",
    description: "Seconds for which the theme file is cached",
  },
  LANGUAGES: {
    type: languages,
    default: "en-us,English;fr-fr,Français;de-de,Deutsch;nl-nl,Nederlands;es-es,Español",
    description: "Languages of the frontend",
  },
  LANGUAGE_CODE: {
    type: matching(/^[\w-]{1,40}$/, "a language code"),
    default: "en-us",
    description: "Default language, one of LANGUAGES",
  },
  MEDIA_BASE_URL: {
    type: shortUrl,
    description: "URL at which clients reach attachments, if it is not this service",
  },
  MEDIA_AUTH_ORIGINAL_URL_HEADER: {
    type: cgiHeader,
    default: "HTTP_X_ORIGINAL_URL",
    description:
      "Header in which a gateway that requests authorization passes the original URL, as a CGI variable",
  },
  OIDC_RS_PRIVATE_KEY_STR: {
    type: secret,
    isSecret: true,
    description: "Private key (PEM or JWK) whose public key GET jwks returns",
  },
  OIDC_RS_ENCRYPTION_ALGO: {
    type: oneOf("RSA-OAEP", "RSA-OAEP-256", "ECDH-ES"),
    documentedDefault: "depends on the type of key",
    description: "Algorithm with which tokens are encrypted to this key",
  },
  ...loginSettings,
  ...resourceServerSettings,
  POSTHOG_KEY: { type: shortText, description: "PostHog API key of the frontend" },
  POSTHOG_HOST: { type: shortText, default: "https://eu.i.posthog.com", description: "PostHog host" },
  PUBLISH_AS_MIT: {
    type: boolean,
    default: "true",
    description:
      "Whether the installation contains only packages that an MIT license permits. false adds the editor's own writers and columns, which the operator installs; on AWS, the build decides",
  },
  REACTIONS_MAX_PER_COMMENT: {
    type: integer(1, 1000),
    default: "15",
    description: "Maximum number of distinct reactions to a comment",
  },
  SERVER_TO_SERVER_API_TOKENS: {
    type: tokens,
    default: "",
    isSecret: true,
    description:
      "Tokens of servers that may create documents on behalf of users, separated by commas; without a token none may",
  },
  SESSION_COOKIE_AGE: {
    type: integer(60, 31_536_000),
    default: "43200",
    description: "Seconds without a request after which a browser session ends",
  },
  SESSION_MAX_AGE: {
    type: integer(60, 31_536_000),
    default: "1209600",
    description: "Seconds after its login after which a browser session ends, even if it is used",
  },
  SENTRY_DSN: { type: shortText, description: "Sentry DSN to which the frontend reports errors" },
  API_DOCUMENT_THROTTLE_RATE: throttleSetting("API_DOCUMENT_THROTTLE_RATE", "documents"),
  API_DOCUMENT_UPDATES_THROTTLE_RATE: throttleSetting(
    "API_DOCUMENT_UPDATES_THROTTLE_RATE",
    "updates of documents",
  ),
  API_DOCUMENT_ACCESS_THROTTLE_RATE: throttleSetting("API_DOCUMENT_ACCESS_THROTTLE_RATE", "accesses"),
  API_INVITATION_THROTTLE_RATE: throttleSetting("API_INVITATION_THROTTLE_RATE", "invitations"),
  API_DOCUMENT_ASK_FOR_ACCESS_THROTTLE_RATE: throttleSetting(
    "API_DOCUMENT_ASK_FOR_ACCESS_THROTTLE_RATE",
    "access requests",
  ),
  API_CONFIG_THROTTLE_RATE: throttleSetting("API_CONFIG_THROTTLE_RATE", "the configuration"),
  API_USERS_LIST_THROTTLE_RATE_BURST: throttleSetting(
    "API_USERS_LIST_THROTTLE_RATE_BURST",
    "the user list, over a short period",
  ),
  API_USERS_LIST_THROTTLE_RATE_SUSTAINED: throttleSetting(
    "API_USERS_LIST_THROTTLE_RATE_SUSTAINED",
    "the user list, over a long period",
  ),
  LOGIN_THROTTLE_RATE: throttleSetting("LOGIN_THROTTLE_RATE", "begin or finish a login or logout"),
  FAILED_AUTHENTICATION_THROTTLE_RATE: {
    type: throttleRate,
    default: "300/minute",
    acceptsEmpty: true,
    description:
      "Rate limit for requests with an invalid token from one address, beyond which they get a 429; valid tokens are not limited. Empty or off for no limit",
  },
} satisfies Record<string, Setting>;

/** Former names, and names in other products. Seed: documents 2; reference 0.1, 0.2. */
export const RENAMED_SETTINGS: Readonly<Record<string, string>> = {
  AI_API_KEY: "PRIMARY_SDK_API_KEY",
  AI_BASE_URL: "PRIMARY_SDK_BASE_URL",
  OPENAI_SDK_API_KEY: "PRIMARY_SDK_API_KEY",
  OPENAI_SDK_BASE_URL: "PRIMARY_SDK_BASE_URL",
  COLLABORATION_WS_NOT_CONNECTED_READY_ONLY: "COLLABORATION_WS_NOT_CONNECTED_READ_ONLY",
  DJANGO_LANGUAGES: "LANGUAGES",
  DJANGO_LANGUAGE_CODE: "LANGUAGE_CODE",
  DJANGO_SERVER_TO_SERVER_API_TOKENS: "SERVER_TO_SERVER_API_TOKENS",
};
