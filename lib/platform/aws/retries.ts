import { setTimeout as sleep } from "node:timers/promises";
import type { PlatformFault } from "../faults.ts";

/** Waits so many milliseconds. */
export type Pause = (ms: number) => Promise<void>;

export const systemPause: Pause = (ms) => sleep(ms);

const TRIES = 10;
const FIRST_MS = 25;
const LONGEST_MS = 2_000;

/**
 * Tries until the attempt is done, with growing pauses that differ from caller to caller. An attempt that is to
 * be made again answers the fault that is thrown when it was the tenth in a row without progress.
 */
export async function untilDone(
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
