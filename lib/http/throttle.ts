import { hash, timingSafeEqual } from "node:crypto";
import { ApiError } from "../errors.ts";
import type { Clock } from "../platform/clock.ts";
import type { ThrottleRate, ThrottleRates, ThrottleScope } from "../settings/throttle-rates.ts";

/** Counts requests of each caller in the window that ends now. */
export interface Throttle {
  /** Throws `too_many_requests` for one who has had all that a scope allows; such a request is not counted. Reference 1.1. */
  pass(scope: ThrottleScope, caller: string, headers: Readonly<Record<string, string>>): void;
}

/** Times that are kept for all callers together; beyond, whoever asked least lately is forgotten. */
const TIMES_MAX = 1_000_000;

export interface ThrottleOptions {
  readonly clock: Clock;
  readonly rates: ThrottleRates;
  /** What the collaboration server calls with: not counted among documents. */
  readonly passKey: string | undefined;
  readonly timesMax?: number;
}

/** Throttles in memory: what other processes were asked counts there. */
export function memoryThrottle({ clock, rates, passKey, timesMax = TIMES_MAX }: ThrottleOptions): Throttle {
  const callers = new Map<string, number[]>();
  const passHash = passKey === undefined ? undefined : digest(passKey);
  let kept = 0;

  const forget = (): void => {
    for (const [name, times] of callers) {
      if (kept <= timesMax) return;
      callers.delete(name);
      kept -= times.length;
    }
  };

  return {
    pass: (scope, caller, headers) => {
      const limits = rates[scope];
      if (limits.length === 0) return;
      const sent = headers["x-y-provider-key"];
      if (scope === "document" && passHash !== undefined && sent !== undefined) {
        if (timingSafeEqual(digest(sent), passHash)) return;
      }
      const name = `${scope} ${caller}`;
      const now = clock.now();
      const longestMs = Math.max(...limits.map(({ periodMs }) => periodMs));
      const before = callers.get(name) ?? [];
      const from = now - longestMs;
      const isFresh = (before[0] ?? now) > from && (before.at(-1) ?? now) <= now;
      // Only times that have grown old are copied around: a caller may have a million.
      const times = isFresh ? before : before.filter((time) => time > from && time <= now);
      kept += times.length - before.length;
      const waitMs = Math.max(...limits.map((limit) => waitOf(limit, times, now)));
      if (waitMs <= 0) {
        times.push(now);
        kept += 1;
      }
      // Last among those that were asked for.
      callers.delete(name);
      callers.set(name, times);
      forget();
      if (waitMs > 0) throw throttled(Math.ceil(waitMs / 1000));
    },
  };
}

/** How long until one more is allowed, milliseconds; 0 where it is now. `times` are in order. */
function waitOf({ count, periodMs }: ThrottleRate, times: readonly number[], now: number): number {
  const oldest = times[times.length - count];
  return oldest === undefined ? 0 : Math.max(0, oldest + periodMs - now);
}

function throttled(seconds: number): ApiError {
  const wait = `${seconds} second${seconds === 1 ? "" : "s"}`;
  return new ApiError("too_many_requests", `Request was throttled. Expected available in ${wait}.`, {
    retryAfterSeconds: seconds,
  });
}

const digest = (text: string): Buffer => hash("sha256", text, "buffer");
