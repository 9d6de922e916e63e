import type { Letterhead } from "../mail/mail.ts";
import type { SmtpSettings } from "../mail/smtp.ts";
import { type DocumentSettings, toDocumentSettings } from "./document-config.ts";
import { type EffectiveSetting, effectiveSettings } from "./effective-settings.ts";
import { type LlmSettings, toLlmSettings } from "./llm.ts";
import { type OidcSettings, toOidcSettings } from "./oidc.ts";
import { type Environment, readSettings } from "./read.ts";
import type { SettingValues } from "./settings.ts";

export interface Config {
  readonly platform: Platform;
  readonly stack: string;
  readonly port: number;
  readonly host: string;
  /** Without a trailing slash. */
  readonly publicUrl: string | undefined;
  readonly allowedHosts: readonly string[];
  readonly dataDir: string;
  readonly accessToken: string | undefined;
  readonly worker: boolean;
  readonly functionFolders: readonly string[];
  readonly schedulerEnabled: boolean;
  readonly receiverEnabled: boolean;
  readonly undefinedNames: "empty" | "fail";
  readonly network: NetworkPolicy;
  readonly llm: LlmSettings;
  readonly remote: RemoteConfig;
  readonly triggerFiresPerMinute: number;
  readonly runsPerRootCauseMax: number;
  readonly recordHighWaterMarks: boolean;
  readonly watchRoots: readonly string[];
  readonly maxConcurrentRuns: number;
  readonly maxConcurrentSteps: number;
  readonly retention: Retention;
  readonly documents: DocumentSettings;
  /** Undefined if no tokens of an identity provider are accepted. */
  readonly oidc: OidcSettings | undefined;
  readonly mail: MailSettings;
  /** All settings for operators, without secrets. */
  readonly effectiveSettings: () => EffectiveSetting[];
}

export type Platform = SettingValues["WEFT_PLATFORM"];

/** Addresses that requests of steps may reach. Link-local and metadata addresses are always denied. */
export interface NetworkPolicy {
  readonly privateAddresses: "allow" | "deny";
  /** Denied in Lambda, whose runtime API listens on loopback. */
  readonly loopback: "as private" | "deny";
}

/** Containers and hosts of remote-bash steps; undefined if not set. */
export interface RemoteConfig {
  readonly dockerHost: string | undefined;
  readonly volumeRoots: readonly string[];
  readonly hostNetwork: boolean;
  readonly keysDir: string | undefined;
  readonly knownHostsPath: string | undefined;
}

/** Ages at which records are deleted; undefined keeps them. */
export interface Retention {
  readonly eventsMs: number | undefined;
  readonly runsMs: number | undefined;
}

export interface MailSettings {
  /** Undefined if mails are written to a folder or not sent. */
  readonly smtp: SmtpSettings | undefined;
  readonly from: string;
  readonly letterhead: Letterhead;
}

/** Reads the settings. Throws an Error that names each invalid setting and says what to change. */
export function readConfig(environment: Environment): Config {
  const values = readSettings(environment);
  if (!values.WEFT_WORKER && values.WEFT_PLATFORM === "embedded")
    throw new Error(
      "WEFT_WORKER: must be true if WEFT_PLATFORM is embedded, because workers cannot reach its data folder",
    );
  return {
    platform: values.WEFT_PLATFORM,
    stack: values.WEFT_STACK,
    port: values.PORT,
    host: values.HOST,
    publicUrl: values.PUBLIC_URL,
    allowedHosts: values.DJANGO_ALLOWED_HOSTS,
    dataDir: values.WEFT_DATA_DIR,
    accessToken: values.WEFT_ACCESS_TOKEN,
    worker: values.WEFT_WORKER,
    functionFolders: values.FUNCTION_FOLDERS,
    schedulerEnabled: values.SCHEDULER_ENABLED,
    receiverEnabled: values.EVENT_RECEIVER_ENABLED ?? values.SCHEDULER_ENABLED,
    undefinedNames: values.UNDEFINED_NAMES,
    network: {
      privateAddresses:
        values.HTTP_STEP_PRIVATE_ADDRESSES ?? (values.WEFT_PLATFORM === "aws" ? "deny" : "allow"),
      loopback: "as private",
    },
    llm: toLlmSettings(values),
    remote: {
      dockerHost: values.DOCKER_HOST,
      volumeRoots: values.REMOTE_VOLUME_ROOTS,
      hostNetwork: values.REMOTE_HOST_NETWORK,
      keysDir: values.REMOTE_KEYS_DIR,
      knownHostsPath: values.SSH_KNOWN_HOSTS,
    },
    triggerFiresPerMinute: values.TRIGGER_FIRES_PER_MINUTE,
    runsPerRootCauseMax: values.RUNS_PER_ROOT_CAUSE_MAX,
    recordHighWaterMarks: values.RECORD_HIGH_WATER_MARKS,
    watchRoots: values.WATCH_ROOTS,
    maxConcurrentRuns: values.RUNS_CONCURRENCY_MAX,
    maxConcurrentSteps: values.STEPS_CONCURRENCY_MAX,
    retention: { eventsMs: values.EVENT_LOG_RETENTION, runsMs: values.RUN_RETENTION },
    documents: toDocumentSettings(values),
    oidc: toOidcSettings(values),
    mail: toMailSettings(values),
    effectiveSettings: () => effectiveSettings(environment),
  };
}

function toMailSettings(values: SettingValues): MailSettings {
  const { DJANGO_EMAIL_HOST: host, DJANGO_EMAIL_USE_TLS: startTls, DJANGO_EMAIL_USE_SSL: tls } = values;
  if (startTls && tls)
    throw new Error("DJANGO_EMAIL_USE_TLS, DJANGO_EMAIL_USE_SSL: set one of them to false");
  const smtp = {
    port: values.DJANGO_EMAIL_PORT,
    user: values.DJANGO_EMAIL_HOST_USER,
    password: values.DJANGO_EMAIL_HOST_PASSWORD,
    security: tls ? "tls" : startTls ? "starttls" : "none",
  } as const;
  const appUrl = values.DJANGO_EMAIL_URL_APP ?? values.PUBLIC_URL ?? `http://${values.HOST}:${values.PORT}`;
  return {
    smtp: host === undefined ? undefined : { host, ...smtp },
    from: values.DJANGO_EMAIL_FROM,
    letterhead: {
      brandName: values.DJANGO_EMAIL_BRAND_NAME,
      logoUrl: values.DJANGO_EMAIL_LOGO_IMG,
      appUrl: appUrl.replace(/\/+$/, ""),
    },
  };
}
