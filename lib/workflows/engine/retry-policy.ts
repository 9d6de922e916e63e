import { RETRY_DELAY_MS } from "../schema/limits.ts";
import type { Retry } from "../schema/types.ts";

/** Deliveries of a step's request before the step fails; those that ended with the whole server do not count. */
export const ATTEMPTS_MAX = 10;
/** Deliveries that may end with the whole server: no loop is endless. */
const INTERRUPTED_MAX = 1_000;

/**
 * When a step that failed is tried again, milliseconds since the epoch; undefined if its `retry` allows no further try.
 * `tries` counts those so far. Seed: workflow 2.7 (retry).
 */
export function nextRetryAt(retry: Retry | undefined, tries: number, now: number): number | undefined {
  if (retry === undefined || tries >= retry.max_attempts) return undefined;
  const delay = Math.min(RETRY_DELAY_MS, retry.delay * retry.backoff ** (tries - 1));
  return now + Math.round(delay);
}

/** Whether a step whose executor was lost is requested again. */
export const isRedeliverable = (attempt: number, interrupted: number): boolean =>
  attempt - interrupted <= ATTEMPTS_MAX && interrupted <= INTERRUPTED_MAX;

/** How often executors of a step were lost when it is given up. */
export const lostDeliveries = (attempt: number, interrupted: number): number =>
  Math.min(attempt - interrupted, ATTEMPTS_MAX) + Math.min(interrupted, INTERRUPTED_MAX);
