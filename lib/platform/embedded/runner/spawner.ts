import { statSync } from "node:fs";
import { PlatformFault } from "../../faults.ts";

export interface SpawnRequest {
  /** Searched along `PATH` of `env` unless it contains a slash; also the child's first argument. */
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The child's whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Open file descriptors, which the caller closes. Standard input is empty. */
  readonly stdout: number;
  readonly stderr: number;
  /** An open file descriptor that the child gets as its descriptor 3. */
  readonly channel?: number;
}

/** How a process ended: with an exit code, or by a signal. */
export interface ProcessExit {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

export interface StartedProcess {
  /** Id of the process, and of the session and process group that it leads. */
  readonly pid: number;
  readonly exited: Promise<ProcessExit>;
}

/** Starts programs with default signal handling, each as the leader of a new session. */
export interface Spawner {
  /** Rejects with PlatformFault `command_not_started`. */
  spawn(request: SpawnRequest): Promise<StartedProcess>;
  /** Stops watching processes. Running processes continue, and their ends are not reported. */
  close(): void;
}

export function startFailure(cause: unknown): PlatformFault {
  const detail = cause instanceof Error ? cause.message : String(cause);
  return new PlatformFault("command_not_started", detail, { cause });
}

/**
 * Throws PlatformFault `command_not_started`: without this check, a missing folder would be reported as a missing
 * program.
 */
export function checkFolder(cwd: string): void {
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
    throw startFailure(`the folder ${cwd} does not exist`);
}
