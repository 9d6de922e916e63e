import { CAPACITY } from "./assumptions.ts";

/** What one partition, queue or group has used. */
interface Meter {
  readonly perSecond: number;
  /** Units that are left, and when they were counted. */
  left: number;
  countedAt: number;
  used: number;
  refused: number;
}

/** How much of a limit was used. */
export interface Usage {
  readonly name: string;
  readonly used: number;
  readonly perSecond: number;
  readonly refused: number;
}

/** Limits per second by name: a token bucket each. */
export class Units {
  readonly #meters = new Map<string, Meter>();
  readonly #now: () => number;

  /** `now` is in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  #meter(name: string, perSecond: number): Meter {
    const now = this.#now();
    const known = this.#meters.get(name);
    if (known === undefined) {
      const meter = {
        perSecond,
        left: perSecond * CAPACITY.burstSeconds,
        countedAt: now,
        used: 0,
        refused: 0,
      };
      this.#meters.set(name, meter);
      return meter;
    }
    const more = ((now - known.countedAt) / 1000) * perSecond;
    known.left = Math.min(perSecond * CAPACITY.burstSeconds, known.left + more);
    known.countedAt = now;
    return known;
  }

  /** Whether a request may pass; a request that is larger than what is left passes while anything is left. */
  has(name: string, perSecond: number): boolean {
    return this.#meter(name, perSecond).left > 0;
  }

  take(name: string, perSecond: number, units: number): void {
    const meter = this.#meter(name, perSecond);
    meter.left -= units;
    meter.used += units;
  }

  refuse(name: string, perSecond: number): void {
    this.#meter(name, perSecond).refused += 1;
  }

  /** What was used since the last reset, most used first in relation to its limit. */
  usages(): Usage[] {
    return [...this.#meters]
      .map(([name, { used, perSecond, refused }]) => ({ name, used, perSecond, refused }))
      .sort((one, other) => other.used / other.perSecond - one.used / one.perSecond);
  }

  /** Starts counting anew; what is left stays. */
  reset(): void {
    for (const meter of this.#meters.values()) {
      meter.used = 0;
      meter.refused = 0;
    }
  }
}
