import type { Setting } from "./setting.ts";
import { throttleSettings } from "./throttle-rates.ts";

// Not schemas: so many of them would take a tenth of the time in which a server starts.

const TEXT_MAX = 2000;
const SECRET_MAX = 16_384;

function short(value: string | undefined, most = TEXT_MAX): string | undefined {
  if (value !== undefined && value.length > most) throw new Error(`must have at most ${most} characters`);
  return value;
}

const plain = (description: string, otherwise = ""): Setting<string | undefined> => ({
  ...{ description, default: otherwise },
  read: (value) => short(value),
});

const flag = (otherwise: boolean, description: string): Setting<boolean> => ({
  ...{ description, default: String(otherwise) },
  read: (value = String(otherwise)) => {
    if (["true", "1", "yes", "on"].includes(value.toLowerCase())) return true;
    if (["false", "0", "no", "off"].includes(value.toLowerCase())) return false;
    throw new Error("must be true or false");
  },
});

const whole = (otherwise: number, least: number, most: number, description: string): Setting<number> => ({
  ...{ description, default: String(otherwise) },
  read: (value = String(otherwise)) => {
    if (!/^\d{1,10}$/.test(value) || Number(value) < least || Number(value) > most)
      throw new Error(`must be a whole number from ${least} to ${most}`);
    return Number(value);
  },
});

/** A text of a form. */
const formed = (otherwise: string, description: string, form: RegExp, must: string): Setting<string> => ({
  ...{ description, default: otherwise },
  read: (value = otherwise) => {
    if (!form.test(value)) throw new Error(`must be ${must}`);
    return value;
  },
});

const HTTP = ["http", "https"] as const;

const address = (
  protocols: readonly string[],
  description: string,
  mayBePath = false,
): Setting<string | undefined> => ({
  ...{ description, default: "" },
  read: (value) => {
    if (value === undefined || (mayBePath && value.startsWith("/"))) return short(value);
    const url = value.length <= TEXT_MAX && URL.canParse(value) ? new URL(value) : undefined;
    if (url === undefined || !protocols.includes(url.protocol.slice(0, -1)) || url.username !== "") {
      const begins = protocols.map((each) => `${each}://`).join(" or ");
      throw new Error(`must be an address that begins with ${begins}${mayBePath ? ", or with /" : ""}`);
    }
    return value;
  },
});

const secret = (description: string): Setting<string | undefined> => ({
  ...{ description: `${description}; also from a file, by the same name with _FILE`, default: "" },
  read: (value) => short(value, SECRET_MAX),
});

const LANGUAGES = "en-us,English;fr-fr,Français;de-de,Deutsch;nl-nl,Nederlands;es-es,Español";
const LANGUAGE = /^[a-z]{2,3}(?:-[a-z0-9]{2,8})*,[^,;]{1,60}$/i;
const LANGUAGES_MAX = 100;

function readLanguages(value = LANGUAGES): readonly (readonly [code: string, name: string])[] {
  const list = value.split(";").map((each) => each.trim());
  if (list.length > LANGUAGES_MAX || !list.every((each) => LANGUAGE.test(each)))
    throw new Error("must be languages as code,Name with ; between, such as en-us,English;fr-fr,Français");
  return list.map((each) => each.split(",", 2) as [code: string, name: string]);
}

const AI_BOT = '{"name":"Weft AI","color":"#8bc6ff"}';
const COLOR = /^#[0-9a-f]{6}$/i;
const BOT_NAME_MAX = 100;

function readBot(value = AI_BOT): { readonly name: string; readonly color: string } {
  try {
    const { name, color, ...others } = JSON.parse(value) as Record<string, unknown>;
    if (typeof name === "string" && name !== "" && name.length <= BOT_NAME_MAX)
      if (typeof color === "string" && COLOR.test(color) && Object.keys(others).length === 0)
        return { name, color };
  } catch {
    // Told below, as all that is none.
  }
  throw new Error(`must be JSON such as ${AI_BOT}`);
}

const EXTENSIONS = ".docx,.md";
const EXTENSIONS_MAX = 50;

function readExtensions(value = EXTENSIONS): readonly string[] {
  const list = value.split(",").map((each) => each.trim().toLowerCase());
  if (list.length > EXTENSIONS_MAX || !list.every((each) => /^\.[a-z0-9]{1,10}$/.test(each)))
    throw new Error("must be endings of files with , between, such as .docx,.md");
  return list;
}

const ALGORITHMS = ["RSA-OAEP", "RSA-OAEP-256", "ECDH-ES"];
const ORIGINAL_URL = "HTTP_X_ORIGINAL_URL";
const POSTHOG = "https://eu.i.posthog.com";

/** What is never shown, and what a file may hold. */
export const DOCUMENT_SECRETS = [
  "PRIMARY_SDK_API_KEY",
  "MISTRAL_SDK_API_KEY",
  "Y_PROVIDER_API_KEY",
  "OIDC_RS_PRIVATE_KEY_STR",
  "SERVER_TO_SERVER_API_TOKENS",
] as const;

/** Settings of the document service, further rows of the table of settings. Empty is not set. Seed: documents 2; reference 7.1. */
export const documentSettings = {
  PRIMARY_SDK_API_KEY: secret(
    "Key for language models of documents, by the protocol that most providers speak",
  ),
  PRIMARY_SDK_BASE_URL: address(HTTP, "Address of their API"),
  MISTRAL_SDK_API_KEY: secret(
    "Key for language models of documents at Mistral, in place of PRIMARY_SDK_API_KEY",
  ),
  MISTRAL_SDK_BASE_URL: address(HTTP, "Address of their API"),
  AI_MODEL: plain("Model that documents use"),
  AI_BOT: {
    ...{ description: "Name and colour of a language model's cursor, JSON", default: AI_BOT },
    read: readBot,
  },
  AI_FEATURE_ENABLED: flag(false, "Whether clients show what language models do in documents"),
  AI_FEATURE_LEGACY_ENABLED: flag(true, "Whether they show the menu of actions, where AI_FEATURE_ENABLED"),
  AI_FEATURE_BLOCKNOTE_ENABLED: flag(false, "Whether they show the editor's own assistant, likewise"),
  API_USERS_SEARCH_QUERY_MIN_LENGTH: whole(3, 1, 254, "Shortest text that users are looked for by"),
  COLLABORATION_BACKEND_BASE_URL: address(
    HTTP,
    "Where a collaboration server of its own reaches this service",
  ),
  COLLABORATION_WS_URL: address(["ws", "wss"], "Where clients reach the collaboration server"),
  COLLABORATION_WS_NOT_CONNECTED_READ_ONLY: flag(
    false,
    "Whether one of several editors alone may save while none of them reaches it",
  ),
  COLLABORATION_WS_INACTIVITY_TIMEOUT: {
    ...{ description: "Time without a change after which clients leave it", default: "" },
    read: (value: string | undefined): number | null => {
      if (value === undefined) return null;
      if (!/^[1-9]\d{0,9}$/.test(value)) throw new Error("must be a whole number of at least 1");
      return Number(value);
    },
  },
  Y_PROVIDER_API_KEY: secret("What the collaboration server calls with; such calls are not throttled"),
  CONVERSION_FILE_EXTENSIONS_ALLOWED: {
    ...{ description: "Files that clients offer to import", default: EXTENSIONS },
    read: readExtensions,
  },
  CONVERSION_FILE_MAX_SIZE: whole(20_971_520, 1, 1_073_741_824, "Largest such file, bytes"),
  CONVERSION_UPLOAD_ENABLED: flag(false, "Whether clients offer to import files"),
  DOCUMENT_ALL_ENDPOINT_ENABLED: flag(true, "Whether GET documents/all/ is there"),
  ENVIRONMENT: plain("What clients call this installation in their reports", "production"),
  FRONTEND_THEME: plain("Theme of the browser's side"),
  FRONTEND_CSS_URL: address(HTTP, "Style sheet that it loads besides its own", true),
  FRONTEND_JS_URL: address(HTTP, "Script that it loads besides its own", true),
  FRONTEND_HOMEPAGE_FEATURE_ENABLED: flag(true, "Whether those who are not signed in see a home page"),
  FRONTEND_SILENT_LOGIN_ENABLED: flag(false, "Whether it tries to sign in without asking"),
  THEME_CUSTOMIZATION_FILE_PATH: plain(
    "JSON file whose parts take the place of the built-in theme: the footer and more",
  ),
  THEME_CUSTOMIZATION_CACHE_TIMEOUT: whole(86_400, 0, 31_536_000, "Seconds before it is read again"),
  LANGUAGES: {
    ...{ description: "Languages of the browser's side", default: LANGUAGES },
    read: readLanguages,
  },
  LANGUAGE_CODE: formed(
    "en-us",
    "The one of them that is used first",
    /^[\w-]{1,40}$/,
    "the code of a language",
  ),
  MEDIA_BASE_URL: address(HTTP, "Where clients reach attachments, if not here"),
  MEDIA_AUTH_ORIGINAL_URL_HEADER: formed(
    ORIGINAL_URL,
    "Header in which a gateway that asks for leave names what it was asked for, as CGI writes it",
    /^HTTP_[A-Z0-9]{1,40}(?:_[A-Z0-9]{1,40}){0,20}$/,
    `HTTP_ and a header's name in capitals, such as ${ORIGINAL_URL}`,
  ),
  OIDC_RS_PRIVATE_KEY_STR: secret("Private key, PEM or JWK, whose public half is at GET jwks"),
  OIDC_RS_ENCRYPTION_ALGO: {
    ...{ description: "How tokens are encrypted to it", default: "by the kind of key" },
    read: (value: string | undefined): string | undefined => {
      if (value !== undefined && !ALGORITHMS.includes(value))
        throw new Error(`must be one of ${ALGORITHMS.join(", ")}`);
      return value;
    },
  },
  POSTHOG_KEY: plain("Key of the browser's side at PostHog"),
  POSTHOG_HOST: {
    ...{ description: "Which PostHog", default: POSTHOG },
    read: (value: string | undefined): string => short(value) ?? POSTHOG,
  },
  PUBLISH_AS_MIT: flag(true, "Leaves out parts whose licence does not go with MIT's; there are none so far"),
  REACTIONS_MAX_PER_COMMENT: whole(15, 1, 1000, "Distinct reactions to a comment"),
  SERVER_TO_SERVER_API_TOKENS: secret(
    "Tokens of servers that make documents for people, by commas; none without them",
  ),
  SENTRY_DSN: plain("Where the browser's side reports its faults"),
  DOCUMENT_SETTINGS: plain("Any of these settings but secrets, together: JSON, an object of texts"),
  ...throttleSettings,
} as const;
