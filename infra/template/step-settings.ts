import { ref } from "./intrinsics.ts";

interface StepSetting {
  /** Of `lib/platform/config.ts`. */
  readonly variable: string;
  readonly description: string;
  readonly otherwise: string;
  readonly values?: readonly string[];
}

/** Settings of steps, and of what the sweep removes, that a deployment chooses, by parameter. Keys of providers are secrets in the parameter store. */
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
};

const settings = Object.entries(STEP_SETTINGS);

/** The parameters of the main template. */
export function settingParameters(): Record<string, unknown> {
  return Object.fromEntries(
    settings.map(([parameter, { description, otherwise, values }]) => [
      parameter,
      {
        Type: "String",
        Description: description,
        Default: otherwise,
        ...(values === undefined ? {} : { AllowedValues: values }),
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
