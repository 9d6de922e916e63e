/** Close codes and reasons of WebSocket connections. Reference: live-and-web 3; RFC 6455 7.4. */
export interface CloseReason {
  readonly code: number;
  readonly reason: string;
}

export const CLOSE = {
  originNotAllowed: { code: 4001, reason: "Origin not allowed" },
  noCookies: { code: 4001, reason: "No cookies" },
  reset: { code: 4205, reason: "Reset Connection" },
  replaced: { code: 4205, reason: "Document replaced" },
  moved: { code: 1012, reason: "Another server has the document open" },
  accessLost: { code: 4403, reason: "Access lost" },
  deleted: { code: 4404, reason: "Document deleted" },
  timeout: { code: 4408, reason: "Connection Timeout" },
  stopping: { code: 1001, reason: "Server stops" },
  textMessage: { code: 1003, reason: "Messages must be binary" },
  malformed: { code: 1007, reason: "Malformed message" },
  unavailable: { code: 1013, reason: "Try again later" },
  slowReader: { code: 1013, reason: "Messages are read too slowly" },
  tooManyUpdates: { code: 1008, reason: "Too many updates per second" },
  tooMuchAwareness: { code: 1008, reason: "Too many awareness messages per second" },
  awarenessTooLarge: { code: 1009, reason: "Awareness message too large" },
  tooManyMessages: { code: 1008, reason: "Too many messages" },
  unauthenticated: { code: 1008, reason: "Too much before authentication" },
  tooManySockets: { code: 1013, reason: "Too many connections to this server" },
  tooManyOfAddress: { code: 1013, reason: "Too many connections from this address" },
} as const satisfies Record<string, CloseReason>;

/** Longest reason of a close frame, bytes. */
const REASON_MAX_BYTES = 123;

export function shorten(reason: string): string {
  const bytes = Buffer.from(reason);
  return bytes.length <= REASON_MAX_BYTES ? reason : bytes.toString("utf8", 0, REASON_MAX_BYTES - 3);
}
