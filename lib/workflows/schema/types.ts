/**
 * A workflow definition after parsing: every accepted spelling brought to one form. Seed: workflow 2.5 to 2.7.
 * It is stored as JSON, so there are no class instances, dates or undefined values inside.
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

/** Steps around those of a workflow; in the run of a flow, modules of these names. */
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
  /** The workflow whose parts it took over. */
  readonly extends?: string;
  /** Steps before and after those of a module, or the modules of a flow; what fails in them is passed over. */
  readonly hooks?: { readonly pre_scan_steps: readonly Step[]; readonly post_scan_steps: readonly Step[] };
  /** What must hold before the first step. */
  readonly dependencies?: Dependencies;
  /** Where the commands of its bash steps run; on the worker itself where it is not given. */
  readonly runner?: { readonly kind: "docker" | "ssh"; readonly config: RemoteRunnerConfig };
  /** Files that become artifacts once it has succeeded. */
  readonly reports?: readonly Report[];
  readonly preferences?: Preferences;
  /** What a name without a value does in its templates, and in those of a flow's modules: nothing, where it is not given. */
  readonly undefined?: "empty" | "fail";
}

export const HEURISTICS = ["none", "basic", "advanced"] as const;

/** What holds for runs of a workflow that say nothing else. Reference 2.1. */
export interface Preferences {
  /** A run that is given no target makes one up. */
  readonly empty_target?: boolean;
  /** What is found out about the target. */
  readonly heuristics_check?: (typeof HEURISTICS)[number];
  /** Either of them: no log of the run is kept. */
  readonly disable_logging?: boolean;
  readonly silent?: boolean;
  /** Of `weft run`: records as JSON, and once more after each end. */
  readonly ci_output_format?: boolean;
  readonly repeat?: boolean;
  /** A duration. */
  readonly repeat_wait_time?: string;
}

/** A file that a workflow leaves for its readers. Texts are templates. Reference 2.1. */
export interface Report {
  /** The name of the file where it is not given. */
  readonly name?: string;
  /** In the run's workspace. */
  readonly path: string;
  /** What its content is, where the ending of the path does not say. */
  readonly type?: string;
  readonly description?: string;
  /** Nobody misses it. */
  readonly optional: boolean;
}

/** What must hold before a run's first step. Reference 2.3. */
export interface Dependencies {
  /** On the path of the machine that executes commands. */
  readonly commands: readonly string[];
  /** Paths, templates. */
  readonly files: readonly string[];
  /** The target is one of these kinds. */
  readonly target_types: readonly TargetType[];
  readonly variables: readonly { readonly name: string; readonly types: readonly TargetType[] }[];
  /** Conditions, all of which must hold. */
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

/** One module of a flow: a stored workflow by name (`path`, without folder and extension) or steps of its own. */
export interface FlowModule {
  readonly name: string;
  readonly path?: string;
  readonly steps?: readonly Step[];
  /** Templates, rendered when the run starts. */
  readonly params: Readonly<Record<string, string>>;
  readonly depends_on: readonly string[];
  /** JavaScript; the module is skipped where it is not true. */
  readonly condition?: string;
  readonly on_success?: readonly Action[];
  readonly on_error?: readonly Action[];
}

export type Trigger = CronTrigger | EventTrigger | WatchTrigger | ManualTrigger | WebhookTrigger;

interface TriggerBase {
  /** Unique in the workflow; `<type>-<position>` where the author gave none. */
  readonly name: string;
  readonly enabled: boolean;
  /** Run parameter -> expression (`event_data.a.b`, `event.topic`, else text). */
  readonly input: Readonly<Record<string, string>>;
}

export interface CronTrigger extends TriggerBase {
  readonly type: "cron";
  /** Five fields, as written. */
  readonly schedule: string;
  /** IANA name; UTC where the author gave none. */
  readonly timezone: string;
  /** What becomes of slots that nobody was there to fire: none, the last one (without a word), or each. */
  readonly misfire?: "none" | "last" | "all";
}

export interface EventTrigger extends TriggerBase {
  readonly type: "event";
  /** Exact or glob. */
  readonly topic: string;
  /** Conditions over `event`; all must hold. */
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

/** Says whether the workflow may be started by hand; not listed with the others. */
export interface ManualTrigger extends TriggerBase {
  readonly type: "manual";
}

/** Fired by requests to an address of its own. */
export interface WebhookTrigger extends TriggerBase {
  readonly type: "webhook";
  /** How a caller shows that it knows the secret: by sending it, by a signature, or not at all. */
  readonly auth: "key" | "hmac" | "hmac-body" | "none";
  /** How old a signed request may be; five minutes where the author gave nothing. */
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
  /** As written: the step whose commands or functions a run action repeats. Normalized into these. */
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
  /** Steps of the same list that it waits for; where any step names some, those that name none start at once. */
  readonly depends_on?: readonly string[];
  readonly decision?: Decision;
  readonly retry?: Retry;
}

/** What a step that failed is told: to be tried again. */
export interface Retry {
  /** Tries in all, the first included. */
  readonly max_attempts: number;
  /** Before the second try, milliseconds. */
  readonly delay: number;
  /** The delay of a try, as many times that of the one before. */
  readonly backoff: number;
}

/** What follows a step that succeeded. Reference 2.4. */
export interface Decision {
  /** A template; its text picks a case. */
  readonly switch?: string;
  readonly cases: Readonly<Record<string, DecisionCase>>;
  readonly default?: DecisionCase;
  /** All that hold are carried out; the last goto wins. */
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

/** Where a bash step runs that does not run where those of its module do. */
export interface OwnRunner {
  /** `host` is the worker itself, whatever the module says. */
  readonly step_runner?: "host" | "docker" | "ssh";
  readonly step_runner_config?: RemoteRunnerConfig;
}

export interface FunctionStep extends StepBase {
  readonly type: "function";
  readonly function?: string;
  readonly functions?: readonly string[];
  readonly parallel_functions?: readonly string[];
  /** Of a step that stands for the beginning of a module. */
  readonly gate?: {
    readonly given: Readonly<Record<string, string>>;
    readonly params: readonly Param[];
    readonly dependencies?: Dependencies;
  };
  /** Of a step that stands for the end of a module. */
  readonly reports?: readonly Report[];
}

export interface ParallelSteps extends StepBase {
  readonly type: "parallel-steps";
  readonly parallel_steps: readonly Step[];
}

export interface ForeachStep extends StepBase {
  readonly type: "foreach";
  /** A path, a template that gives a path or a list, or the list itself. */
  readonly input: string | readonly string[];
  readonly variable: string;
  /** JavaScript that makes of each item what the variable stands for. */
  readonly variable_pre_process?: string;
  readonly step: Step;
  /** How many items run at the same time; 1 where the author gave none. Taken from `parallel` or `threads`. */
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
  /** A file there, and where it is copied to when the commands succeeded. */
  readonly step_remote_file?: string;
  readonly host_output_file?: string;
}

/** All texts are templates. What the other runner alone knows is passed over. */
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
  /** Checked, and kept as written. */
  readonly messages?: readonly Readonly<Record<string, unknown>>[];
  readonly is_embedding: boolean;
  readonly embedding_input?: readonly string[];
  readonly llm_config?: Readonly<Record<string, unknown>>;
  readonly tools?: readonly Readonly<Record<string, unknown>>[];
  readonly tool_choice?: string | Readonly<Record<string, unknown>>;
  /** The answer is asked for in pieces, and collected. */
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
