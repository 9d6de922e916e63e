import type { IncomingMessage, ServerResponse } from "node:http";
import type { BodyReservation } from "./body-budget.ts";

export class BodyTooLarge extends Error {
  readonly code = "body_too_large";
  readonly limitBytes: number;
  constructor(limitBytes: number) {
    super(`The body must be at most ${limitBytes} bytes`);
    this.name = "BodyTooLarge";
    this.limitBytes = limitBytes;
  }
}

/** The client went away before it had sent its request, or before it had read the answer. */
export class ClientGone extends Error {
  readonly code = "client_gone";
  constructor() {
    super("The client closed the connection");
    this.name = "ClientGone";
  }
}

/** True where the request may have a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers["content-length"];
  return (length !== undefined && length !== "0") || headers["transfer-encoding"] !== undefined;
}

/** The declared length of a body in bytes; undefined for a chunked one. */
export function declaredLength({ headers }: IncomingMessage): number | undefined {
  const length = headers["content-length"];
  return length === undefined ? undefined : Number(length);
}

/**
 * The whole body as it came, in parts; none of an empty one. Throws BodyTooLarge as soon as the limit is passed, by
 * what the client declares or by what it sends, and leaves the rest unread; BodiesBusy; ClientGone.
 */
export function readBody(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  limitBytes: number,
  reservation: BodyReservation,
): Promise<readonly Buffer[]> {
  return new Promise((resolve, reject) => {
    if (isGone(incoming)) {
      reject(new ClientGone());
      return;
    }
    if (incoming.headers.expect !== undefined) outgoing.writeContinue();
    const chunks: Buffer[] = [];
    let bytes = 0;
    const onData = (chunk: Buffer): void => {
      chunks.push(chunk);
      bytes += chunk.length;
      try {
        if (bytes > limitBytes) throw new BodyTooLarge(limitBytes);
        reservation.cover(bytes);
      } catch (error) {
        settle(() => reject(error));
      }
    };
    const onEnd = (): void => settle(() => resolve(chunks));
    const onGone = (): void => settle(() => reject(new ClientGone()));
    const settle = (report: () => void): void => {
      incoming.off("data", onData).off("end", onEnd).off("close", onGone);
      report();
    };
    incoming.on("data", onData).on("end", onEnd).on("close", onGone);
    // A connection cut in the middle of the body is reported by `close`; without a listener `error` would throw.
    incoming.on("error", onGone);
  });
}

/** Whether the connection was closed before the whole request came. */
export const isGone = ({ destroyed, complete }: IncomingMessage): boolean => destroyed && !complete;

/** Undefined for an empty body. */
export function joined(parts: readonly Buffer[]): Buffer | undefined {
  return parts.length <= 1 ? parts[0] : Buffer.concat(parts);
}
