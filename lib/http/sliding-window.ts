import { ApiError } from "../errors.ts";
import type { ThrottleRate } from "../settings/throttle-rates.ts";

/** Milliseconds until one more request is allowed; 0 if it is allowed now. `times` are in order. */
export function waitOf({ count, periodMs }: ThrottleRate, times: readonly number[], now: number): number {
  const oldest = times[times.length - count];
  return oldest === undefined ? 0 : Math.max(0, oldest + periodMs - now);
}

/** The error of a request that exceeds a rate. Reference: documents 1.1. */
export function throttled(seconds: number): ApiError {
  const wait = `${seconds} second${seconds === 1 ? "" : "s"}`;
  return new ApiError("too_many_requests", `Request was throttled. Expected available in ${wait}.`, {
    retryAfterSeconds: seconds,
  });
}
