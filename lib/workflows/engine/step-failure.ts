/** A step that cannot succeed by being tried again as it is: recorded as its failure. */
export class StepFailed extends Error {
  /** Values that the step leaves nevertheless, for its handlers and later steps. */
  readonly exports: Readonly<Record<string, unknown>>;
  constructor(message: string, options?: { cause?: unknown; exports?: Readonly<Record<string, unknown>> }) {
    super(message, options);
    this.name = "StepFailed";
    this.exports = options?.exports ?? {};
  }
}

/** The run is over: nobody waits for the step any more. */
export class StepCancelled extends Error {
  constructor() {
    super("cancelled");
    this.name = "StepCancelled";
  }
}

/** Longest error text that is recorded, characters. */
const ERROR_MAX_LENGTH = 4_000;

/** What is recorded of an error. Platform faults go on upwards: they say nothing of the step. */
export function failureText(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return text.length > ERROR_MAX_LENGTH ? `${text.slice(0, ERROR_MAX_LENGTH)} [truncated]` : text;
}
