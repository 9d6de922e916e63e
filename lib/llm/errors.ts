/** A language model call that is invalid or has no usable response. */
export class LlmError extends Error {
  /** `not_configured`: no provider; `invalid`: the request is invalid; `failed`: no provider responded. */
  readonly fault: "not_configured" | "invalid" | "failed";
  constructor(fault: LlmError["fault"], message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "LlmError";
    this.fault = fault;
  }
}

/** One provider failed. */
export class ProviderCallError extends Error {
  /** Whether the same provider may accept the same request later. */
  readonly again: boolean;
  /** Whether another provider may accept it. */
  readonly elsewhere: boolean;
  /** The retry delay that the provider requests, milliseconds. */
  readonly retryAfterMs: number | undefined;
  constructor(
    message: string,
    options: { again: boolean; elsewhere: boolean; retryAfterMs?: number | undefined; cause?: unknown },
  ) {
    super(message, { cause: options.cause });
    this.name = "ProviderCallError";
    this.again = options.again;
    this.elsewhere = options.elsewhere;
    this.retryAfterMs = options.retryAfterMs;
  }
}
