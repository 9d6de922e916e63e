import type { NetworkPolicy } from "../settings/config.ts";

/** The scripts port: users' JavaScript, in a VM of its own inside a worker that can be ended. */

export interface ScriptRequest {
  /** Expression or statements; the value of the last is the result. */
  readonly code: string;
  /** JSON values that the code sees as global variables. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** Where relative paths of the file functions start. */
  readonly cwd: string;
  /** Folders besides `cwd` that functions may reach, absolute; none where it is left out. */
  readonly folders?: readonly string[];
  /** Which addresses requests of functions may go to; none that are private where it is left out. */
  readonly network?: NetworkPolicy;
  /** False: functions start no processes and publish nothing. */
  readonly commands?: boolean;
  /** Environment of the processes that functions start. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /**
   * Processor time that the code and its functions may use, milliseconds: waits for a command, a request, an answer or
   * `sleep` use none. Any where it is left out.
   */
  readonly cpuMs?: number;
  /** Requests with the same one share a VM while it lives; different ones never do. Use the run's id. */
  readonly isolate: string;
  /** Names the step in the environment of the processes that functions start. */
  readonly token: string;
  readonly signal?: AbortSignal;
  /**
   * Answers what functions ask of whoever runs the script (`what`: what they ask for), with a JSON value; what it
   * rejects with the function throws. Without it there is nobody to ask.
   */
  readonly ask?: Ask;
}

export type Ask = (what: string, input: unknown, signal: AbortSignal) => Promise<unknown>;

/** An event that the code asked for by `generate_event`; the caller publishes it with the step's result. */
export interface ScriptEvent {
  readonly workspace: string;
  readonly topic: string;
  readonly source: string;
  readonly data_type: string;
  /** A JSON object. */
  readonly data: Readonly<Record<string, unknown>>;
  /** The data is a record of this kind, and the event tells what became of it. */
  readonly tells?: "asset" | "vulnerability" | "artifact" | "totals";
}

export type ScriptOutcome =
  | {
      readonly ok: true;
      /** JSON value; undefined and functions become null. */
      readonly value: unknown;
      /** Why the code asked for the steps after this one not to be executed. */
      readonly skipped?: string;
      readonly events: readonly ScriptEvent[];
      readonly logs: readonly {
        readonly level: "debug" | "info" | "warn" | "error";
        readonly message: string;
      }[];
    }
  | {
      readonly ok: false;
      /** `failed`: the code threw or does not parse; the others: it was stopped. */
      readonly reason: "failed" | "timeout" | "cpu" | "memory" | "stack" | "aborted";
      readonly message: string;
      /** Why the code asked for the steps after this one not to be executed. */
      readonly skipped?: string;
      readonly events: readonly ScriptEvent[];
      readonly logs: readonly {
        readonly level: "debug" | "info" | "warn" | "error";
        readonly message: string;
      }[];
    };

export interface Scripts {
  run(request: ScriptRequest): Promise<ScriptOutcome>;
}
