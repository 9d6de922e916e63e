import type { MessagePort } from "node:worker_threads";
import type { ScriptMessage, ScriptReply } from "./script-messages.ts";

/** Start parameters of a script thread. */
export interface ThreadData {
  readonly wasm: WebAssembly.Module;
  /** URL of the module with the functions that scripts may call. */
  readonly functionsModule: string;
  /** 32-bit cells: STOP_CELL, REPLY_CELL, WAITS_CELL and WAITED_CELL. */
  readonly cells: SharedArrayBuffer;
  /** Receives the results of exec requests. */
  readonly execPort: MessagePort;
  /** Number of VMs that the thread keeps for its most recent runs. */
  readonly keptGuests: number;
  /** Nice value of the thread, 0 to 19. */
  readonly niceness: number;
}

/** Not 0 if the current evaluation must stop. */
export const STOP_CELL = 0;
/** Changed and notified when a result is available at the exec port, or the evaluation must stop. */
export const REPLY_CELL = 1;

/** 1 while the current evaluation waits for the host. */
export const WAITS_CELL = 2;
/** Milliseconds that it has waited, excluding a current wait. */
export const WAITED_CELL = 3;

/** An evaluation, with its whole environment. */
export type ScriptJob = ScriptMessage;

export interface ExecRequest {
  readonly command: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Milliseconds; 0 means no limit. */
  readonly timeoutMs: number;
}

/** How a command of `exec` ended. */
export interface ExecResult {
  /** Undefined if it exited with 0 and its output is complete. */
  readonly failure?: string;
  readonly stdout: string;
}

/** A call of one of the module's `tasks`, which a function waits for. */
export interface TaskRequest {
  readonly name: string;
  readonly input: unknown;
  /** Milliseconds; 0 means no limit. */
  readonly timeoutMs: number;
}

/** The outcome of a task; `value` is a JSON value. */
export type TaskResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string };

/** Runs `bash -c command` for the step that the token identifies. Never rejects. */
export type Exec = (request: ExecRequest, token: string, signal: AbortSignal) => Promise<ExecResult>;

export type FromThread =
  | { readonly kind: "ready" }
  | { readonly kind: "exec"; readonly request: ExecRequest }
  | { readonly kind: "task"; readonly request: TaskRequest }
  | { readonly kind: "ask"; readonly request: TaskRequest }
  | { readonly kind: "done"; readonly reply: ScriptReply };
