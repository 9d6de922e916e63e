import * as z from "zod";
import { count, folders, onOff, optionalText, retention, text } from "./config-values.ts";
import { type DocumentSettingsRead, documentEnvironment, readDocumentSettings } from "./document-config.ts";
import { type LlmSettings, llmAllowedHosts, llmBaseUrl, llmProviders, llmSettings } from "./llm-settings.ts";
import { type MailSettings, mailSettings, mailSettingsShape } from "./mail-settings.ts";
import { type OidcSettings, oidcRows, oidcSettings } from "./oidc-settings.ts";
import { triggerSettingsShape } from "./trigger-settings.ts";

const EMAIL = /^[^\s@]{1,64}@[^\s@]{1,255}$/;
/** `*`, a host name, an address, or a domain with a dot before it. */
const ALLOWED_HOST = /^(?:\*|\.?[a-z0-9_](?:[a-z0-9_.-]{0,252}[a-z0-9_])?|\[[0-9a-f:.]{2,45}\])$/i;

function isPublicUrl(value: string): boolean {
  const url = value.length <= 2000 ? URL.parse(value) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return false;
  return url.username === "" && url.password === "" && url.search === "" && url.hash === "";
}

const RUNS_AT_ONCE = 100;
const STEPS_AT_ONCE = 256;
const USERS_LIST_LIMIT = 5;

/** The settings, one row each, over the environment; those of documents are rows of `documentSettings`. From here come the template's environment and the table of `docs/settings.md`. */
export const settings = z.object({
  PORT: text("3000")
    .refine((value) => /^\d{1,5}$/.test(value) && Number(value) <= 65_535, "must be a port, 0 to 65535")
    .transform(Number)
    .meta({ description: "Port of the gateway; 0 takes any free one", default: "3000" }),
  HOST: text("127.0.0.1").meta({ description: "Address that the gateway listens on", default: "127.0.0.1" }),
  PUBLIC_URL: optionalText
    .refine(
      (value) => value === undefined || isPublicUrl(value),
      "must be an address that begins with http:// or https://, without a query",
    )
    .transform((value) => value?.replace(/\/+$/, ""))
    .meta({
      description: "Address at which clients reach the service; links in responses and mails begin with it",
      default: "the host of the request",
    }),
  DJANGO_ALLOWED_HOSTS: text("")
    .transform((value) =>
      value
        .split(",")
        .map((host) => host.trim())
        .filter((host) => host !== ""),
    )
    .refine(
      (hosts) => hosts.every((host) => ALLOWED_HOST.test(host)),
      "must be host names without ports, with commas between, such as docs.example.org,.example.net, or *",
    )
    .meta({
      description:
        "Further hosts that the gateway accepts in the Host header, with commas between; `.example.org` includes subdomains, `*` accepts any. Loopback names, HOST and the host of PUBLIC_URL are accepted anyway",
      default: "",
    }),
  WEFT_DATA_DIR: text("./.weft").meta({
    description: "The one folder that everything lies in",
    default: "./.weft",
  }),
  WEFT_ACCESS_TOKEN: z
    .string()
    .optional()
    .transform((value) => (value === "" ? undefined : value))
    .refine((value) => value === undefined || value.length >= 16, "must have at least 16 characters")
    .meta({
      description: "Access token of the owner; without it one is made at the first start",
      default: "",
    }),
  WEFT_PLATFORM: text("embedded")
    .refine((value): value is Platform => value === "embedded" || value === "aws", "must be embedded or aws")
    .meta({
      description:
        "Where tables, queues, bus and blobs are: in the data folder, or at AWS (or AWS_ENDPOINT_URL)",
      default: "embedded",
    }),
  WEFT_STACK: text("weft")
    .refine((value) => /^[A-Za-z][A-Za-z0-9-]{0,63}$/.test(value), "must be the name of a stack")
    .meta({
      description: "Name of the stack whose resources are used, on the platform aws",
      default: "weft",
    }),
  WEFT_WORKER: onOff.meta({
    description:
      "Whether this server also executes steps that touch files; false leaves them to `weft worker`",
    default: "true",
  }),
  FUNCTION_FOLDERS: folders.meta({
    description:
      "Folders that functions of scripts may use besides the workspaces and the temporary folder, with colons between; / allows all",
    default: "",
  }),
  SCHEDULER_ENABLED: onOff.meta({ description: "Whether schedules fire", default: "true" }),
  RUNS_CONCURRENCY_MAX: count(RUNS_AT_ONCE, 10_000).meta({
    description: "Runs that go at once; further ones wait, `pending`, for their turn by priority, then age",
    default: String(RUNS_AT_ONCE),
  }),
  STEPS_CONCURRENCY_MAX: count(STEPS_AT_ONCE, 10_000).meta({
    description: "Steps that this server or worker executes at once; further ones wait in their queues",
    default: String(STEPS_AT_ONCE),
  }),
  EVENT_LOG_RETENTION: retention.meta({
    description: "Age at which records of the event log are removed: `12h`, `30d`, `8w`; off keeps them",
    default: "off",
  }),
  RUN_RETENTION: retention.meta({
    description:
      "Time after their end at which runs are removed, with their steps, logs and artifacts; off keeps them",
    default: "off",
  }),
  EVENT_RECEIVER_ENABLED: onOff.meta({
    description: "Whether events trigger workflows",
    default: "as SCHEDULER_ENABLED",
  }),
  HTTP_STEP_PRIVATE_ADDRESSES: z
    .enum(["", "allow", "deny"], "must be allow or deny")
    .optional()
    .transform((value) => (value === "" ? undefined : value))
    .meta({
      description:
        "Whether http and llm steps may reach private addresses; metadata addresses are never reached",
      default: "allow; deny on the platform aws",
    }),
  LLM_BASE_URL: z
    .preprocess((value) => (value === "" ? undefined : value), llmBaseUrl.optional())
    .meta({ description: "API of the first provider of llm steps, such as https://host/v1", default: "" }),
  LLM_API_KEY: z
    .string()
    .optional()
    .transform((value) => (value === "" ? undefined : value))
    .meta({ description: "Its key; without it the secret of this name, if there is one", default: "" }),
  LLM_MODEL: z
    .string()
    .optional()
    .transform((value) => (value === "" ? undefined : value))
    .meta({ description: "Model of llm steps that name none", default: "" }),
  LLM_PROVIDERS: llmProviders.meta({
    description:
      "Further providers, tried in order: JSON, a list of {name, base_url, api_key or api_key_secret, model}",
    default: "",
  }),
  LLM_ALLOWED_HOSTS: llmAllowedHosts.meta({
    description: "Hosts (host or host:port) that llm_config.base_url of a step may name, by commas",
    default: "",
  }),
  DOCKER_HOST: optionalText.meta({
    description: "The Docker engine of remote-bash steps: unix:///path or tcp://host:port",
    default: "the usual socket",
  }),
  REMOTE_VOLUME_ROOTS: folders.meta({
    description:
      "Folders that containers of steps may see besides the run's workspace, absolute, `:` between",
    default: "",
  }),
  REMOTE_HOST_NETWORK: onOff.meta({
    description: "Whether containers of steps may share this machine's network (`network: host`)",
    default: "false",
  }),
  REMOTE_KEYS_DIR: optionalText.meta({
    description: "The folder that key_file of remote-bash steps names files in",
    default: "keys in the data folder",
  }),
  SSH_KNOWN_HOSTS: optionalText.meta({
    description: "The hosts that remote-bash steps may log in on, with their keys, as OpenSSH keeps them",
    default: "~/.ssh/known_hosts",
  }),
  UNDEFINED_NAMES: text("empty")
    .refine(
      (value): value is "empty" | "fail" => value === "empty" || value === "fail",
      "must be empty or fail",
    )
    .meta({
      description:
        "What a name without a value does in a workflow's templates: it is empty, with a warning in the run's log, or the step fails, as `undefined: fail` in a workflow has it",
      default: "empty",
    }),
  ...triggerSettingsShape,
  WEFT_OWNER_EMAIL: text("owner@weft.local")
    .refine((value) => EMAIL.test(value), "must be an e-mail address")
    .meta({
      description: "Address of the user of the documents whom WEFT_ACCESS_TOKEN belongs to",
      default: "owner@weft.local",
    }),
  AI_ALLOW_REACH_FROM: z
    .enum(["", "public", "authenticated", "restricted"], "must be public, authenticated or restricted")
    .optional()
    .transform((value) => value || "authenticated")
    .meta({
      description:
        "Who keeps the functions of language models in documents: whoever may edit, whoever of them has signed in, or members alone",
      default: "authenticated",
    }),
  TRASHBIN_CUTOFF_DAYS: text("30")
    .refine((value) => /^\d{1,5}$/.test(value), "must be a whole number of days")
    .transform(Number)
    .meta({ description: "Days after which a deleted document cannot be brought back", default: "30" }),
  API_USERS_LIST_LIMIT: count(USERS_LIST_LIMIT, 100).meta({
    description: "Users that a search for users answers at most",
    default: String(USERS_LIST_LIMIT),
  }),
  ...oidcRows,
  ...mailSettingsShape,
  WORKFLOW_DOCUMENTS_USER: text("")
    .refine((value) => value === "" || EMAIL.test(value), "must be an e-mail address")
    .meta({
      description:
        "Address of the user as whom scripts of workflows work on documents; the owner where it is empty",
      default: "",
    }),
});

/** For containers and hosts of remote-bash steps, as far as they are set. */
export interface RemoteConfig {
  readonly dockerHost: string | undefined;
  readonly volumeRoots: readonly string[];
  readonly hostNetwork: boolean;
  readonly keysDir: string | undefined;
  readonly knownHostsPath: string | undefined;
}

export type Platform = "embedded" | "aws";

/** Ages at which records are removed, milliseconds; undefined keeps them. */
export interface Retention {
  readonly eventsMs: number | undefined;
  readonly runsMs: number | undefined;
}

export interface Config {
  readonly platform: Platform;
  readonly stack: string;
  readonly port: number;
  readonly host: string;
  /** Without a slash at the end. */
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
  readonly watchRoots: readonly string[];
  readonly runsAtOnce: number;
  readonly stepsAtOnce: number;
  readonly retention: Retention;
  readonly documents: DocumentsConfig;
  /** Undefined where no tokens of an issuer are taken. */
  readonly oidc: OidcSettings | undefined;
  readonly mail: MailSettings;
}

export interface DocumentsConfig extends DocumentSettingsRead {
  readonly ownerEmail: string;
  readonly aiAllowReachFrom: "public" | "authenticated" | "restricted";
  readonly trashbinCutoffDays: number;
  readonly usersListLimit: number;
  readonly workflowsEmail: string;
  readonly fallbackToEmail: boolean;
  readonly allowDuplicateEmails: boolean;
}

/** Which addresses requests of steps may reach. Link-local and metadata addresses never. */
export interface NetworkPolicy {
  readonly privateAddresses: "allow" | "deny";
  /** Apart from other private ones: in a function of Lambda its own runtime listens there. */
  readonly loopback: "as private" | "deny";
}

/** The one setting that a worker has in common with a server. Throws an Error that names it. */
export function readStepsAtOnce(environment: Readonly<Record<string, string | undefined>>): number {
  const parsed = settings.shape.STEPS_CONCURRENCY_MAX.safeParse(environment["STEPS_CONCURRENCY_MAX"]);
  if (!parsed.success) throw new Error(`STEPS_CONCURRENCY_MAX: ${parsed.error.issues[0]?.message}`);
  return parsed.data;
}

/** Reads the settings. Throws an Error that names each one that is wrong. */
export function readConfig(given: Readonly<Record<string, string | undefined>>): Config {
  const environment = documentEnvironment(given);
  const parsed = settings.safeParse(environment);
  if (!parsed.success) {
    throw new Error(
      parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`).join("; "),
    );
  }
  const scheduler = parsed.data.SCHEDULER_ENABLED ?? true;
  const worker = parsed.data.WEFT_WORKER ?? true;
  if (!worker && parsed.data.WEFT_PLATFORM === "embedded")
    throw new Error("WEFT_WORKER: must be true on the embedded platform, which workers cannot reach");
  return {
    platform: parsed.data.WEFT_PLATFORM,
    stack: parsed.data.WEFT_STACK,
    port: parsed.data.PORT,
    host: parsed.data.HOST,
    publicUrl: parsed.data.PUBLIC_URL,
    allowedHosts: parsed.data.DJANGO_ALLOWED_HOSTS,
    dataDir: parsed.data.WEFT_DATA_DIR,
    accessToken: parsed.data.WEFT_ACCESS_TOKEN,
    worker,
    functionFolders: parsed.data.FUNCTION_FOLDERS,
    schedulerEnabled: scheduler,
    receiverEnabled: parsed.data.EVENT_RECEIVER_ENABLED ?? scheduler,
    undefinedNames: parsed.data.UNDEFINED_NAMES,
    network: {
      privateAddresses:
        parsed.data.HTTP_STEP_PRIVATE_ADDRESSES ?? (parsed.data.WEFT_PLATFORM === "aws" ? "deny" : "allow"),
      loopback: "as private",
    },
    llm: llmSettings(parsed.data),
    remote: {
      dockerHost: parsed.data.DOCKER_HOST,
      volumeRoots: parsed.data.REMOTE_VOLUME_ROOTS,
      hostNetwork: parsed.data.REMOTE_HOST_NETWORK ?? false,
      keysDir: parsed.data.REMOTE_KEYS_DIR,
      knownHostsPath: parsed.data.SSH_KNOWN_HOSTS,
    },
    triggerFiresPerMinute: parsed.data.TRIGGER_FIRES_PER_MINUTE,
    runsPerRootCauseMax: parsed.data.RUNS_PER_ROOT_CAUSE_MAX,
    watchRoots: parsed.data.WATCH_ROOTS,
    runsAtOnce: parsed.data.RUNS_CONCURRENCY_MAX,
    stepsAtOnce: parsed.data.STEPS_CONCURRENCY_MAX,
    retention: { eventsMs: parsed.data.EVENT_LOG_RETENTION, runsMs: parsed.data.RUN_RETENTION },
    documents: {
      ownerEmail: parsed.data.WEFT_OWNER_EMAIL,
      aiAllowReachFrom: parsed.data.AI_ALLOW_REACH_FROM,
      trashbinCutoffDays: parsed.data.TRASHBIN_CUTOFF_DAYS,
      usersListLimit: parsed.data.API_USERS_LIST_LIMIT,
      ...readDocumentSettings(environment, parsed.data),
      workflowsEmail: parsed.data.WORKFLOW_DOCUMENTS_USER,
      fallbackToEmail: parsed.data.OIDC_FALLBACK_TO_EMAIL_FOR_IDENTIFICATION,
      allowDuplicateEmails: parsed.data.OIDC_ALLOW_DUPLICATE_EMAILS,
    },
    oidc: oidcSettings(parsed.data),
    mail: mailSettings(
      parsed.data,
      parsed.data.PUBLIC_URL ?? `http://${parsed.data.HOST}:${parsed.data.PORT}`,
    ),
  };
}
