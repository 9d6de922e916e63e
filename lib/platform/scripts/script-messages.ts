import type { NetworkPolicy } from "../../settings/config.ts";
import type { ScriptEvent, ScriptOutcome, ScriptRequest } from "../scripts.ts";

/** A script in a message to the thread that evaluates it. */
export interface ScriptMessage {
  readonly code: string;
  /** A JSON object as text: it is parsed only once, inside the VM. */
  readonly variables: string;
  readonly cwd: string;
  readonly folders?: readonly string[];
  readonly commands?: boolean;
  readonly network?: NetworkPolicy;
  readonly env: Readonly<Record<string, string>>;
  /** Milliseconds; 0 means no limit. */
  readonly timeoutMs: number;
  readonly cpuMs?: number;
  readonly isolate: string;
  readonly token: string;
}

export type StopReason = "failed" | "timeout" | "cpu" | "memory" | "stack" | "aborted";
export type LogLevel = "debug" | "info" | "warn" | "error";
export interface ScriptLogLine {
  readonly level: LogLevel;
  readonly message: string;
}

interface ScriptTrace {
  readonly skipped?: string;
  readonly events: readonly ScriptEvent[];
  readonly logs: readonly ScriptLogLine[];
}
/** The port's outcome with the value as JSON text. */
export type ScriptReply = ScriptTrace &
  (
    | { readonly ok: true; readonly json: string }
    | { readonly ok: false; readonly reason: StopReason; readonly message: string }
  );

/** The request without its signal and functions. Throws TypeError if a variable is not a JSON value. */
export function toMessage({
  signal: _signal,
  callHost: _ask,
  beforeEffects: _before,
  ...request
}: ScriptRequest): ScriptMessage {
  return { ...request, variables: JSON.stringify(request.variables) };
}

export function toOutcome(reply: ScriptReply): ScriptOutcome {
  if (!reply.ok) return reply;
  const { json, ...rest } = reply;
  return { ...rest, value: JSON.parse(json) };
}
