/** A rate: `burst` at once, then `perSecond`. */
export interface RateLimit {
  readonly perSecond: number;
  readonly burst: number;
}

/** Counts events of one connection or caller against a rate. */
export class TokenBucket {
  readonly #limit: RateLimit;
  #tokens: number;
  #at: number;

  constructor(limit: RateLimit, now: number) {
    this.#limit = limit;
    this.#tokens = limit.burst;
    this.#at = now;
  }

  /** Takes a token. Returns false if the bucket is empty. `now` is in milliseconds. */
  take(now: number): boolean {
    const { perSecond, burst } = this.#limit;
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#at) / 1000) * perSecond);
    this.#at = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
