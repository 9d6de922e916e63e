/** A failure that a redelivery cannot fix: recorded as the step's failure. */
export class StepFailedError extends Error {
  /** Values that the failed step still sets, for its handlers and later steps. */
  readonly exports: Readonly<Record<string, unknown>>;
  constructor(message: string, options?: { cause?: unknown; exports?: Readonly<Record<string, unknown>> }) {
    super(message, options);
    this.name = "StepFailedError";
    this.exports = options?.exports ?? {};
  }
}

/** The run has ended, so the result of the step is not needed. */
export class StepCancelledError extends Error {
  constructor() {
    super("cancelled");
    this.name = "StepCancelledError";
  }
}

/** Longest error text that is recorded, characters. */
const ERROR_MAX_LENGTH = 4_000;

/**
 * Returns the recorded text of an error. Platform faults are rethrown by the caller: they are no outcome of the step.
 */
export function failureText(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return text.length > ERROR_MAX_LENGTH ? `${text.slice(0, ERROR_MAX_LENGTH)} [truncated]` : text;
}
