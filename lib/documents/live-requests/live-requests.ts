import { ApiError } from "../../errors.ts";
import { type RequestSeat, RequestSeats } from "../../http/request-seats.ts";
import type { Ports } from "../../platform/ports.ts";
import { TokenBucket } from "../connections/token-bucket.ts";
import { accessFeed } from "./access-feed.ts";
import { AccessWatch } from "./access-watch.ts";
import { LIVE_LIMITS, type LiveLimits } from "./limits.ts";
import type { UnsentText } from "./text-stream.ts";

/** Callers whose awareness is counted. */
const CALLERS_MAX = 10_000;

/** Counts the requests of this process that wait for updates, and ends them when the server stops. */
export class LiveRequests {
  readonly limits: LiveLimits;
  /** Of all open connections of this process. */
  readonly access: AccessWatch;
  /** Unsent text of all streams. */
  readonly unsent: UnsentText;
  readonly #seats = new RequestSeats();
  readonly #awareness = new Map<string, TokenBucket>();

  constructor(deps: Pick<Ports, "tables" | "clock" | "log">, limits: Partial<LiveLimits> = {}) {
    this.limits = { ...LIVE_LIMITS, ...limits };
    this.access = new AccessWatch({ feed: accessFeed(deps), limits: this.limits, log: deps.log });
    this.unsent = { length: 0 };
  }

  /** Throws `too_many_requests`, and `unavailable` when the server stops. */
  take(document: string, caller: string): RequestSeat {
    const { total, perDocument, perCaller } = this.limits;
    return this.#seats.take([
      {
        key: "",
        max: total,
        message: `At most ${total} requests may wait for updates at the same time.`,
      },
      {
        key: `document ${document}`,
        max: perDocument,
        message: `At most ${perDocument} requests may wait for updates of one document.`,
      },
      {
        key: `caller ${caller}`,
        max: perCaller,
        message: `At most ${perCaller} requests of one caller may wait for updates.`,
      },
    ]);
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
    this.#seats.stop();
  }
}
