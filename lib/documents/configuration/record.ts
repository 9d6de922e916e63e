import * as z from "zod";
import type { DocumentSettings } from "../../settings/document-config.ts";
import type { ThemeReader } from "./theme.ts";

const text = z.string().nullable();

/** Reference 1.14. */
export const configRecord = z
  .object({
    AI_BOT: z.object({ name: z.string(), color: z.string() }),
    AI_FEATURE_ENABLED: z.boolean(),
    AI_FEATURE_BLOCKNOTE_ENABLED: z.boolean(),
    AI_FEATURE_LEGACY_ENABLED: z.boolean(),
    API_USERS_SEARCH_QUERY_MIN_LENGTH: z.int(),
    COLLABORATION_WS_URL: text,
    COLLABORATION_WS_NOT_CONNECTED_READ_ONLY: z.boolean(),
    COLLABORATION_WS_INACTIVITY_TIMEOUT: z.int().nullable(),
    CONVERSION_FILE_EXTENSIONS_ALLOWED: z.array(z.string()).readonly(),
    CONVERSION_FILE_MAX_SIZE: z.int(),
    CONVERSION_UPLOAD_ENABLED: z.boolean(),
    ENVIRONMENT: z.string(),
    FRONTEND_CSS_URL: text,
    FRONTEND_HOMEPAGE_FEATURE_ENABLED: z.boolean(),
    FRONTEND_JS_URL: text,
    FRONTEND_SILENT_LOGIN_ENABLED: z.boolean(),
    FRONTEND_THEME: text,
    MEDIA_BASE_URL: text,
    POSTHOG_KEY: text,
    POSTHOG_HOST: z.string(),
    LANGUAGES: z
      .array(z.array(z.string()).length(2).readonly())
      .readonly()
      .meta({ description: "Code and name of each" }),
    LANGUAGE_CODE: z.string(),
    REACTIONS_MAX_PER_COMMENT: z.int(),
    SENTRY_DSN: text,
    TRASHBIN_CUTOFF_DAYS: z.int(),
    theme_customization: z.record(z.string(), z.unknown()).readonly(),
    RELEASE_VERSION: z.string(),
  })
  .meta({ id: "DocumentConfig" });

export interface ConfigDeps {
  readonly documents: DocumentSettings;
  readonly theme: ThemeReader;
}

/** Returns the public configuration. */
export async function shownConfig({ documents, theme }: ConfigDeps): Promise<z.infer<typeof configRecord>> {
  return { ...documents.clientSettings, theme_customization: await theme.current() };
}
