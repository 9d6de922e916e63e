import { setTimeout as sleep } from "node:timers/promises";
import type { PlatformFault } from "../faults.ts";

/** Waits for a number of milliseconds. */
export type Pause = (ms: number) => Promise<void>;

export const systemPause: Pause = (ms) => sleep(ms);

const TRIES = 10;
const FIRST_MS = 25;
const LONGEST_MS = 2_000;

/**
 * Repeats the attempt until it succeeds, with exponential backoff and jitter. An attempt that must be repeated returns
 * a fault; the tenth such fault in a row without progress is thrown.
 */
export async function retryUntilDone(
  pause: Pause,
  attempt: () => Promise<"done" | { readonly again: PlatformFault; readonly progress?: boolean }>,
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const outcome = await attempt();
    if (outcome === "done") return;
    if (outcome.progress === true) tries = 1;
    if (tries >= TRIES) throw outcome.again;
    await pause(Math.random() * Math.min(LONGEST_MS, FIRST_MS * 2 ** tries));
  }
}
