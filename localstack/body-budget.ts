/** The bodies of the requests in progress have reached their limit; the client may try again. */
export class TooManyBodiesError extends Error {
  readonly code = "bodies_busy";
  constructor() {
    super("The server is receiving too many request bodies, try again in a moment");
    this.name = "TooManyBodiesError";
  }
}

/** A request waits this long for room, milliseconds. */
const WAIT_MS = 10_000;

interface Waiter {
  readonly bytes: number;
  readonly grant: () => void;
}

/** Bounds the bytes of all request bodies that are held at the same time. */
export class BodyBudget {
  readonly #maxBytes: number;
  readonly #waitMs: number;
  readonly #waiters = new Set<Waiter>();
  #usedBytes = 0;

  constructor(maxBytes: number, waitMs = WAIT_MS) {
    this.#maxBytes = maxBytes;
    this.#waitMs = waitMs;
  }

  /** Starts a reservation of 0 bytes. */
  open(): BodyReservation {
    let held = 0;
    return {
      cover: (bytes) => {
        if (bytes <= held) return;
        if (this.#usedBytes + bytes - held > this.#maxBytes) throw new TooManyBodiesError();
        this.#usedBytes += bytes - held;
        held = bytes;
      },
      wait: (bytes) => {
        if (bytes <= held) return undefined;
        const granted = this.#wait(bytes - held);
        if (granted === undefined) held = bytes;
        return granted?.then(() => {
          held = bytes;
        });
      },
      release: () => {
        this.#usedBytes -= held;
        held = 0;
        this.#grant();
      },
    };
  }

  #wait(bytes: number): Promise<void> | undefined {
    if (this.#waiters.size === 0 && this.#usedBytes + bytes <= this.#maxBytes) {
      this.#usedBytes += bytes;
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiters.delete(waiter);
        reject(new TooManyBodiesError());
        this.#grant();
      }, this.#waitMs);
      const waiter: Waiter = {
        bytes,
        grant: () => {
          clearTimeout(timer);
          resolve();
        },
      };
      this.#waiters.add(waiter);
    });
  }

  /** In order of arrival, so that large bodies are not starved. */
  #grant(): void {
    for (const waiter of this.#waiters) {
      if (this.#usedBytes + waiter.bytes > this.#maxBytes) return;
      this.#waiters.delete(waiter);
      this.#usedBytes += waiter.bytes;
      waiter.grant();
    }
  }
}

/** The share of a budget that one body uses. */
export interface BodyReservation {
  /** Raises the reservation to `bytes`. Throws TooManyBodiesError if the budget is exhausted. */
  cover(bytes: number): void;
  /**
   * Raises the reservation to `bytes`, waiting for room if necessary; undefined if no wait is necessary. Rejects with
   * TooManyBodiesError after ten seconds.
   */
  wait(bytes: number): Promise<void> | undefined;
  release(): void;
}
