export const EXIT_FAILURE = 1;
export const EXIT_USAGE = 2;
export const EXIT_CANCELLED = 130;

/** The command line is wrong: exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The command failed: exit code 1 unless another is given. The hint says what the user can do about it. */
export class CommandFailure extends Error {
  override readonly name: string = "CommandFailure";
  readonly hint: string | undefined;
  readonly exitCode: number;
  constructor(message: string, hint?: string, exitCode: number = EXIT_FAILURE) {
    super(message);
    this.hint = hint;
    this.exitCode = exitCode;
  }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
