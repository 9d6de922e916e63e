/** An event that a script emits; published with its step's result. */
export interface GeneratedEvent {
  readonly workspace: string;
  readonly topic: string;
  readonly source: string;
  readonly data_type: string;
  readonly data: Readonly<Record<string, unknown>>;
  /**
   * The data describes a record of this kind to create or update; the outcome determines the event's name, or that
   * there is no event.
   */
  readonly effect?: "asset" | "vulnerability" | "artifact" | "totals";
}

/** What the runner passes to a function besides its arguments. */
export interface FunctionContext {
  /** The step's workspace: relative paths start here. */
  readonly cwd: string;
  /** Further folders that functions may access. Absolute. */
  readonly folders?: readonly string[];
  /** Addresses that requests may reach; by default no private ones. */
  readonly network?: {
    readonly privateAddresses: "allow" | "deny";
    readonly loopback: "as private" | "deny";
  };
  /** The step's environment, as its processes see it. */
  readonly env: Readonly<Record<string, string>>;
  readonly token: string;
  /** Throws if the script exceeds its limit of events. */
  emitEvent(event: GeneratedEvent): void;
  log(level: "debug" | "info" | "warn" | "error", message: string): void;
  /** Skips the remaining steps; the first message is used. */
  skip(message: string): void;
  /** Runs `bash -c command` and waits; `failure` is the reason if it failed. */
  exec(
    command: string,
    env?: Readonly<Record<string, string>>,
  ): { readonly failure?: string; readonly stdout: string };
  /** Waits, at most until the script's timeout. */
  sleep(milliseconds: number): void;
  /** Waits for a task, one of `tasks` by its name. Throws the task's error. */
  await(task: string, input: unknown): unknown;
  /** Calls the host, which has records, other hosts and secrets. Throws the host's error. */
  ask(what: string, input: unknown): unknown;
}

/** Asynchronous work of a function, done while the script waits; input and output are JSON values. */
export type Task = (input: unknown, signal: AbortSignal) => Promise<unknown>;

/** One function of the library. */
export interface LibraryFunction {
  readonly group: string;
  /** As documented; a trailing `?` marks an optional parameter. */
  readonly params: readonly string[];
  readonly returns: "string" | "boolean" | "number" | "string[]" | "object" | "any" | "nothing";
  /** One line of documentation. */
  readonly summary: string;
  /** A documented example call, if the parameters are not self-explanatory. */
  readonly example?: string;
  /** Listed only to explain that this installation does not support it. */
  readonly unavailable?: true;
  /** The result if `run` throws; the reason is logged as a warning. */
  readonly failure?: string | boolean | number | readonly string[] | Readonly<Record<string, number>>;
  /**
   * Whether the function tests existence or size: a path outside the folders that functions may access is then treated
   * as missing, and the script gets `failure`. Otherwise such a path is an error in the script.
   */
  readonly unreachableIsMissing?: true;
  /** Loads the dependencies of `run`. */
  readonly prepare?: () => Promise<void>;
  /** Arguments are JSON values; omitted ones are missing. Returns a JSON value, or `EvaluatedParts`. */
  run(args: readonly unknown[], context: FunctionContext): unknown;
}

/**
 * An error that is thrown in the script, which can catch it; used where a failure value would hide a loss. Identified
 * by its name, since the platform throws such errors too.
 */
export class ScriptError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ScriptError";
  }
}

/** The path is outside the folders that functions may access, or is a dangling link. */
export class UnreachablePathError extends ScriptError {}

/**
 * The result of a function that contains parts for the script's own engine to evaluate: `finish` builds the result
 * from the values of the parts, in order.
 */
export class EvaluatedParts {
  readonly codes: readonly string[];
  readonly finish: (results: readonly EvaluatedPart[]) => unknown;
  constructor(codes: readonly string[], finish: (results: readonly EvaluatedPart[]) => unknown) {
    this.codes = codes;
    this.finish = finish;
  }
}

/** The JSON value of a part, or its error. */
export type EvaluatedPart = { readonly value: unknown } | { readonly error: string };
