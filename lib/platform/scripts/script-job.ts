import type { MessagePort } from "node:worker_threads";
import type { ScriptMessage, ScriptReply } from "./script-messages.ts";

/** What the pool gives a script thread at its start. */
export interface ThreadData {
  readonly wasm: WebAssembly.Module;
  /** Address of the module with the functions that scripts may call. */
  readonly functionsModule: string;
  /** 32-bit cells: STOP_CELL, REPLY_CELL, WAITS_CELL and WAITED_CELL. */
  readonly cells: SharedArrayBuffer;
  /** Answers to exec requests come here. */
  readonly execPort: MessagePort;
  /** VMs that the thread keeps for the runs served last. */
  readonly keptGuests: number;
  /** How far the thread stands back from others for the processor, 0 to 19. */
  readonly niceness: number;
}

/** Not 0 once the evaluation under way is to stop. */
export const STOP_CELL = 0;
/** Changed and notified when an answer waits at the exec port, or the evaluation is to stop. */
export const REPLY_CELL = 1;

/** 1 while the evaluation under way waits for something outside of it. */
export const WAITS_CELL = 2;
/** How long it has waited, up to the last time that it went on, milliseconds. */
export const WAITED_CELL = 3;

/** An evaluation; its environment is whole here. */
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
  /** Undefined when it exited with 0 and all its output is here. */
  readonly failure?: string;
  readonly stdout: string;
}

/** Work that a function waits for: one of the module's `tasks`. */
export interface TaskRequest {
  readonly name: string;
  readonly input: unknown;
  /** Milliseconds; 0 means no limit. */
  readonly timeoutMs: number;
}

/** How it ended; `value` is a JSON value. */
export type TaskResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string };

/** Runs `bash -c command` for the step that the token names. Never rejects. */
export type Exec = (request: ExecRequest, token: string, signal: AbortSignal) => Promise<ExecResult>;

export type FromThread =
  | { readonly kind: "ready" }
  | { readonly kind: "exec"; readonly request: ExecRequest }
  | { readonly kind: "task"; readonly request: TaskRequest }
  | { readonly kind: "ask"; readonly request: TaskRequest }
  | { readonly kind: "done"; readonly reply: ScriptReply };
