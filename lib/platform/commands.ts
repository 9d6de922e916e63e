/** The commands port: processes of workflow steps. */

export interface CommandRequest {
  /** Program and arguments. No shell interprets them unless the program is a shell. */
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The whole environment of the child, except PATH, HOME, LANG and TMPDIR, which are added if missing. */
  readonly env: Readonly<Record<string, string>>;
  /** Files that receive standard output and standard error; existing files are replaced. Standard input is empty. */
  readonly stdoutPath: string;
  readonly stderrPath: string;
  /** 0 means no limit. */
  readonly timeoutMs: number;
  /** Aborting it ends the whole process group. */
  readonly signal?: AbortSignal;
  /** Identifies the step in the environment of its processes, so that leftover processes can be found and ended. */
  readonly token: string;
}

export interface CommandOutcome {
  /** Null if a signal ended the process. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  readonly aborted: boolean;
  readonly durationMs: number;
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
}

export interface Commands {
  /** Rejects with code `command_not_started` if the program cannot be started. */
  run(request: CommandRequest): Promise<CommandOutcome>;
}
