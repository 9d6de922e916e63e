/** A call of a language model that cannot be made, or to which there is no usable answer. */
export class LlmFailed extends Error {
  /** `not_configured`: no provider; `invalid`: the request cannot be meant so; `failed`: no provider answered. */
  readonly fault: "not_configured" | "invalid" | "failed";
  constructor(fault: LlmFailed["fault"], message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "LlmFailed";
    this.fault = fault;
  }
}

/** One provider did not answer as hoped. */
export class CallFailed extends Error {
  /** Whether the same provider may answer the same request later. */
  readonly again: boolean;
  /** Whether another provider may answer it. */
  readonly elsewhere: boolean;
  /** How long it asks to be left alone, milliseconds. */
  readonly retryAfterMs: number | undefined;
  constructor(
    message: string,
    options: { again: boolean; elsewhere: boolean; retryAfterMs?: number | undefined; cause?: unknown },
  ) {
    super(message, { cause: options.cause });
    this.name = "CallFailed";
    this.again = options.again;
    this.elsewhere = options.elsewhere;
    this.retryAfterMs = options.retryAfterMs;
  }
}
