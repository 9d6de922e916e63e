/**
 * Errors of the caller, shared by both services: each code with its status. Statuses outside the contract's list are
 * used only if none in the list fits. Seed: workflow 7.
 */
export const ERROR_STATUS = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  precondition_failed: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  too_many_requests: 429,
  internal: 500,
  bad_gateway: 502,
  insufficient_storage: 507,
  unavailable: 503,
  gateway_timeout: 504,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** The error that services throw for clients. Its message is shown to the caller unchanged. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly retryAfterSeconds: number | undefined;
  /** Replaces the service's own error body. */
  readonly body: unknown;
  /** Allowed methods, for an unsupported method. */
  readonly allowed: readonly string[] | undefined;
  /** Whether the error is part of normal operation, such as a start, so that its response is logged as information. */
  readonly isExpected: boolean;
  constructor(
    code: ErrorCode,
    message: string,
    options?: {
      cause?: unknown;
      retryAfterSeconds?: number;
      body?: unknown;
      allowed?: readonly string[];
      isExpected?: boolean;
    },
  ) {
    super(message, options);
    this.name = "ApiError";
    this.code = code;
    this.retryAfterSeconds = options?.retryAfterSeconds;
    this.body = options?.body;
    this.allowed = options?.allowed;
    this.isExpected = options?.isExpected ?? false;
  }
}

const STORAGE_FULL = [
  "insufficient_storage",
  "The storage is full; nothing was written. Free some space and try again",
] as const;
const STORAGE_READ_ONLY = [
  "insufficient_storage",
  "The storage is not writable; nothing was written. Check that it is mounted read-write",
] as const;

const PLATFORM_MESSAGES: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  throttled: ["too_many_requests", "The service is busy, try again shortly"],
  unavailable: ["unavailable", "A required service does not respond, try again shortly"],
  limit_exceeded: ["bad_request", "The request exceeds a limit of the platform"],
  storage_full: STORAGE_FULL,
  storage_read_only: STORAGE_READ_ONLY,
  storage_damaged: ["unavailable", "The storage is damaged; the server's log has details"],
  // Errors of files beside the database.
  ENOSPC: STORAGE_FULL,
  EDQUOT: STORAGE_FULL,
  EROFS: STORAGE_READ_ONLY,
  secrets_unreadable: [
    "internal",
    "The secrets file must be a regular file that only its owner can read: chmod 600",
  ],
};

/** Converts any thrown value to ApiError; an unexpected error reveals no details to the caller. */
export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  const code = (thrown as { code?: unknown } | null)?.code;
  const known =
    typeof code === "string" && Object.hasOwn(PLATFORM_MESSAGES, code) ? PLATFORM_MESSAGES[code] : undefined;
  if (known !== undefined) return new ApiError(known[0], known[1], { cause: thrown });
  return new ApiError("internal", "Internal server error", { cause: thrown });
}
