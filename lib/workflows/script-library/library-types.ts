/** An event that a script asks for; published with its step's result. */
export interface GeneratedEvent {
  readonly workspace: string;
  readonly topic: string;
  readonly source: string;
  readonly data_type: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** The data is a record of this kind to bring up to date: what becomes of it names the event, or that there is none. */
  readonly tells?: "asset" | "vulnerability" | "artifact" | "totals";
}

/** What the runner gives a function besides its arguments. */
export interface FunctionContext {
  /** The step's workspace: relative paths start here. */
  readonly cwd: string;
  /** Folders besides it that functions may reach. Absolute. */
  readonly folders?: readonly string[];
  /** Which addresses requests may go to; none that are private where it is left out. */
  readonly network?: {
    readonly privateAddresses: "allow" | "deny";
    readonly loopback: "as private" | "deny";
  };
  /** The step's environment, as its processes see it. */
  readonly env: Readonly<Record<string, string>>;
  readonly token: string;
  /** Throws when one script asks for too many. */
  emitEvent(event: GeneratedEvent): void;
  log(level: "debug" | "info" | "warn" | "error", message: string): void;
  /** Notes that the steps after this one are not wanted; the first message counts. */
  skip(message: string): void;
  /** Runs `bash -c command` and waits; `failure` says why it did not succeed. */
  exec(
    command: string,
    env?: Readonly<Record<string, string>>,
  ): { readonly failure?: string; readonly stdout: string };
  /** Waits, but not longer than the script may run. */
  sleep(milliseconds: number): void;
  /** Waits for work that cannot be done at once, one of `tasks` by its name. Throws what it fails with. */
  await(task: string, input: unknown): unknown;
  /** Asks whoever runs the script for what only it has: records, hosts, secrets. Throws what that fails with. */
  ask(what: string, input: unknown): unknown;
}

/** Work of a function that takes time, done beside the script that waits for it; values go in and out as JSON. */
export type Task = (input: unknown, signal: AbortSignal) => Promise<unknown>;

/** One function of the library. */
export interface LibraryFunction {
  readonly group: string;
  /** As documentation shows them; a trailing `?` marks one that may be left out. */
  readonly params: readonly string[];
  readonly returns: "string" | "boolean" | "number" | "string[]" | "object" | "any" | "nothing";
  /** One line of documentation. */
  readonly summary: string;
  /** A call as documentation shows it, where its parameters do not say enough. */
  readonly example?: string;
  /** It is there only to say that this installation cannot do it. */
  readonly unavailable?: true;
  /** What the script gets when `run` throws; the reason is logged as a warning. */
  readonly failure?: string | boolean | number | readonly string[] | Readonly<Record<string, number>>;
  /**
   * It asks whether something exists or how much of it there is: a path outside the folders that functions may reach is
   * like one that does not exist, so the script gets `failure`. Without it such a path is an error that the script sees.
   */
  readonly unreachableIsMissing?: true;
  /** Loads what `run` needs. */
  readonly prepare?: () => Promise<void>;
  /** Arguments are JSON values, those left out are missing. Gives a JSON value, or `EvaluatedParts`. */
  run(args: readonly unknown[], context: FunctionContext): unknown;
}

/**
 * An error that a script must see (it can catch it), where a quiet failure value would hide a loss. Known by its
 * name: the platform throws such errors too.
 */
export class ScriptError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ScriptError";
  }
}

/** The path is outside the folders that functions may reach, or a link that leads nowhere. */
export class UnreachablePathError extends ScriptError {}

/**
 * What a function gives whose result takes parts that the script's own engine evaluates: `finish` makes the
 * result of what each came to, in their order.
 */
export class EvaluatedParts {
  readonly codes: readonly string[];
  readonly finish: (results: readonly EvaluatedPart[]) => unknown;
  constructor(codes: readonly string[], finish: (results: readonly EvaluatedPart[]) => unknown) {
    this.codes = codes;
    this.finish = finish;
  }
}

/** A JSON value, or why there is none. */
export type EvaluatedPart = { readonly value: unknown } | { readonly error: string };
