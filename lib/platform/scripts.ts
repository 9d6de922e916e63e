import type { NetworkPolicy } from "../settings/config.ts";

/** The scripts port: runs users' JavaScript in its own VM inside a worker that can be terminated. */

export interface ScriptRequest {
  /** Expression or statements; the value of the last one is the result. */
  readonly code: string;
  /** JSON values that the code accesses as global variables. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** Base folder of relative paths in file functions. */
  readonly cwd: string;
  /** Absolute paths of folders besides `cwd` that functions may access; none by default. */
  readonly folders?: readonly string[];
  /** Addresses that functions may send requests to; by default no private addresses. */
  readonly network?: NetworkPolicy;
  /** False: functions start no processes and publish no events. */
  readonly commands?: boolean;
  /** Environment of the processes that functions start. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /**
   * CPU time of the code and its functions in milliseconds; waiting for a command, a request, a host call or `sleep`
   * does not count. Unlimited by default.
   */
  readonly cpuMs?: number;
  /** Requests with the same value may share a VM; requests with different values never do. Use the run's id. */
  readonly isolate: string;
  /** Identifies the step in the environment of the processes that functions start. */
  readonly token: string;
  readonly signal?: AbortSignal;
  /** Awaited before the script can have effects outside of its VM. */
  readonly beforeEffects?: () => Promise<void>;
  /**
   * Handles host calls of functions: `what` names the call, the result is a JSON value, and the function throws what
   * the promise rejects with. Without it, host calls are unavailable.
   */
  readonly callHost?: CallHost;
}

export type CallHost = (what: string, input: unknown, signal: AbortSignal) => Promise<unknown>;

/** An event that the code requested with `generate_event`; the caller publishes it with the step's result. */
export interface ScriptEvent {
  readonly workspace: string;
  readonly topic: string;
  readonly source: string;
  readonly data_type: string;
  /** A JSON object. */
  readonly data: Readonly<Record<string, unknown>>;
  /** The kind of record in `data`; the event reports a change of it. */
  readonly effect?: "asset" | "vulnerability" | "artifact" | "totals";
}

export type ScriptOutcome =
  | {
      readonly ok: true;
      /** JSON value; undefined and functions become null. */
      readonly value: unknown;
      /** Reason the code gave for skipping the remaining steps. */
      readonly skipped?: string;
      readonly events: readonly ScriptEvent[];
      readonly logs: readonly {
        readonly level: "debug" | "info" | "warn" | "error";
        readonly message: string;
      }[];
    }
  | {
      readonly ok: false;
      /** `failed`: the code threw or does not parse. Otherwise the platform stopped it. */
      readonly reason: "failed" | "timeout" | "cpu" | "memory" | "stack" | "aborted";
      readonly message: string;
      /** Reason the code gave for skipping the remaining steps. */
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
