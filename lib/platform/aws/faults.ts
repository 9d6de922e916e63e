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
/** What DynamoDB says when an item or a key is too much, among all that it calls a ValidationException. */
const TOO_LARGE_TEXT =
  /item size|maximum allowed size|collection size|size of hashkey|size of rangekey|aggregated size|number overflow|number underflow|magnitude|nesting levels/i;

/** The platform's word for an error's name, or for the code that a service gives one entry of a batch. */
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

/** The error as callers should see it: a platform's fault where it is one, else as it was. */
export function asFault(error: unknown): unknown {
  if (error instanceof PlatformFault || !(error instanceof Error)) return error;
  const code = classify(error);
  return code === undefined
    ? error
    : new PlatformFault(code, `${error.name}: ${error.message}`, { cause: error });
}

/** Runs a call to AWS; what it throws is a platform's fault where it is one. */
export async function faulting<Result>(call: () => Promise<Result>): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    throw asFault(error);
  }
}
