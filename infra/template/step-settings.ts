import { DOCUMENT_SECRETS, documentSettings } from "../../lib/settings/document-settings.ts";
import { ref } from "./intrinsics.ts";
import type { StackService } from "./services.ts";

/** Holds settings of documents together: the environment of a function has room for 4 KB. */
const DOCUMENT_PARAMETER = "DocumentSettings";

/** Where secrets of the documents lie in the parameter store: apart from those that steps may name. */
export const DOCUMENT_SECRETS_PARAMETER = "DocumentSecretsPath";

interface StepSetting {
  /** Of `lib/settings/config.ts`. */
  readonly variable: string;
  readonly description: string;
  readonly otherwise: string;
  readonly values?: readonly string[];
  /** What a value has to look like. */
  readonly pattern?: string;
  /** Characters that a value has at most; `VALUE_MAX` where it is not given. */
  readonly most?: number;
  /** The service whose functions read it; both where it is not given. An environment of Lambda holds 4 KB. */
  readonly of?: StackService;
}

/** Settings of functions that a deployment chooses, by parameter. Keys of providers are secrets in the parameter store. */
const STEP_SETTINGS: Readonly<Record<string, StepSetting>> = {
  HttpStepPrivateAddresses: {
    variable: "HTTP_STEP_PRIVATE_ADDRESSES",
    of: "workflows",
    description: "Whether http and llm steps may reach private addresses",
    otherwise: "deny",
    values: ["deny", "allow"],
  },
  LlmBaseUrl: {
    variable: "LLM_BASE_URL",
    of: "workflows",
    description: "API of the first provider of llm steps; its key is the secret LLM_API_KEY",
    otherwise: "",
  },
  LlmModel: {
    variable: "LLM_MODEL",
    of: "workflows",
    description: "Model of llm steps that name none",
    otherwise: "",
  },
  LlmProviders: {
    most: 512,
    variable: "LLM_PROVIDERS",
    of: "workflows",
    description: "Further providers: JSON, a list of {name, base_url, api_key_secret (LLM_…), model}",
    otherwise: "",
  },
  LlmAllowedHosts: {
    most: 256,
    variable: "LLM_ALLOWED_HOSTS",
    of: "workflows",
    description: "Hosts that llm_config.base_url of a step may name, by commas",
    otherwise: "",
  },
  RunsConcurrencyMax: {
    most: 5,
    variable: "RUNS_CONCURRENCY_MAX",
    of: "workflows",
    description: "Runs that go at once; further ones wait for their turn",
    otherwise: "100",
    pattern: "^([1-9][0-9]{0,3}|10000)$",
  },
  UndefinedNames: {
    variable: "UNDEFINED_NAMES",
    of: "workflows",
    description: "What a name without a value does in the templates of a workflow",
    otherwise: "empty",
    values: ["empty", "fail"],
  },
  TriggerFiresPerMinute: {
    most: 9,
    variable: "TRIGGER_FIRES_PER_MINUTE",
    description: "Fires of one trigger in a minute, beyond which it starts nothing until the next",
    otherwise: "6000",
    pattern: "^[1-9][0-9]{0,8}$",
  },
  RunsPerRootCauseMax: {
    most: 9,
    variable: "RUNS_PER_ROOT_CAUSE_MAX",
    description: "Runs that one event may start through the runs that it started; further ones are refused",
    otherwise: "1000",
    pattern: "^[1-9][0-9]{0,8}$",
  },
  EventReceiverEnabled: {
    variable: "EVENT_RECEIVER_ENABLED",
    description: "Whether events trigger workflows",
    otherwise: "true",
    values: ["true", "false"],
  },
  EventLogRetention: {
    most: 12,
    variable: "EVENT_LOG_RETENTION",
    of: "workflows",
    description: "Age at which records of the event log are removed, such as 12h, 30d, 8w; off keeps them",
    otherwise: "off",
  },
  RunRetention: {
    most: 12,
    variable: "RUN_RETENTION",
    of: "workflows",
    description: "Time after their end at which runs are removed, such as 12h, 30d, 8w; off keeps them",
    otherwise: "off",
  },
  OwnerEmail: {
    variable: "WEFT_OWNER_EMAIL",
    description: "Address of the user of the documents whom the owner's access token belongs to",
    otherwise: "owner@weft.local",
  },
  AiAllowReachFrom: {
    variable: "AI_ALLOW_REACH_FROM",
    description: "Who keeps the functions of language models in documents",
    otherwise: "authenticated",
    values: ["public", "authenticated", "restricted"],
  },
  TrashbinCutoffDays: {
    most: 5,
    variable: "TRASHBIN_CUTOFF_DAYS",
    description: "Days after which a deleted document cannot be brought back",
    otherwise: "30",
    pattern: "^[0-9]{1,5}$",
  },
  ApiUsersListLimit: {
    most: 3,
    variable: "API_USERS_LIST_LIMIT",
    of: "documents",
    description: "Users that a search for users answers at most",
    otherwise: "5",
    pattern: "^([1-9][0-9]?|100)$",
  },
  OidcOpUrl: {
    variable: "OIDC_OP_URL",
    of: "documents",
    description: "Issuer of tokens that the documents take, as it stands in their iss",
    otherwise: "",
  },
  OidcOpJwksEndpoint: {
    variable: "OIDC_OP_JWKS_ENDPOINT",
    of: "documents",
    description: "Where the issuer's public keys are read",
    otherwise: "",
  },
  OidcRsAllowedAudiences: {
    most: 256,
    variable: "OIDC_RS_ALLOWED_AUDIENCES",
    of: "documents",
    description: "Audiences of the issuer's tokens that are taken, by commas; without one no token is",
    otherwise: "",
  },
  OidcTimeout: {
    most: 2,
    variable: "OIDC_TIMEOUT",
    of: "documents",
    description: "Time for the issuer to answer, seconds",
    otherwise: "3",
    pattern: "^[1-9][0-9]?$",
  },
  OidcCreateUser: {
    variable: "OIDC_CREATE_USER",
    of: "documents",
    description: "Whether whoever brings a token of the issuer becomes a user",
    otherwise: "true",
    values: ["true", "false"],
  },
  OidcFallbackToEmail: {
    variable: "OIDC_FALLBACK_TO_EMAIL_FOR_IDENTIFICATION",
    of: "documents",
    description: "Whether who is not known by sub is looked for by address",
    otherwise: "true",
    values: ["true", "false"],
  },
  OidcAllowDuplicateEmails: {
    variable: "OIDC_ALLOW_DUPLICATE_EMAILS",
    of: "documents",
    description: "Whether somebody with the address of another becomes a user of their own",
    otherwise: "false",
    values: ["true", "false"],
  },
  OidcRequireEmailVerified: {
    variable: "OIDC_REQUIRE_EMAIL_VERIFIED",
    of: "documents",
    description: "Whether an address of a token counts only with email_verified true",
    otherwise: "true",
    values: ["true", "false"],
  },
  OidcAllowOwnerByEmail: {
    variable: "OIDC_ALLOW_OWNER_BY_EMAIL",
    of: "documents",
    description: "Whether a token with the owner's address signs in as the owner",
    otherwise: "false",
    values: ["true", "false"],
  },
  OidcFullNameFields: {
    variable: "OIDC_USERINFO_FULLNAME_FIELDS",
    of: "documents",
    description: "Claims that make up a user's full name, by commas",
    otherwise: "first_name,last_name",
  },
  OidcShortNameField: {
    variable: "OIDC_USERINFO_SHORTNAME_FIELD",
    of: "documents",
    description: "The claim that is a user's short name",
    otherwise: "first_name",
  },
  [DOCUMENT_PARAMETER]: {
    of: "documents",
    most: 640,
    variable: "DOCUMENT_SETTINGS",
    description: "Further settings of documents by their names, together: JSON, an object of texts",
    otherwise: "",
  },
  [DOCUMENT_SECRETS_PARAMETER]: {
    variable: "WEFT_DOCUMENT_SECRETS_PATH",
    of: "documents",
    description:
      "Where the parameter store holds secrets of the documents, and their theme, each by its setting's name",
    otherwise: "/weft/documents",
    pattern: "^(?:/[A-Za-z0-9_.-]+)+$",
  },
  DocumentSecrets: {
    variable: "WEFT_DOCUMENT_SECRETS",
    of: "documents",
    description: "Which of them are there, by commas, such as OIDC_RS_PRIVATE_KEY_STR",
    otherwise: "",
    pattern: "^[A-Z_, ]*$",
  },
  EmailHost: {
    of: "workflows",
    variable: "DJANGO_EMAIL_HOST",
    description: "Mail server that takes mails by SMTP; without it none are sent",
    otherwise: "",
  },
  EmailPort: {
    of: "workflows",
    most: 5,
    variable: "DJANGO_EMAIL_PORT",
    description: "Its port",
    otherwise: "25",
    pattern: "^[1-9][0-9]{0,4}$",
  },
  EmailHostUser: {
    of: "workflows",
    variable: "DJANGO_EMAIL_HOST_USER",
    description: "Whom mails are sent as, where it asks",
    otherwise: "",
  },
  EmailUseTls: {
    of: "workflows",
    variable: "DJANGO_EMAIL_USE_TLS",
    description: "Whether it is asked for TLS by STARTTLS",
    otherwise: "false",
    values: ["true", "false"],
  },
  EmailUseSsl: {
    of: "workflows",
    variable: "DJANGO_EMAIL_USE_SSL",
    description: "Whether it speaks TLS from the start",
    otherwise: "false",
    values: ["true", "false"],
  },
  EmailFrom: {
    of: "workflows",
    variable: "DJANGO_EMAIL_FROM",
    description: "Address that mails come from",
    otherwise: "from@example.com",
  },
  EmailBrandName: {
    of: "workflows",
    variable: "DJANGO_EMAIL_BRAND_NAME",
    description: "What mails call the service",
    otherwise: "Docs",
  },
  EmailLogoImg: {
    of: "workflows",
    variable: "DJANGO_EMAIL_LOGO_IMG",
    description: "Picture at the top of mails",
    otherwise: "",
  },
  PublicUrl: {
    variable: "PUBLIC_URL",
    description: "Address at which clients reach the service; the host of the request where empty",
    otherwise: "",
  },
  EmailUrlApp: {
    of: "workflows",
    variable: "DJANGO_EMAIL_URL_APP",
    description: "Where readers of mails open documents",
    otherwise: "",
  },
  WorkflowDocumentsUser: {
    of: "workflows",
    variable: "WORKFLOW_DOCUMENTS_USER",
    description: "Address of the user as whom scripts of workflows work on documents; the owner where empty",
    otherwise: "",
  },
};

/** Settings that no function reads: of a server's or worker's process alone, or given to functions in other ways. */
export const NOT_OF_FUNCTIONS: ReadonlySet<string> = new Set([
  // API Gateway serves its own domain names alone.
  "DJANGO_ALLOWED_HOSTS",
  ...["PORT", "HOST", "WEFT_DATA_DIR", "WEFT_ACCESS_TOKEN", "WEFT_PLATFORM", "WEFT_STACK", "WEFT_WORKER"],
  // Lambda has a concurrency of its own for each queue, and scheduled rules are there or not.
  ...["STEPS_CONCURRENCY_MAX", "SCHEDULER_ENABLED"],
  // Files, containers and hosts are for workers.
  ...["FUNCTION_FOLDERS", "DOCKER_HOST", "REMOTE_VOLUME_ROOTS", "REMOTE_HOST_NETWORK", "REMOTE_KEYS_DIR"],
  // Neither a parameter nor the environment of a function is a place for secrets, and it has no file of the operator's:
  // these are read in the parameter store.
  ...[...DOCUMENT_SECRETS, "THEME_CUSTOMIZATION_FILE_PATH"],
  ...["SSH_KNOWN_HOSTS", "WATCH_ROOTS", "LLM_API_KEY", "DJANGO_EMAIL_HOST_PASSWORD"],
]);

const settings = Object.entries(STEP_SETTINGS);
/** What a value has at most: the environment of a function holds 4 KB of names and values. */
const VALUE_MAX = 128;

/** The parameters of the main template. */
export function settingParameters(): Record<string, unknown> {
  return Object.fromEntries(
    settings.map(([parameter, { description, otherwise, values, pattern, most = VALUE_MAX }]) => [
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

/** The parameters of a service's template, which the main one hands over. */
export function handedParameters(): Record<
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

/** Values of the parameters where a deployment says nothing. */
export function settingDefaults(): Record<string, string> {
  return Object.fromEntries(settings.map(([parameter, { otherwise }]) => [parameter, otherwise]));
}

/** What the main template hands to a service's. */
export function settingArguments(): Record<string, unknown> {
  return Object.fromEntries(settings.map(([parameter]) => [parameter, ref(parameter)]));
}

/** The environment of a service's functions. */
export function settingVariables(service: StackService): Record<string, unknown> {
  return Object.fromEntries(
    settings
      .filter(([, { of = service }]) => of === service)
      .map(([parameter, { variable }]) => [variable, ref(parameter)]),
  );
}

/** The parameter of the main template that gives functions this setting; undefined where none does. */
export function parameterOf(variable: string): string | undefined {
  if (Object.hasOwn(documentSettings, variable))
    return NOT_OF_FUNCTIONS.has(variable) ? undefined : DOCUMENT_PARAMETER;
  return settings.find(([, setting]) => setting.variable === variable)?.[0];
}
