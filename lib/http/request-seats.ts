import { ApiError } from "../errors.ts";

/** The place of a request that waits. */
export interface RequestSeat {
  /** Aborted when the server stops. */
  readonly stopping: AbortSignal;
  release(): void;
}

/** Limits how many requests with the same key may wait. */
export interface SeatLimit {
  readonly key: string;
  readonly max: number;
  /** Explains the limit. */
  readonly message: string;
}

/** Time after which a refused client may try again, seconds. */
const RETRY_AFTER_SECONDS = 5;

/** Counts the requests of this process that wait, and ends them when the server stops. */
export class RequestSeats {
  readonly #counts = new Map<string, number>();
  readonly #open = new Set<AbortController>();
  #isStopping = false;

  /** Throws `too_many_requests`, and `unavailable` when the server stops. */
  take(limits: readonly SeatLimit[]): RequestSeat {
    if (this.#isStopping)
      throw new ApiError("unavailable", "The server is stopping; try again", { retryAfterSeconds: 1 });
    for (const { key, max, message } of limits)
      if ((this.#counts.get(key) ?? 0) >= max)
        throw new ApiError("too_many_requests", message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    const controller = new AbortController();
    this.#open.add(controller);
    for (const { key } of limits) this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    return {
      stopping: controller.signal,
      release: () => {
        if (!this.#open.delete(controller)) return;
        for (const { key } of limits) this.#decrement(key);
      },
    };
  }

  /** Ends all requests; their clients send them again. */
  stop(): void {
    this.#isStopping = true;
    for (const controller of [...this.#open]) controller.abort();
  }

  #decrement(key: string): void {
    const count = (this.#counts.get(key) ?? 0) - 1;
    if (count > 0) this.#counts.set(key, count);
    else this.#counts.delete(key);
  }
}
