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
  /** The step's workspace: relative paths start here; absolute ones are taken as they are. */
  readonly cwd: string;
  /** The step's environment, as its processes see it. */
  readonly env: Readonly<Record<string, string>>;
  readonly token: string;
  /** Throws when one script asks for too many. */
  emitEvent(event: GeneratedEvent): void;
  log(level: "debug" | "info" | "warn" | "error", message: string): void;
  /** Runs `bash -c command` and waits; `failure` says why it did not succeed. */
  exec(
    command: string,
    env?: Readonly<Record<string, string>>,
  ): { readonly failure?: string; readonly stdout: string };
  /** Waits, but not longer than the script may run. */
  sleep(milliseconds: number): void;
}

/** One function of the library. */
export interface LibraryFunction {
  readonly group: string;
  /** As documentation shows them; a trailing `?` marks one that may be left out. */
  readonly params: readonly string[];
  readonly returns: "string" | "boolean" | "number" | "string[]" | "any" | "nothing";
  /** One line of documentation. */
  readonly summary: string;
  /** What the script gets when `run` throws; the reason is logged as a warning. */
  readonly failure?: string | boolean | number | readonly string[] | Readonly<Record<string, number>>;
  /** Loads what `run` needs. */
  readonly prepare?: () => Promise<void>;
  /** Arguments are JSON values, those left out are missing. */
  run(args: readonly unknown[], context: FunctionContext): unknown;
}

/** An error that a script must see (it can catch it), where a quiet failure value would hide a loss. */
export class ScriptError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ScriptError";
  }
}
