import { setTimeout as sleep } from "node:timers/promises";

/** The outcome of an attempt that a concurrent change made fail. */
export const CONFLICT: unique symbol = Symbol("conflict");
/** The outcome of an attempt that did part of the work: the next one follows at once and counts as the first. */
export const PROGRESS: unique symbol = Symbol("progress");

export interface ConflictRetries {
  /** Maximum number of attempts. */
  readonly attempts?: number;
  /** The error to throw if the last attempt ends in a conflict too. */
  readonly exceeded: () => Error;
}

const ATTEMPTS = 30;
/** Maximum pause, times the number of attempts so far, and its limit, milliseconds. */
const PAUSE_MS = 4;
const PAUSE_MAX_MS = 100;

/**
 * Repeats an attempt, numbered from 0, until it returns its result. The first repetition follows at once; the later
 * ones wait for a random time, so that concurrent writers do not keep conflicting with each other.
 */
export async function retryOnConflict<Result>(
  attempt: (number: number) => Promise<Result | typeof CONFLICT | typeof PROGRESS>,
  { attempts = ATTEMPTS, exceeded }: ConflictRetries,
): Promise<Result> {
  for (let number = 0; number < attempts; number += 1) {
    if (number > 1) await sleep(Math.random() * Math.min(PAUSE_MAX_MS, number * PAUSE_MS));
    const outcome = await attempt(number);
    if (outcome === PROGRESS) number = -1;
    else if (outcome !== CONFLICT) return outcome;
  }
  throw exceeded();
}
