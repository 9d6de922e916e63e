import { hash, timingSafeEqual } from "node:crypto";
import type { Clock } from "../platform/clock.ts";
import type { ThrottleRate } from "../settings/throttle-rates.ts";
import { throttled, waitOf } from "./sliding-window.ts";

/** The scope that counts the invalid tokens of each address, for all services. */
export const FAILED_AUTHENTICATION = "failed_authentication";

/** Limits the requests of each caller in a sliding window. */
export interface Throttle {
  /**
   * Counts a request. Throws `too_many_requests` if the caller has reached a rate of the scope; such a request is not
   * counted. Reference: documents 1.1.
   */
  pass(scope: string, caller: string, headers: Readonly<Record<string, string>>): void;
}

/** Times of requests that are remembered, for all callers together; the least recent callers are dropped beyond it. */
const TIMES_MAX = 1_000_000;

/** Requests with this key in this header are not counted in this scope. */
export interface ThrottleExemption {
  readonly scope: string;
  /** Its name in lower case. */
  readonly header: string;
  readonly key: string;
}

export interface ThrottleOptions {
  readonly clock: Clock;
  /** The rates of each scope, all of which apply. A scope without rates is not limited. */
  readonly rates: Readonly<Record<string, readonly ThrottleRate[]>>;
  readonly exemption?: ThrottleExemption | undefined;
  readonly timesMax?: number;
}

/** A throttle in memory: each process counts its own requests. */
export function memoryThrottle({ clock, rates, exemption, timesMax = TIMES_MAX }: ThrottleOptions): Throttle {
  const callers = new Map<string, number[]>();
  const exemptKeyHash = exemption === undefined ? undefined : digest(exemption.key);
  let kept = 0;

  const dropLeastRecent = (): void => {
    for (const [name, times] of callers) {
      if (kept <= timesMax) return;
      callers.delete(name);
      kept -= times.length;
    }
  };

  const isExempt = (scope: string, headers: Readonly<Record<string, string>>): boolean => {
    if (exemption === undefined || exemptKeyHash === undefined || exemption.scope !== scope) return false;
    const sent = headers[exemption.header];
    return sent !== undefined && timingSafeEqual(digest(sent), exemptKeyHash);
  };

  return {
    pass: (scope, caller, headers) => {
      const limits = rates[scope] ?? [];
      if (limits.length === 0 || isExempt(scope, headers)) return;
      const name = `${scope} ${caller}`;
      const now = clock.now();
      const longestMs = Math.max(...limits.map(({ periodMs }) => periodMs));
      const before = callers.get(name) ?? [];
      const from = now - longestMs;
      const isFresh = (before[0] ?? now) > from && (before.at(-1) ?? now) <= now;
      // Copied only if some times are outside of the window: a caller may have a million.
      const times = isFresh ? before : before.filter((time) => time > from && time <= now);
      kept += times.length - before.length;
      const waitMs = Math.max(...limits.map((limit) => waitOf(limit, times, now)));
      if (waitMs <= 0) {
        times.push(now);
        kept += 1;
      }
      // Inserted last, as the most recent caller.
      callers.delete(name);
      callers.set(name, times);
      dropLeastRecent();
      if (waitMs > 0) throw throttled(Math.ceil(waitMs / 1000));
    },
  };
}

const digest = (text: string): Buffer => hash("sha256", text, "buffer");
