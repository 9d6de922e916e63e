import { ref } from "./intrinsics.ts";

interface StepSetting {
  /** Of `lib/platform/config.ts`. */
  readonly variable: string;
  readonly description: string;
  readonly otherwise: string;
  readonly values?: readonly string[];
  /** What a value has to look like. */
  readonly pattern?: string;
}

/** Settings of functions that a deployment chooses, by parameter. Keys of providers are secrets in the parameter store. */
const STEP_SETTINGS: Readonly<Record<string, StepSetting>> = {
  HttpStepPrivateAddresses: {
    variable: "HTTP_STEP_PRIVATE_ADDRESSES",
    description: "Whether http and llm steps may reach private addresses",
    otherwise: "deny",
    values: ["deny", "allow"],
  },
  LlmBaseUrl: {
    variable: "LLM_BASE_URL",
    description: "API of the first provider of llm steps; its key is the secret LLM_API_KEY",
    otherwise: "",
  },
  LlmModel: {
    variable: "LLM_MODEL",
    description: "Model of llm steps that name none",
    otherwise: "",
  },
  LlmProviders: {
    variable: "LLM_PROVIDERS",
    description: "Further providers: JSON, a list of {name, base_url, api_key_secret (LLM_…), model}",
    otherwise: "",
  },
  LlmAllowedHosts: {
    variable: "LLM_ALLOWED_HOSTS",
    description: "Hosts that llm_config.base_url of a step may name, by commas",
    otherwise: "",
  },
  RunsConcurrencyMax: {
    variable: "RUNS_CONCURRENCY_MAX",
    description: "Runs that go at once; further ones wait for their turn",
    otherwise: "100",
    pattern: "^([1-9][0-9]{0,3}|10000)$",
  },
  TriggerFiresPerMinute: {
    variable: "TRIGGER_FIRES_PER_MINUTE",
    description: "Fires of one trigger in a minute, beyond which it starts nothing until the next",
    otherwise: "6000",
    pattern: "^[1-9][0-9]{0,8}$",
  },
  EventReceiverEnabled: {
    variable: "EVENT_RECEIVER_ENABLED",
    description: "Whether events trigger workflows",
    otherwise: "true",
    values: ["true", "false"],
  },
  EventLogRetention: {
    variable: "EVENT_LOG_RETENTION",
    description: "Age at which records of the event log are removed, such as 12h, 30d, 8w; off keeps them",
    otherwise: "off",
  },
  RunRetention: {
    variable: "RUN_RETENTION",
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
    variable: "TRASHBIN_CUTOFF_DAYS",
    description: "Days after which a deleted document cannot be brought back",
    otherwise: "30",
    pattern: "^[0-9]{1,5}$",
  },
  ReactionsMaxPerComment: {
    variable: "REACTIONS_MAX_PER_COMMENT",
    description: "Different emojis that people may react to a comment with",
    otherwise: "15",
    pattern: "^[1-9][0-9]?$",
  },
  WorkflowDocumentsUser: {
    variable: "WORKFLOW_DOCUMENTS_USER",
    description: "Address of the user as whom scripts of workflows work on documents; the owner where empty",
    otherwise: "",
  },
};

/** Settings that no function reads: of a server's or worker's process alone, or given to functions in other ways. */
export const NOT_OF_FUNCTIONS: ReadonlySet<string> = new Set([
  ...["PORT", "HOST", "WEFT_DATA_DIR", "WEFT_ACCESS_TOKEN", "WEFT_PLATFORM", "WEFT_STACK", "WEFT_WORKER"],
  // Lambda has a concurrency of its own for each queue, and scheduled rules are there or not.
  ...["STEPS_CONCURRENCY_MAX", "SCHEDULER_ENABLED"],
  // Files, containers and hosts are for workers.
  ...["FUNCTION_FOLDERS", "DOCKER_HOST", "REMOTE_VOLUME_ROOTS", "REMOTE_HOST_NETWORK", "REMOTE_KEYS_DIR"],
  ...["SSH_KNOWN_HOSTS", "WATCH_ROOTS", "LLM_API_KEY"],
]);

const settings = Object.entries(STEP_SETTINGS);

/** The parameters of the main template. */
export function settingParameters(): Record<string, unknown> {
  return Object.fromEntries(
    settings.map(([parameter, { description, otherwise, values, pattern }]) => [
      parameter,
      {
        Type: "String",
        Description: description,
        Default: otherwise,
        ...(values === undefined ? {} : { AllowedValues: values }),
        ...(pattern === undefined ? {} : { AllowedPattern: pattern }),
      },
    ]),
  );
}

/** The parameters of a service's template, which the main one hands over. */
export function handedParameters(): Record<
  string,
  { readonly Type: "String"; readonly Description: string }
> {
  return Object.fromEntries(
    settings.map(([parameter, { description }]) => [parameter, { Type: "String", Description: description }]),
  );
}

/** What the main template hands to a service's. */
export function settingArguments(): Record<string, unknown> {
  return Object.fromEntries(settings.map(([parameter]) => [parameter, ref(parameter)]));
}

/** The environment of functions. */
export function settingVariables(): Record<string, unknown> {
  return Object.fromEntries(settings.map(([parameter, { variable }]) => [variable, ref(parameter)]));
}

/** The parameter of the main template that gives functions this setting; undefined where none does. */
export function parameterOf(variable: string): string | undefined {
  return settings.find(([, setting]) => setting.variable === variable)?.[0];
}
