/**
 * A parsed workflow definition, normalized. Seed: workflow 2.5 to 2.7. Stored as JSON, so it contains no class
 * instances, dates or undefined values.
 */

export const STEP_TYPES = [
  "bash",
  "function",
  "parallel-steps",
  "foreach",
  "remote-bash",
  "http",
  "llm",
] as const;
export type StepType = (typeof STEP_TYPES)[number];

/** Steps before and after those of a workflow; in a flow, modules with these names. */
export const HOOKS = ["pre_scan_steps", "post_scan_steps"] as const;
export type Hook = (typeof HOOKS)[number];

export type WorkflowKind = "module" | "flow";

export interface Definition {
  readonly name: string;
  readonly kind: WorkflowKind;
  readonly description: string;
  readonly tags: readonly string[];
  readonly hidden: boolean;
  readonly params: readonly Param[];
  readonly triggers: readonly Trigger[];
  /** Modules: at least one. Flows: empty. */
  readonly steps: readonly Step[];
  /** Flows: at least one. Modules: empty. */
  readonly modules: readonly FlowModule[];
  /** Name of the extended workflow. */
  readonly extends?: string;
  /** Steps before and after those of a module, or the modules of a flow; their failures are ignored. */
  readonly hooks?: { readonly pre_scan_steps: readonly Step[]; readonly post_scan_steps: readonly Step[] };
  /** Checked before the first step. */
  readonly dependencies?: Dependencies;
  /** Where the commands of its bash steps run; default: the worker. */
  readonly runner?: { readonly kind: "docker" | "ssh"; readonly config: RemoteRunnerConfig };
  /** Files that become artifacts after the workflow succeeds. */
  readonly reports?: readonly Report[];
  readonly preferences?: Preferences;
  /** How names without a value render in its templates, and in those of a flow's modules; default: `empty`. */
  readonly undefined?: "empty" | "fail";
}

export const HEURISTICS = ["none", "basic", "advanced"] as const;

/** Defaults for runs of a workflow. Reference 2.1. */
export interface Preferences {
  /** Generates a target if the run has none. */
  readonly empty_target?: boolean;
  /** Detection applied to the target. */
  readonly heuristics_check?: (typeof HEURISTICS)[number];
  /** If either is set, the run has no log. */
  readonly disable_logging?: boolean;
  readonly silent?: boolean;
  /** For `weft run`: prints records as JSON, again after each end. */
  readonly ci_output_format?: boolean;
  readonly repeat?: boolean;
  /** A duration. */
  readonly repeat_wait_time?: string;
}

/** An output file of a workflow. Texts are templates. Reference 2.1. */
export interface Report {
  /** Default: the name of the file. */
  readonly name?: string;
  /** Path in the run's workspace. */
  readonly path: string;
  /** Content type, if the file extension does not determine it. */
  readonly type?: string;
  readonly description?: string;
  /** Whether the file may be missing. */
  readonly optional: boolean;
}

/** Conditions for starting a run's first step. Reference 2.3. */
export interface Dependencies {
  /** Must be on the `PATH` of the machine that executes commands. */
  readonly commands: readonly string[];
  /** Paths, as templates. */
  readonly files: readonly string[];
  /** The target must be one of these types. */
  readonly target_types: readonly TargetType[];
  readonly variables: readonly { readonly name: string; readonly types: readonly TargetType[] }[];
  /** All conditions must be true. */
  readonly functions_conditions: readonly string[];
}

export const TARGET_TYPES = [
  "domain",
  "subdomain",
  "url",
  "cidr",
  "ip",
  "repo",
  "path",
  "file",
  "folder",
  "number",
  "string",
] as const;
export type TargetType = (typeof TARGET_TYPES)[number];

export interface Param {
  readonly name: string;
  readonly type: "string" | "bool" | "int";
  /** A template, rendered when the run starts. */
  readonly default?: string;
  readonly required: boolean;
  readonly generator?: string;
}

/** One module of a flow: a stored workflow by name (`path`, without folder and extension) or inline steps. */
export interface FlowModule {
  readonly name: string;
  readonly path?: string;
  readonly steps?: readonly Step[];
  /** Templates, rendered when the run starts. */
  readonly params: Readonly<Record<string, string>>;
  readonly depends_on: readonly string[];
  /** JavaScript; the module is skipped unless it is true. */
  readonly condition?: string;
  readonly on_success?: readonly Action[];
  readonly on_error?: readonly Action[];
}

export type Trigger = CronTrigger | EventTrigger | WatchTrigger | ManualTrigger | WebhookTrigger;

interface TriggerBase {
  /** Unique in the workflow; default: `<type>-<position>`. */
  readonly name: string;
  readonly enabled: boolean;
  /** Maps run parameters to expressions (`event_data.a.b`, `event.topic`, else text). */
  readonly input: Readonly<Record<string, string>>;
}

export interface CronTrigger extends TriggerBase {
  readonly type: "cron";
  /** Five fields, as written. */
  readonly schedule: string;
  /** IANA name; default: UTC. */
  readonly timezone: string;
  /** Handling of missed slots: skip all, run the last (the default), or run each. */
  readonly misfire?: "none" | "last" | "all";
}

export interface EventTrigger extends TriggerBase {
  readonly type: "event";
  /** Exact or glob. */
  readonly topic: string;
  /** Conditions over `event`; all must be true. */
  readonly filters: readonly string[];
  /** Conditions that may also call functions. */
  readonly filter_functions?: readonly string[];
  readonly dedupe_key?: string;
  readonly dedupe_window?: string;
}

export interface WatchTrigger extends TriggerBase {
  readonly type: "watch";
  readonly path: string;
  readonly debounce?: string;
}

/** Whether the workflow may be started manually; not listed with the other triggers. */
export interface ManualTrigger extends TriggerBase {
  readonly type: "manual";
}

/** Fired by requests to its own URL. */
export interface WebhookTrigger extends TriggerBase {
  readonly type: "webhook";
  /** How callers authenticate with the secret: by sending it, by a signature, or not at all. */
  readonly auth: "key" | "hmac" | "hmac-body" | "none";
  /** Maximum age of a signed request; default: five minutes. */
  readonly tolerance?: string;
}

export interface Action {
  readonly action: "log" | "continue" | "abort" | "export" | "run" | "notify";
  readonly condition?: string;
  readonly message?: string;
  readonly name?: string;
  readonly value?: string;
  readonly type?: "bash" | "function";
  readonly command?: string;
  readonly functions?: readonly string[];
  /** As written: the step whose commands or functions a run action repeats. Normalization copies them here. */
  readonly step?: string;
}

export interface StepBase {
  readonly name: string;
  readonly log?: string;
  readonly pre_condition?: string;
  /** Seconds as a number, a duration (`30s`, `5m`, `2h`, `1d`, `500ms`) or a template. */
  readonly timeout?: number | string;
  readonly exports: Readonly<Record<string, string>>;
  readonly on_success: readonly Action[];
  readonly on_error: readonly Action[];
  /** Steps of the same list to wait for; if any step has dependencies, steps without them start immediately. */
  readonly depends_on?: readonly string[];
  readonly decision?: Decision;
  readonly retry?: Retry;
}

/** Retry policy of a failed step. */
export interface Retry {
  /** Number of attempts, including the first. */
  readonly max_attempts: number;
  /** Delay before the second attempt, milliseconds. */
  readonly delay: number;
  /** Factor by which each delay exceeds the previous one. */
  readonly backoff: number;
}

/** What to do after a step succeeded. Reference 2.4. */
export interface Decision {
  /** A template; its text selects a case. */
  readonly switch?: string;
  readonly cases: Readonly<Record<string, DecisionCase>>;
  readonly default?: DecisionCase;
  /** All cases whose condition is true apply; the last goto wins. */
  readonly conditions: readonly (DecisionCase & { readonly if: string })[];
}

export interface DecisionCase {
  /** Name of a step of the same list, or `_end`. */
  readonly goto?: string;
  readonly commands: readonly string[];
  readonly functions: readonly string[];
}

export interface BashStep extends StepBase, OwnRunner {
  readonly type: "bash";
  readonly command?: string;
  readonly commands?: readonly string[];
  readonly parallel_commands?: readonly string[];
  readonly std_file?: string;
}

/** Runner of a bash step, if it differs from its module's. */
export interface OwnRunner {
  /** `host` is the worker itself, regardless of the module. */
  readonly step_runner?: "host" | "docker" | "ssh";
  readonly step_runner_config?: RemoteRunnerConfig;
}

export interface FunctionStep extends StepBase {
  readonly type: "function";
  readonly function?: string;
  readonly functions?: readonly string[];
  readonly parallel_functions?: readonly string[];
  /** Set on the step that represents the start of a module. */
  readonly gate?: {
    readonly given: Readonly<Record<string, string>>;
    readonly params: readonly Param[];
    readonly dependencies?: Dependencies;
  };
  /** Set on the step that represents the end of a module. */
  readonly reports?: readonly Report[];
}

export interface ParallelSteps extends StepBase {
  readonly type: "parallel-steps";
  readonly parallel_steps: readonly Step[];
}

export interface ForeachStep extends StepBase {
  readonly type: "foreach";
  /** A path, a template that renders a path or a list, or the list itself. */
  readonly input: string | readonly string[];
  readonly variable: string;
  /** JavaScript that converts each item to the value of the variable. */
  readonly variable_pre_process?: string;
  readonly step: Step;
  /** Number of items that run concurrently; default: 1. Read from `parallel` or `threads`. */
  readonly parallel: number | string;
}

export interface RemoteBashStep extends StepBase {
  readonly type: "remote-bash";
  readonly step_runner: "docker" | "ssh";
  readonly step_runner_config: RemoteRunnerConfig;
  readonly command?: string;
  readonly commands?: readonly string[];
  readonly parallel_commands?: readonly string[];
  readonly std_file?: string;
  /** A file on that host, and the path to which it is copied after the commands succeed. */
  readonly step_remote_file?: string;
  readonly host_output_file?: string;
}

/** All texts are templates. Fields of the other runner are ignored. */
export interface RemoteRunnerConfig {
  readonly image?: string;
  /** `host:container`, `host:container:ro`. */
  readonly volumes?: readonly string[];
  readonly network?: string;
  readonly persistent?: boolean;
  readonly host?: string;
  readonly port?: string;
  readonly key_file?: string;
  readonly password?: string;
  readonly user?: string;
  readonly workdir?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface HttpStep extends StepBase {
  readonly type: "http";
  readonly url: string;
  /** Upper case, or a template. */
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly request_body?: string;
}

export interface LlmStep extends StepBase {
  readonly type: "llm";
  /** Validated, and kept as written. */
  readonly messages?: readonly Readonly<Record<string, unknown>>[];
  readonly is_embedding: boolean;
  readonly embedding_input?: readonly string[];
  readonly llm_config?: Readonly<Record<string, unknown>>;
  readonly tools?: readonly Readonly<Record<string, unknown>>[];
  readonly tool_choice?: string | Readonly<Record<string, unknown>>;
  /** Requests a streamed response, which is collected. */
  readonly stream?: boolean;
  readonly extra_llm_parameters?: Readonly<Record<string, unknown>>;
}

export interface StepByType {
  bash: BashStep;
  function: FunctionStep;
  "parallel-steps": ParallelSteps;
  foreach: ForeachStep;
  "remote-bash": RemoteBashStep;
  http: HttpStep;
  llm: LlmStep;
}

export type Step = StepByType[StepType];
export type LeafStep = Exclude<Step, ParallelSteps | ForeachStep>;
