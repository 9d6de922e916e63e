import { PlatformFault, type PlatformFaultCode } from "../faults.ts";

const THROTTLES = new Set([
  "ThrottlingException",
  "ThrottledException",
  "Throttling",
  "ThrottlingError",
  "ProvisionedThroughputExceededException",
  "ProvisionedThroughputExceeded",
  "RequestLimitExceeded",
  "RequestThrottled",
  "RequestThrottledException",
  "TooManyRequestsException",
  "TransactionInProgressException",
  "TransactionConflictException",
  "TransactionConflict",
  "LimitExceededException",
  "OverLimit",
  "SlowDown",
  "KMSThrottlingException",
  "KmsThrottled",
]);

const PASSING = new Set([
  "InternalFailure",
  "InternalError",
  "InternalException",
  "InternalServerError",
  "ServiceUnavailable",
  "ServiceUnavailableException",
  "TimeoutError",
  "RequestTimeout",
]);

const TOO_LARGE = new Set([
  "InvalidMessageContents",
  "BatchRequestTooLong",
  "EntityTooLarge",
  "ItemCollectionSizeLimitExceededException",
  "ItemCollectionSizeLimitExceeded",
]);
/**
 * DynamoDB's messages for an item or key that is too large; the error name is ValidationException, as for other errors.
 */
const TOO_LARGE_TEXT =
  /item size|maximum allowed size|collection size|size of hashkey|size of rangekey|aggregated size|number overflow|number underflow|magnitude|nesting levels/i;

/** The platform's code for an error name, or for the error code of one batch entry. */
export function codeOf(name: string | undefined, message = ""): PlatformFaultCode | undefined {
  if (name === undefined) return undefined;
  if (THROTTLES.has(name)) return "throttled";
  if (PASSING.has(name)) return "unavailable";
  if (TOO_LARGE.has(name)) return "limit_exceeded";
  return /^Validation/.test(name) && TOO_LARGE_TEXT.test(message) ? "limit_exceeded" : undefined;
}

const NETWORK = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EADDRNOTAVAIL",
  "EMFILE",
  "ERR_STREAM_PREMATURE_CLOSE",
]);

function classify(error: Error): PlatformFaultCode | undefined {
  const known = codeOf(error.name, error.message);
  if (known !== undefined) return known;
  const { $metadata, code } = error as { $metadata?: { httpStatusCode?: number }; code?: unknown };
  const status = $metadata?.httpStatusCode;
  if (status === 429) return "throttled";
  if (status !== undefined && status >= 500) return "unavailable";
  return typeof code === "string" && NETWORK.has(code) ? "unavailable" : undefined;
}

/** Returns the platform fault for an AWS error, and any other error unchanged. */
export function toFault(error: unknown): unknown {
  if (error instanceof PlatformFault || !(error instanceof Error)) return error;
  const code = classify(error);
  return code === undefined
    ? error
    : new PlatformFault(code, `${error.name}: ${error.message}`, { cause: error });
}

/** Calls AWS and converts the errors that are platform faults. */
export async function withFaults<Result>(call: () => Promise<Result>): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    throw toFault(error);
  }
}
