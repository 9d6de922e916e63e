import { llmBaseUrl, llmHosts, llmProviders } from "./llm.ts";
import { absolutePaths, boolean, integer, oneOf, retention, type Setting, text } from "./setting-types.ts";

/** Settings of runs, triggers and steps. */
export const workflowSettings = {
  FUNCTION_FOLDERS: {
    type: absolutePaths,
    default: "",
    description:
      "Folders that script functions may use in addition to the workspaces and the temporary folder, separated by colons; / allows all",
  },
  SCHEDULER_ENABLED: { type: boolean, default: "true", description: "Whether schedules fire" },
  RUNS_CONCURRENCY_MAX: {
    type: integer(1, 10_000),
    default: "100",
    description: "Concurrent runs; further runs are `pending` and start by priority, then age",
    parameter: { name: "RunsConcurrencyMax", service: "workflows" },
  },
  STEPS_CONCURRENCY_MAX: {
    type: integer(1, 10_000),
    default: "256",
    description: "Concurrent steps of this server or worker; further steps wait in their queues",
  },
  EVENT_LOG_RETENTION: {
    type: retention,
    default: "off",
    description: "Age at which records of the event log are deleted: `12h`, `30d`, `8w`; off keeps them",
    parameter: { name: "EventLogRetention", service: "workflows", maxLength: 12 },
  },
  RUN_RETENTION: {
    type: retention,
    default: "off",
    description:
      "Time after their end at which runs are deleted, with their steps, logs and artifacts: `12h`, `30d`, `8w`; off keeps them",
    parameter: { name: "RunRetention", service: "workflows", maxLength: 12 },
  },
  EVENT_RECEIVER_ENABLED: {
    type: boolean,
    documentedDefault: "same as SCHEDULER_ENABLED",
    description: "Whether events trigger workflows",
    parameter: { name: "EventReceiverEnabled", default: "true" },
  },
  HTTP_STEP_PRIVATE_ADDRESSES: {
    type: oneOf("allow", "deny"),
    documentedDefault: "allow; deny if WEFT_PLATFORM is aws",
    description:
      "Whether http and llm steps may connect to private addresses; metadata addresses are always denied",
    parameter: { name: "HttpStepPrivateAddresses", service: "workflows", default: "deny" },
  },
  LLM_BASE_URL: {
    type: llmBaseUrl,
    description: "API of the first provider of llm steps, such as https://host/v1",
    parameter: { name: "LlmBaseUrl", service: "workflows" },
  },
  LLM_API_KEY: {
    type: text(),
    isSecret: true,
    description: "API key of this provider; by default the workflow secret LLM_API_KEY, if it exists",
  },
  LLM_MODEL: {
    type: text(),
    description: "Model of llm steps that specify none",
    parameter: { name: "LlmModel", service: "workflows" },
  },
  LLM_PROVIDERS: {
    type: llmProviders,
    default: "",
    description:
      "Additional providers, tried in order: a JSON array of {name, base_url, api_key or api_key_secret, model}",
    isHidden: true,
    parameter: { name: "LlmProviders", service: "workflows", maxLength: 512 },
  },
  LLM_ALLOWED_HOSTS: {
    type: llmHosts,
    default: "",
    description: "Hosts (host or host:port) that a step may use in llm_config.base_url, separated by commas",
    parameter: { name: "LlmAllowedHosts", service: "workflows", maxLength: 256 },
  },
  DOCKER_HOST: {
    type: text(),
    documentedDefault: "the default socket",
    description: "Docker engine of remote-bash steps: unix:///path or tcp://host:port",
  },
  REMOTE_VOLUME_ROOTS: {
    type: absolutePaths,
    default: "",
    description:
      "Folders that containers of steps may mount in addition to the run's workspace: absolute paths separated by colons",
  },
  REMOTE_HOST_NETWORK: {
    type: boolean,
    default: "false",
    description: "Whether containers of steps may use the network of this machine (`network: host`)",
  },
  REMOTE_KEYS_DIR: {
    type: text(),
    documentedDefault: "keys in the data folder",
    description: "Folder of the files that key_file of remote-bash steps names",
  },
  SSH_KNOWN_HOSTS: {
    type: text(),
    documentedDefault: "~/.ssh/known_hosts",
    description:
      "File with the hosts that remote-bash steps may connect to and their keys, in OpenSSH's known_hosts format",
  },
  UNDEFINED_NAMES: {
    type: oneOf("empty", "fail"),
    default: "empty",
    description:
      "How the templates of a workflow evaluate an undefined name: `empty` gives an empty text and a warning in the run's log, `fail` fails the step, as does `undefined: fail` in a workflow",
    parameter: { name: "UndefinedNames", service: "workflows" },
  },
  TRIGGER_FIRES_PER_MINUTE: {
    type: integer(1, 999_999_999),
    default: "6000",
    description: "Times that one trigger may fire in a minute; further events start nothing",
    parameter: { name: "TriggerFiresPerMinute" },
  },
  RUNS_PER_ROOT_CAUSE_MAX: {
    type: integer(1, 999_999_999),
    default: "1000",
    description:
      "Runs that one event or request may start, directly or through other runs; further runs are refused",
    parameter: { name: "RunsPerRootCauseMax" },
  },
  WATCH_ROOTS: {
    type: absolutePaths,
    default: "",
    description:
      "Folders that watch triggers may observe in addition to the workspaces: absolute paths separated by colons",
  },
} satisfies Record<string, Setting>;
