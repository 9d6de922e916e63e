import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import { TokenBucket } from "../connections/token-bucket.ts";
import { accessFeed } from "./access-feed.ts";
import { AccessWatch } from "./access-watch.ts";
import { LIVE_LIMITS, type LiveLimits } from "./limits.ts";
import type { UnsentText } from "./text-stream.ts";

/** Callers whose awareness is counted. */
const CALLERS_MAX = 10_000;

/** The place of a request that waits for updates. */
export interface LiveSeat {
  /** Aborted when the server stops. */
  readonly stopping: AbortSignal;
  release(): void;
}

/** Counts the requests of this process that wait for updates, and ends them when the server stops. */
export class LiveRequests {
  readonly limits: LiveLimits;
  /** Of all open connections of this process. */
  readonly access: AccessWatch;
  /** Unsent text of all streams. */
  readonly unsent: UnsentText;
  readonly #counts = new Map<string, number>();
  readonly #awareness = new Map<string, TokenBucket>();
  readonly #open = new Set<AbortController>();
  #isStopping = false;

  constructor(deps: Pick<Ports, "tables" | "clock" | "log">, limits: Partial<LiveLimits> = {}) {
    this.limits = { ...LIVE_LIMITS, ...limits };
    this.access = new AccessWatch({ feed: accessFeed(deps), limits: this.limits, log: deps.log });
    this.unsent = { length: 0 };
  }

  /** Throws `too_many_requests`, and `unavailable` when the server stops. */
  take(document: string, caller: string): LiveSeat {
    if (this.#isStopping)
      throw new ApiError("unavailable", "The server is stopping; try again", { retryAfterSeconds: 1 });
    const { total, perDocument, perCaller } = this.limits;
    const counted = [`document ${document}`, `caller ${caller}`];
    const [ofDocument = 0, ofCaller = 0] = counted.map((name) => this.#counts.get(name) ?? 0);
    if (this.#open.size >= total)
      throw tooMany(`At most ${total} requests may wait for updates at the same time.`);
    if (ofDocument >= perDocument)
      throw tooMany(`At most ${perDocument} requests may wait for updates of one document.`);
    if (ofCaller >= perCaller)
      throw tooMany(`At most ${perCaller} requests of one caller may wait for updates.`);
    const controller = new AbortController();
    this.#open.add(controller);
    for (const name of counted) this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    return {
      stopping: controller.signal,
      release: () => {
        if (!this.#open.delete(controller)) return;
        for (const name of counted) this.#decrement(name);
      },
    };
  }

  /** Counts awareness that a caller sends. Throws `too_many_requests`. */
  takeAwareness(document: string, caller: string): void {
    const name = `${document} ${caller}`;
    const now = performance.now();
    const bucket = this.#awareness.get(name) ?? new TokenBucket(this.limits.awareness, now);
    // Inserted last, as the most recent caller.
    this.#awareness.delete(name);
    this.#awareness.set(name, bucket);
    const [oldest = ""] = this.#awareness.keys();
    if (this.#awareness.size > CALLERS_MAX) this.#awareness.delete(oldest);
    if (bucket.take(now)) return;
    const message = `A caller may send awareness ${this.limits.awareness.perSecond} times per second.`;
    throw new ApiError("too_many_requests", message, {
      retryAfterSeconds: 1,
      body: { awareness: [message] },
    });
  }

  /** Ends all requests; their clients send them again. */
  stop(): void {
    this.#isStopping = true;
    for (const controller of [...this.#open]) controller.abort();
  }

  #decrement(name: string): void {
    const count = (this.#counts.get(name) ?? 0) - 1;
    if (count > 0) this.#counts.set(name, count);
    else this.#counts.delete(name);
  }
}

const tooMany = (message: string): ApiError =>
  new ApiError("too_many_requests", message, { retryAfterSeconds: 5 });
