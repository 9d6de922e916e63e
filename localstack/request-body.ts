import type { IncomingMessage, ServerResponse } from "node:http";
import type { BodyReservation } from "./body-budget.ts";

export class BodyTooLargeError extends Error {
  readonly code = "body_too_large";
  readonly limitBytes: number;
  constructor(limitBytes: number) {
    super(`The body must be at most ${limitBytes} bytes`);
    this.name = "BodyTooLargeError";
    this.limitBytes = limitBytes;
  }
}

/** The client disconnected before it had sent its request, or before it had read the response. */
export class ClientDisconnectedError extends Error {
  readonly code = "client_gone";
  constructor() {
    super("The client closed the connection");
    this.name = "ClientDisconnectedError";
  }
}

/** Whether the request may have a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers["content-length"];
  return (length !== undefined && length !== "0") || headers["transfer-encoding"] !== undefined;
}

/** The declared length of a body in bytes; undefined for a chunked one. */
export function contentLength({ headers }: IncomingMessage): number | undefined {
  const length = headers["content-length"];
  return length === undefined ? undefined : Number(length);
}

/**
 * The chunks of the body. Throws BodyTooLargeError as soon as the received bytes exceed the limit, and leaves the rest
 * unread; TooManyBodiesError; ClientDisconnectedError.
 */
export function readBody(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  limitBytes: number,
  reservation: BodyReservation,
): Promise<readonly Buffer[]> {
  return new Promise((resolve, reject) => {
    if (isDisconnected(incoming)) {
      reject(new ClientDisconnectedError());
      return;
    }
    if (incoming.headers.expect !== undefined) outgoing.writeContinue();
    const chunks: Buffer[] = [];
    let bytes = 0;
    const onData = (chunk: Buffer): void => {
      chunks.push(chunk);
      bytes += chunk.length;
      try {
        if (bytes > limitBytes) throw new BodyTooLargeError(limitBytes);
        reservation.cover(bytes);
      } catch (error) {
        finish(() => reject(error));
      }
    };
    const onEnd = (): void => finish(() => resolve(chunks));
    const onGone = (): void => finish(() => reject(new ClientDisconnectedError()));
    const finish = (report: () => void): void => {
      incoming.off("data", onData).off("end", onEnd).off("close", onGone);
      report();
    };
    incoming.on("data", onData).on("end", onEnd).on("close", onGone);
    // `close` reports a connection that ends within the body; without a listener, `error` would throw.
    incoming.on("error", onGone);
  });
}

/** Whether the connection was closed before the whole request was received. */
export const isDisconnected = ({ destroyed, complete }: IncomingMessage): boolean => destroyed && !complete;

/** Undefined for an empty body. */
export function concatChunks(parts: readonly Buffer[]): Buffer | undefined {
  return parts.length <= 1 ? parts[0] : Buffer.concat(parts);
}
