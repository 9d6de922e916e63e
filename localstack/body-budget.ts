/** All bodies of requests that are being handled take as much as they may: the client is asked to try again. */
export class BodiesBusy extends Error {
  readonly code = "bodies_busy";
  constructor() {
    super("The server is receiving too many request bodies, try again in a moment");
    this.name = "BodiesBusy";
  }
}

/** A request waits this long for its turn, milliseconds. */
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
        if (this.#usedBytes + bytes - held > this.#maxBytes) throw new BodiesBusy();
        this.#usedBytes += bytes - held;
        held = bytes;
      },
      wait: (bytes) => {
        if (bytes <= held) return undefined;
        const turn = this.#wait(bytes - held);
        if (turn === undefined) held = bytes;
        return turn?.then(() => {
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
        reject(new BodiesBusy());
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

  /** In the order in which they came, so that large bodies get their turn. */
  #grant(): void {
    for (const waiter of this.#waiters) {
      if (this.#usedBytes + waiter.bytes > this.#maxBytes) return;
      this.#waiters.delete(waiter);
      this.#usedBytes += waiter.bytes;
      waiter.grant();
    }
  }
}

/** What one body holds of a budget. */
export interface BodyReservation {
  /** Holds `bytes` in all. Throws BodiesBusy where there is no room for them. */
  cover(bytes: number): void;
  /**
   * Holds `bytes` in all as soon as there is room for them; undefined where it holds them at once. Rejects with
   * BodiesBusy after a while.
   */
  wait(bytes: number): Promise<void> | undefined;
  release(): void;
}
