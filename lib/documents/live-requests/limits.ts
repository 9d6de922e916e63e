import type { RateLimit } from "../connections/token-bucket.ts";

const MIB = 1024 * 1024;

/** Limits of requests that wait for updates: streams and long polls. */
export interface LiveLimits {
  /** Requests at the same time: of all callers, for one document, and of one caller. */
  readonly total: number;
  readonly perDocument: number;
  readonly perCaller: number;
  /** Awareness that one caller sends for one document. */
  readonly awareness: RateLimit;
  /** Time after which a poll is answered because of awareness, milliseconds. */
  readonly awarenessPollMs: number;
  /** Text that a slow reader has not received yet: of one stream, and of all together, characters. */
  readonly unsent: number;
  readonly unsentTotal: number;
  /** Time after which a stream ends, so that its client is authenticated again, milliseconds. */
  readonly streamMs: number;
  /** Time between two comments that keep the connection open, milliseconds. */
  readonly heartbeatMs: number;
  /** Time between two reads of the change feed, milliseconds. */
  readonly changesMs: number;
  /** Time after which access is checked again although no document has changed, such as for revoked tokens. */
  readonly recheckMs: number;
}

export const LIVE_LIMITS: LiveLimits = {
  total: 2_000,
  perDocument: 1_000,
  perCaller: 100,
  awareness: { perSecond: 5, burst: 20 },
  awarenessPollMs: 1_000,
  unsent: 2 * MIB,
  unsentTotal: 64 * MIB,
  streamMs: 280_000,
  heartbeatMs: 15_000,
  changesMs: 250,
  recheckMs: 60_000,
};
