import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";

export interface Alarm {
  /** Recomputes the next time; call it when that may have become earlier. */
  arm(): void;
  /** Rings now if it is due, and resolves afterwards. For tests that move the clock. */
  poke(): Promise<void>;
  close(): void;
}

/** Interval, in milliseconds, at which a changed system clock is noticed. */
const LOOK_EVERY_MS = 5000;
const RETRY_MS = 1000;

/**
 * Calls `ring` at the time that `next` returns (milliseconds since the epoch; undefined: never). Calls never overlap.
 */
export function createAlarm(options: {
  readonly clock: Clock;
  readonly log: Log;
  readonly next: () => number | undefined;
  readonly ring: () => Promise<void>;
}): Alarm {
  const { clock, log, next, ring } = options;
  let timer: NodeJS.Timeout | undefined;
  let ringing: Promise<void> | undefined;
  let closed = false;

  const schedule = (atLeastMs: number): void => {
    clearTimeout(timer);
    const at = closed ? undefined : next();
    if (at === undefined) return;
    const wait = Math.min(LOOK_EVERY_MS, Math.max(atLeastMs, at - clock.now()));
    timer = setTimeout(() => void look(), wait);
    timer.unref();
  };
  const ringOnce = async (): Promise<void> => {
    let pause = 0;
    try {
      await ring();
    } catch (error) {
      pause = RETRY_MS;
      if (!closed) log.error("processing a timer failed and will be retried", { error });
    }
    ringing = undefined;
    schedule(pause);
  };
  const look = async (): Promise<void> => {
    const at = next();
    if (closed || at === undefined || at > clock.now()) {
      if (ringing === undefined) schedule(0);
      return ringing;
    }
    ringing ??= ringOnce();
    return ringing;
  };
  return {
    arm: () => {
      if (ringing === undefined) schedule(0);
    },
    poke: look,
    close: () => {
      closed = true;
      clearTimeout(timer);
    },
  };
}
