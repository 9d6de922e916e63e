import { useEffect } from "react";

/** What is last is loaded after this time at the latest, milliseconds. */
const REST_MAX_MS = 1_000;

const busy = new Set<symbol>();
let waiting: (() => void)[] = [];

/** Says that the page does not show yet what it is about. */
export function useBusy(isBusy: boolean): void {
  useEffect(() => {
    if (!isBusy) return;
    const part = Symbol("busy");
    busy.add(part);
    return () => {
      busy.delete(part);
      if (busy.size > 0) return;
      for (const resolve of waiting) resolve();
      waiting = [];
    };
  }, [isBusy]);
}

/** Resolves when the page shows what it is about and the browser has nothing to do, or after a second. */
export async function rest(): Promise<void> {
  await idle();
  if (busy.size === 0) return;
  await Promise.race([new Promise<void>((resolve) => waiting.push(resolve)), wait(REST_MAX_MS)]);
  await idle();
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const idle = (): Promise<void> =>
  new Promise((resolve) => {
    // Safari has no such callback.
    if ("requestIdleCallback" in window) requestIdleCallback(() => resolve(), { timeout: REST_MAX_MS });
    else setTimeout(resolve);
  });
