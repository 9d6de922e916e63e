import { DOCUMENT_SECRETS, documentSettings } from "../../lib/settings/document-settings.ts";
import { ref } from "./intrinsics.ts";
import type { StackService } from "./services.ts";

/** Contains several settings of documents: the environment of a function is limited to 4 KB. */
const DOCUMENT_PARAMETER = "DocumentSettings";

/** Path of the secrets of documents in the parameter store, separate from those that steps may read. */
export const DOCUMENT_SECRETS_PARAMETER = "DocumentSecretsPath";

interface StepSetting {
  /** Of `lib/settings/config.ts`. */
  readonly variable: string;
  readonly description: string;
  readonly default: string;
  readonly values?: readonly string[];
  /** `AllowedPattern` of the parameter. */
  readonly pattern?: string;
  /** `MaxLength` of the parameter; `VALUE_MAX` by default. */
  readonly most?: number;
  /** The service whose functions read it; both by default, because Lambda limits the environment to 4 KB. */
  readonly service?: StackService;
}

/** Settings of functions that a deployment chooses, by parameter. Keys of providers are secrets in the parameter store. */
const STEP_SETTINGS: Readonly<Record<string, StepSetting>> = {
  HttpStepPrivateAddresses: {
    variable: "HTTP_STEP_PRIVATE_ADDRESSES",
    service: "workflows",
    description: "Whether http and llm steps may reach private addresses",
    default: "deny",
    values: ["deny", "allow"],
  },
  LlmBaseUrl: {
    variable: "LLM_BASE_URL",
    service: "workflows",
    description: "Base URL of the first provider of llm steps; its key is the secret LLM_API_KEY",
    default: "",
  },
  LlmModel: {
    variable: "LLM_MODEL",
    service: "workflows",
    description: "Default model of llm steps",
    default: "",
  },
  LlmProviders: {
    most: 512,
    variable: "LLM_PROVIDERS",
    service: "workflows",
    description: "Further providers: JSON, a list of {name, base_url, api_key_secret (LLM_…), model}",
    default: "",
  },
  LlmAllowedHosts: {
    most: 256,
    variable: "LLM_ALLOWED_HOSTS",
    service: "workflows",
    description: "Hosts that a step's llm_config.base_url may use, separated by commas",
    default: "",
  },
  RunsConcurrencyMax: {
    most: 5,
    variable: "RUNS_CONCURRENCY_MAX",
    service: "workflows",
    description: "Maximum number of concurrent runs; further runs wait",
    default: "100",
    pattern: "^([1-9][0-9]{0,3}|10000)$",
  },
  UndefinedNames: {
    variable: "UNDEFINED_NAMES",
    service: "workflows",
    description: "Behaviour of an undefined variable in the templates of a workflow",
    default: "empty",
    values: ["empty", "fail"],
  },
  TriggerFiresPerMinute: {
    most: 9,
    variable: "TRIGGER_FIRES_PER_MINUTE",
    description: "Maximum firings of a trigger per minute; further events start nothing",
    default: "6000",
    pattern: "^[1-9][0-9]{0,8}$",
  },
  RunsPerRootCauseMax: {
    most: 9,
    variable: "RUNS_PER_ROOT_CAUSE_MAX",
    description:
      "Maximum runs that one event may cause, directly or through other runs; further runs are rejected",
    default: "1000",
    pattern: "^[1-9][0-9]{0,8}$",
  },
  EventReceiverEnabled: {
    variable: "EVENT_RECEIVER_ENABLED",
    description: "Whether events trigger workflows",
    default: "true",
    values: ["true", "false"],
  },
  EventLogRetention: {
    most: 12,
    variable: "EVENT_LOG_RETENTION",
    service: "workflows",
    description: "Retention period of the event log, such as 12h, 30d, 8w; off keeps all records",
    default: "off",
  },
  RunRetention: {
    most: 12,
    variable: "RUN_RETENTION",
    service: "workflows",
    description: "Retention period of finished runs, such as 12h, 30d, 8w; off keeps all runs",
    default: "off",
  },
  OwnerEmail: {
    variable: "WEFT_OWNER_EMAIL",
    description: "Email address of the document user that the owner's access token authenticates",
    default: "owner@weft.local",
  },
  AiAllowReachFrom: {
    variable: "AI_ALLOW_REACH_FROM",
    description: "Who may use the language model functions in documents",
    default: "authenticated",
    values: ["public", "authenticated", "restricted"],
  },
  TrashbinCutoffDays: {
    most: 5,
    variable: "TRASHBIN_CUTOFF_DAYS",
    description: "Days after which a deleted document cannot be restored",
    default: "30",
    pattern: "^[0-9]{1,5}$",
  },
  ApiUsersListLimit: {
    most: 3,
    variable: "API_USERS_LIST_LIMIT",
    service: "documents",
    description: "Maximum number of results of a user search",
    default: "5",
    pattern: "^([1-9][0-9]?|100)$",
  },
  OidcOpUrl: {
    variable: "OIDC_OP_URL",
    service: "documents",
    description: "Accepted issuer of tokens, the value of their iss claim",
    default: "",
  },
  OidcOpJwksEndpoint: {
    variable: "OIDC_OP_JWKS_ENDPOINT",
    service: "documents",
    description: "URL of the issuer's public keys (JWKS)",
    default: "",
  },
  OidcRsAllowedAudiences: {
    most: 256,
    variable: "OIDC_RS_ALLOWED_AUDIENCES",
    service: "documents",
    description: "Accepted audiences of the issuer's tokens, separated by commas; none if empty",
    default: "",
  },
  OidcTimeout: {
    most: 2,
    variable: "OIDC_TIMEOUT",
    service: "documents",
    description: "Timeout of requests to the issuer, seconds",
    default: "3",
    pattern: "^[1-9][0-9]?$",
  },
  OidcCreateUser: {
    variable: "OIDC_CREATE_USER",
    service: "documents",
    description: "Whether a valid token of the issuer creates its user",
    default: "true",
    values: ["true", "false"],
  },
  OidcFallbackToEmail: {
    variable: "OIDC_FALLBACK_TO_EMAIL_FOR_IDENTIFICATION",
    service: "documents",
    description: "Whether a user with an unknown sub is looked up by email address",
    default: "true",
    values: ["true", "false"],
  },
  OidcAllowDuplicateEmails: {
    variable: "OIDC_ALLOW_DUPLICATE_EMAILS",
    service: "documents",
    description: "Whether several users may have the same email address",
    default: "false",
    values: ["true", "false"],
  },
  OidcRequireEmailVerified: {
    variable: "OIDC_REQUIRE_EMAIL_VERIFIED",
    service: "documents",
    description: "Whether the email address of a token is used only if email_verified is true",
    default: "true",
    values: ["true", "false"],
  },
  OidcAllowOwnerByEmail: {
    variable: "OIDC_ALLOW_OWNER_BY_EMAIL",
    service: "documents",
    description: "Whether a token with the owner's email address authenticates as the owner",
    default: "false",
    values: ["true", "false"],
  },
  OidcFullNameFields: {
    variable: "OIDC_USERINFO_FULLNAME_FIELDS",
    service: "documents",
    description: "Claims of a user's full name, separated by commas",
    default: "first_name,last_name",
  },
  OidcShortNameField: {
    variable: "OIDC_USERINFO_SHORTNAME_FIELD",
    service: "documents",
    description: "Claim of a user's short name",
    default: "first_name",
  },
  [DOCUMENT_PARAMETER]: {
    service: "documents",
    most: 640,
    variable: "DOCUMENT_SETTINGS",
    description: "Further settings of documents: a JSON object of strings",
    default: "",
  },
  [DOCUMENT_SECRETS_PARAMETER]: {
    variable: "WEFT_DOCUMENT_SECRETS_PATH",
    service: "documents",
    description:
      "Path of the secrets of documents, and their theme, in the parameter store, each by its setting's name",
    default: "/weft/documents",
    pattern: "^(?:/[A-Za-z0-9_.-]+)+$",
  },
  DocumentSecrets: {
    variable: "WEFT_DOCUMENT_SECRETS",
    service: "documents",
    description: "Which of them exist, separated by commas, such as OIDC_RS_PRIVATE_KEY_STR",
    default: "",
    pattern: "^[A-Z_, ]*$",
  },
  EmailHost: {
    service: "workflows",
    variable: "DJANGO_EMAIL_HOST",
    description: "SMTP server for outgoing mails; no mails if empty",
    default: "",
  },
  EmailPort: {
    service: "workflows",
    most: 5,
    variable: "DJANGO_EMAIL_PORT",
    description: "Its port",
    default: "25",
    pattern: "^[1-9][0-9]{0,4}$",
  },
  EmailHostUser: {
    service: "workflows",
    variable: "DJANGO_EMAIL_HOST_USER",
    description: "User name for the SMTP server, if it requires one",
    default: "",
  },
  EmailUseTls: {
    service: "workflows",
    variable: "DJANGO_EMAIL_USE_TLS",
    description: "Whether to use STARTTLS",
    default: "false",
    values: ["true", "false"],
  },
  EmailUseSsl: {
    service: "workflows",
    variable: "DJANGO_EMAIL_USE_SSL",
    description: "Whether to use TLS from the start of the connection",
    default: "false",
    values: ["true", "false"],
  },
  EmailFrom: {
    service: "workflows",
    variable: "DJANGO_EMAIL_FROM",
    description: "Sender address of mails",
    default: "from@example.com",
  },
  EmailBrandName: {
    service: "workflows",
    variable: "DJANGO_EMAIL_BRAND_NAME",
    description: "Name of the service in mails",
    default: "Docs",
  },
  EmailLogoImg: {
    service: "workflows",
    variable: "DJANGO_EMAIL_LOGO_IMG",
    description: "Logo at the top of mails",
    default: "",
  },
  PublicUrl: {
    variable: "PUBLIC_URL",
    description: "Public URL of the service; empty for the host of the request",
    default: "",
  },
  EmailUrlApp: {
    service: "workflows",
    variable: "DJANGO_EMAIL_URL_APP",
    description: "Base URL of links to documents in mails",
    default: "",
  },
  WorkflowDocumentsUser: {
    service: "workflows",
    variable: "WORKFLOW_DOCUMENTS_USER",
    description:
      "Email address of the user that scripts of workflows act as in documents; empty for the owner",
    default: "",
  },
};

/** Settings that functions do not read: only servers or workers do, or functions get them in another way. */
export const NOT_FOR_FUNCTIONS: ReadonlySet<string> = new Set([
  // API Gateway only serves its own domain names.
  "DJANGO_ALLOWED_HOSTS",
  ...["PORT", "HOST", "WEFT_DATA_DIR", "WEFT_ACCESS_TOKEN", "WEFT_PLATFORM", "WEFT_STACK", "WEFT_WORKER"],
  // Lambda has its own concurrency for each queue, and scheduled rules exist or not.
  ...["STEPS_CONCURRENCY_MAX", "SCHEDULER_ENABLED"],
  // Files, containers and hosts are for workers.
  ...["FUNCTION_FOLDERS", "DOCKER_HOST", "REMOTE_VOLUME_ROOTS", "REMOTE_HOST_NETWORK", "REMOTE_KEYS_DIR"],
  // Neither a parameter nor the environment of a function may contain secrets, and a function has no files of the
  // operator: these are read from the parameter store.
  ...[...DOCUMENT_SECRETS, "THEME_CUSTOMIZATION_FILE_PATH"],
  ...["SSH_KNOWN_HOSTS", "WATCH_ROOTS", "LLM_API_KEY", "DJANGO_EMAIL_HOST_PASSWORD"],
]);

const settings = Object.entries(STEP_SETTINGS);
/** Maximum length of a value: the environment of a function is limited to 4 KB of names and values. */
const VALUE_MAX = 128;

/** The parameters of the main template. */
export function settingParameters(): Record<string, unknown> {
  return Object.fromEntries(
    settings.map(([parameter, { description, default: otherwise, values, pattern, most = VALUE_MAX }]) => [
      parameter,
      {
        Type: "String",
        Description: description,
        Default: otherwise,
        ...(values === undefined ? {} : { AllowedValues: values }),
        ...(pattern === undefined ? {} : { AllowedPattern: pattern }),
        ...(values === undefined ? { MaxLength: most } : {}),
      },
    ]),
  );
}

/** The parameters of a service's template, which the main template sets. */
export function serviceSettingParameters(): Record<
  string,
  { readonly Type: "String"; readonly Description: string; readonly MaxLength: number }
> {
  return Object.fromEntries(
    settings.map(([parameter, { description, values = [], most = VALUE_MAX }]) => [
      parameter,
      {
        ...{ Type: "String", Description: description },
        MaxLength: values.length === 0 ? most : Math.max(...values.map(({ length }) => length)),
      },
    ]),
  );
}

/** Default values of the parameters. */
export function settingDefaults(): Record<string, string> {
  return Object.fromEntries(settings.map(([parameter, { default: otherwise }]) => [parameter, otherwise]));
}

/** What the main template passes to that of a service. */
export function settingArguments(): Record<string, unknown> {
  return Object.fromEntries(settings.map(([parameter]) => [parameter, ref(parameter)]));
}

/** The environment of a service's functions. */
export function settingVariables(service: StackService): Record<string, unknown> {
  return Object.fromEntries(
    settings
      .filter(([, { service: of = service }]) => of === service)
      .map(([parameter, { variable }]) => [variable, ref(parameter)]),
  );
}

/** The parameter of the main template that sets this setting; undefined if there is none. */
export function parameterOf(variable: string): string | undefined {
  if (Object.hasOwn(documentSettings, variable))
    return NOT_FOR_FUNCTIONS.has(variable) ? undefined : DOCUMENT_PARAMETER;
  return settings.find(([, setting]) => setting.variable === variable)?.[0];
}
