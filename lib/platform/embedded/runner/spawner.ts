import { statSync } from "node:fs";
import { PlatformFault } from "../../faults.ts";

export interface SpawnRequest {
  /** Looked for along `PATH` of `env` unless it has a slash; also the child's own first argument. */
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The child's whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Open file descriptors, which stay open here. Standard input is empty. */
  readonly stdout: number;
  readonly stderr: number;
}

/** How a process ended: by itself with a code, or by a signal. */
export interface Exit {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

export interface Started {
  /** Of the process, and of the session and the process group that it leads. */
  readonly pid: number;
  readonly exited: Promise<Exit>;
}

/** Starts programs, each the leader of a session of its own, with default signal handling. */
export interface Spawner {
  /** Rejects with PlatformFault `command_not_started`. */
  spawn(request: SpawnRequest): Promise<Started>;
  /** Looks after no further process. Those under way go on, and their ends are not told. */
  close(): void;
}

export function notStarted(cause: unknown): PlatformFault {
  const detail = cause instanceof Error ? cause.message : String(cause);
  return new PlatformFault("command_not_started", detail, { cause });
}

/** Throws PlatformFault `command_not_started`: without this check a missing folder reads like a missing program. */
export function checkFolder(cwd: string): void {
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) throw notStarted(`no such folder: ${cwd}`);
}
