import type { RateLimit } from "../documents/connections/token-bucket.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

/** Limits of the collaboration server. Rates are token buckets: `burst` at once, then `perSecond`. */
export interface CollaborationLimits {
  readonly rooms: number;
  readonly sockets: number;
  readonly connectionsPerRoom: number;
  readonly connectionsPerUser: number;
  readonly connectionsPerAddress: number;
  /** Documents or sessions of one socket. */
  readonly connectionsPerSocket: number;
  /** Sockets of one address that have not authenticated yet. */
  readonly pendingPerAddress: number;
  readonly messageBytes: number;
  readonly awarenessBytes: number;
  /** Awareness states that one connection may own. */
  readonly awarenessClients: number;
  readonly updates: RateLimit;
  readonly awareness: RateLimit;
  readonly otherMessages: RateLimit;
  readonly authentications: RateLimit;
  /** Received messages that wait for earlier ones: above this the socket is not read. */
  readonly waitingBytes: number;
  readonly waitingMessages: number;
  /** Messages before authentication. */
  readonly unauthenticatedBytes: number;
  readonly unauthenticatedMessages: number;
  /** Bytes that a reader has not received yet: of one socket, and of all together. */
  readonly unsentBytes: number;
  readonly unsentBytesTotal: number;
  /** Time in which a reader must receive something, milliseconds. */
  readonly unsentMs: number;
  /** Time for the first authentication message, milliseconds. */
  readonly authenticationMs: number;
  /** Time without a message after which a socket is closed, milliseconds. */
  readonly idleMs: number;
  /** Time for appends and closing handshakes when the server stops, milliseconds. */
  readonly stopMs: number;
}

export const COLLABORATION_LIMITS: CollaborationLimits = {
  rooms: 2_000,
  sockets: 4_000,
  connectionsPerRoom: 1_000,
  connectionsPerUser: 2_500,
  connectionsPerAddress: 3_000,
  connectionsPerSocket: 4,
  pendingPerAddress: 1_000,
  messageBytes: 8 * MIB,
  awarenessBytes: 16 * KIB,
  awarenessClients: 8,
  updates: { perSecond: 1_000, burst: 5_000 },
  awareness: { perSecond: 60, burst: 300 },
  otherMessages: { perSecond: 20, burst: 200 },
  authentications: { perSecond: 0.2, burst: 10 },
  waitingBytes: 16 * MIB,
  waitingMessages: 1_000,
  unauthenticatedBytes: MIB,
  unauthenticatedMessages: 200,
  unsentBytes: 32 * MIB,
  unsentBytesTotal: 256 * MIB,
  unsentMs: 30_000,
  authenticationMs: 5_000,
  idleMs: 30_000,
  stopMs: 5_000,
};
