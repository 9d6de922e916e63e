import { ApiError } from "../errors.ts";
import type { ClientSocket } from "./client-socket.ts";
import { CLOSE, type CloseReason } from "./close-codes.ts";

/** Rejects a connection; Hocuspocus sends the reason to the client. Without a message it is not logged as an error. */
export class Rejection extends Error {
  readonly reason: string;
  constructor(reason: string) {
    super("");
    this.reason = reason;
  }
}

/** Closes the socket and ends the handling of a message. */
export function reject(socket: ClientSocket, reason: CloseReason): never {
  socket.close(reason);
  throw new Rejection(reason.reason);
}

/** Errors of a document that cannot be opened as it is. */
const LASTING_ERRORS: ReadonlySet<string> = new Set(["not_found", "conflict"]);

/** Whether the client should not connect again. */
export const isLasting = (error: unknown): error is ApiError =>
  error instanceof ApiError && LASTING_ERRORS.has(error.code);

/** How a socket closes after an error of the update log. */
export function closeFor(error: unknown): CloseReason {
  if (!(error instanceof ApiError)) return error instanceof RangeError ? CLOSE.malformed : CLOSE.unavailable;
  const { code, message } = error;
  if (code === "bad_request") return { code: CLOSE.malformed.code, reason: message };
  if (code === "not_found") return CLOSE.deleted;
  if (code === "precondition_failed") return CLOSE.replaced;
  return { code: CLOSE.unavailable.code, reason: message };
}
