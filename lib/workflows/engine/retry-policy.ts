import { RETRY_DELAY_MS } from "../schema/limits.ts";
import type { Retry } from "../schema/types.ts";

/** Deliveries of a step's request before the step fails, without those that ended because the whole server stopped. */
export const ATTEMPTS_MAX = 10;
/** Maximum number of deliveries that may end because the whole server stops: bounds the loop. */
const INTERRUPTED_MAX = 1_000;

/**
 * Returns when a failed step is retried, milliseconds since the epoch; undefined if its `retry` allows no further try.
 * `tries` is the number of tries so far. Seed: workflow 2.7 (retry).
 */
export function nextRetryAt(retry: Retry | undefined, tries: number, now: number): number | undefined {
  if (retry === undefined || tries >= retry.max_attempts) return undefined;
  const delay = Math.min(RETRY_DELAY_MS, retry.delay * retry.backoff ** (tries - 1));
  return now + Math.round(delay);
}

/** Whether a step whose executor was lost is requested again. */
export const isRedeliverable = (attempt: number, interrupted: number): boolean =>
  attempt - interrupted <= ATTEMPTS_MAX && interrupted <= INTERRUPTED_MAX;

/** Returns how many times executors of a step were lost before it is given up. */
export const lostDeliveries = (attempt: number, interrupted: number): number =>
  Math.min(attempt - interrupted, ATTEMPTS_MAX) + Math.min(interrupted, INTERRUPTED_MAX);
