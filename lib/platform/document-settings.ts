import * as z from "zod";
import { onOff, optionalText, text } from "./setting-kinds.ts";
import { throttleSettings } from "./throttle-rates.ts";

const TEXT_MAX = 2000;

const plain = (description: string, otherwise = "") =>
  optionalText
    .refine(
      (value) => value === undefined || value.length <= TEXT_MAX,
      `must have at most ${TEXT_MAX} characters`,
    )
    .meta({ description, default: otherwise });

const flag = (otherwise: boolean, description: string) =>
  onOff.transform((value) => value ?? otherwise).meta({ description, default: String(otherwise) });

const whole = (otherwise: number, least: number, most: number, description: string) =>
  text(String(otherwise))
    .refine(
      (value) => /^\d{1,10}$/.test(value) && Number(value) >= least && Number(value) <= most,
      `must be a whole number from ${least} to ${most}`,
    )
    .transform(Number)
    .meta({ description, default: String(otherwise) });

const address = (protocols: readonly string[], description: string, mayBePath = false) =>
  optionalText
    .refine(
      (value) => {
        if (value === undefined || (mayBePath && value.startsWith("/")))
          return value === undefined || value.length <= TEXT_MAX;
        const url = value.length <= TEXT_MAX && URL.canParse(value) ? new URL(value) : undefined;
        return url !== undefined && protocols.includes(url.protocol.slice(0, -1)) && url.username === "";
      },
      `must be an address that begins with ${protocols.map((each) => `${each}://`).join(" or ")}${mayBePath ? ", or with /" : ""}`,
    )
    .meta({ description, default: "" });

const HTTP = ["http", "https"] as const;

const secret = (description: string) =>
  optionalText
    .refine((value) => value === undefined || value.length <= 16_384, "must have at most 16384 characters")
    .meta({ description: `${description}; also from a file, by the same name with _FILE`, default: "" });

const LANGUAGES = "en-us,English;fr-fr,Français;de-de,Deutsch;nl-nl,Nederlands;es-es,Español";
const LANGUAGE = /^[a-z]{2,3}(?:-[a-z0-9]{2,8})*,[^,;]{1,60}$/i;
const LANGUAGES_MAX = 100;

const languages = text(LANGUAGES)
  .transform((value) => value.split(";").map((each) => each.trim()))
  .refine(
    (list) => list.length <= LANGUAGES_MAX && list.every((each) => LANGUAGE.test(each)),
    "must be languages as code,Name with ; between, such as en-us,English;fr-fr,Français",
  )
  .transform((list) => list.map((each) => each.split(",", 2) as [code: string, name: string]));

const AI_BOT = '{"name":"Weft AI","color":"#8bc6ff"}';
const bot = z.strictObject({
  name: z.string().min(1).max(100),
  color: z.string().regex(/^#[0-9a-f]{6}$/i),
});

const aiBot = text(AI_BOT).transform((value, context) => {
  try {
    return bot.parse(JSON.parse(value));
  } catch {
    context.addIssue({ code: "custom", message: `must be JSON such as ${AI_BOT}` });
    return z.NEVER;
  }
});

const extensions = text(".docx,.md")
  .transform((value) => value.split(",").map((each) => each.trim().toLowerCase()))
  .refine(
    (list) => list.length <= 50 && list.every((each) => /^\.[a-z0-9]{1,10}$/.test(each)),
    "must be endings of files with , between, such as .docx,.md",
  );

/** What is never shown, and what a file may hold. */
export const DOCUMENT_SECRETS = [
  "PRIMARY_SDK_API_KEY",
  "MISTRAL_SDK_API_KEY",
  "Y_PROVIDER_API_KEY",
  "OIDC_RS_PRIVATE_KEY_STR",
] as const;

/** Settings of the document service, further rows of the table of settings. Seed: documents 2; reference 7.1. */
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
  AI_BOT: aiBot.meta({ description: "Name and colour of a language model's cursor, JSON", default: AI_BOT }),
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
  COLLABORATION_WS_INACTIVITY_TIMEOUT: optionalText
    .refine(
      (value) => value === undefined || /^[1-9]\d{0,9}$/.test(value),
      "must be a whole number of at least 1",
    )
    .transform((value) => (value === undefined ? null : Number(value)))
    .meta({ description: "Time without a change after which clients leave it", default: "" }),
  Y_PROVIDER_API_KEY: secret("What the collaboration server calls with; such calls are not throttled"),
  CONVERSION_FILE_EXTENSIONS_ALLOWED: extensions.meta({
    description: "Files that clients offer to import",
    default: ".docx,.md",
  }),
  CONVERSION_FILE_MAX_SIZE: whole(20_971_520, 1, 1_073_741_824, "Largest such file, bytes"),
  CONVERSION_UPLOAD_ENABLED: flag(false, "Whether clients offer to import files"),
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
  LANGUAGES: languages.meta({ description: "Languages of the browser's side", default: LANGUAGES }),
  LANGUAGE_CODE: text("en-us").meta({ description: "The one of them that is used first", default: "en-us" }),
  MEDIA_BASE_URL: address(HTTP, "Where clients reach attachments, if not here"),
  MEDIA_AUTH_ORIGINAL_URL_HEADER: text("HTTP_X_ORIGINAL_URL")
    .refine(
      (value) => /^HTTP_[A-Z0-9]+(?:_[A-Z0-9]+){0,20}$/.test(value) && value.length <= 100,
      "must be HTTP_ and a header's name in capitals, such as HTTP_X_ORIGINAL_URL",
    )
    .meta({
      description:
        "Header in which a gateway that asks for leave names what it was asked for, as CGI writes it",
      default: "HTTP_X_ORIGINAL_URL",
    }),
  OIDC_RS_PRIVATE_KEY_STR: secret("Private key, PEM or JWK, whose public half is at GET jwks"),
  OIDC_RS_ENCRYPTION_ALGO: z
    .enum(["", "RSA-OAEP", "RSA-OAEP-256", "ECDH-ES"], "must be RSA-OAEP, RSA-OAEP-256 or ECDH-ES")
    .optional()
    .transform((value) => value || undefined)
    .meta({ description: "How tokens are encrypted to it", default: "by the kind of key" }),
  POSTHOG_KEY: plain("Key of the browser's side at PostHog"),
  POSTHOG_HOST: text("https://eu.i.posthog.com").meta({
    description: "Which PostHog",
    default: "https://eu.i.posthog.com",
  }),
  PUBLISH_AS_MIT: flag(true, "Leaves out parts whose licence does not go with MIT's; there are none so far"),
  REACTIONS_MAX_PER_COMMENT: whole(15, 1, 1000, "Distinct reactions to a comment"),
  SENTRY_DSN: plain("Where the browser's side reports its faults"),
  DOCUMENT_SETTINGS: plain("Any of these settings but secrets, together: JSON, an object of texts"),
  ...throttleSettings,
} as const;
