/** A language model call that is invalid or has no usable response. */
export class LlmError extends Error {
  /**
   * `not_configured`: no provider; `invalid`: the request is invalid; `failed`: no provider responded; `busy`: it limits
   * its callers; `timed_out`: it did not respond in time; `refused`, `empty`: it responded without an answer.
   */
  readonly fault: "not_configured" | "invalid" | "failed" | "busy" | "timed_out" | "refused" | "empty";
  /** The delay that a busy provider requests, milliseconds. */
  readonly retryAfterMs: number | undefined;
  constructor(
    fault: LlmError["fault"],
    message: string,
    options?: { cause?: unknown; retryAfterMs?: number | undefined },
  ) {
    super(message, { cause: options?.cause });
    this.name = "LlmError";
    this.fault = fault;
    this.retryAfterMs = options?.retryAfterMs;
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
  /** The status of its response; undefined without one. */
  readonly status: number | undefined;
  constructor(
    message: string,
    options: {
      again: boolean;
      elsewhere: boolean;
      retryAfterMs?: number | undefined;
      status?: number | undefined;
      cause?: unknown;
    },
  ) {
    super(message, { cause: options.cause });
    this.name = "ProviderCallError";
    this.again = options.again;
    this.elsewhere = options.elsewhere;
    this.retryAfterMs = options.retryAfterMs;
    this.status = options.status;
  }
}
