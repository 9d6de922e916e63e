/** The commands port: processes of workflow steps. */

export interface CommandRequest {
  /** Program and arguments; nothing is looked at by a shell unless the program is one. */
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The whole environment of the child, but for what is added (PATH, HOME, LANG, TMPDIR where not given). */
  readonly env: Readonly<Record<string, string>>;
  /** Files that take standard output and standard error, replaced. Standard input is empty. */
  readonly stdoutPath: string;
  readonly stderrPath: string;
  /** 0 means no limit. */
  readonly timeoutMs: number;
  /** Ends the whole process group. */
  readonly signal?: AbortSignal;
  /** Names the step in the children's environment, so that what it leaves behind can be found and ended. */
  readonly token: string;
}

export interface CommandOutcome {
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  readonly aborted: boolean;
  readonly durationMs: number;
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
}

export interface Commands {
  /** Rejects with code `command_not_started` when the program cannot be started at all. */
  run(request: CommandRequest): Promise<CommandOutcome>;
}
