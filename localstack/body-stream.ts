import type { IncomingMessage, ServerResponse } from "node:http";
import type { BodyReservation } from "./body-budget.ts";
import { ClientDisconnectedError, contentLength, isDisconnected } from "./request-body.ts";

/** A body that a function reads while the client sends it. Its declared length is within the limit. */
export interface BodyStream {
  /** The declared length. */
  readonly bytes: number;
  /** Can be read once. Throws ClientDisconnectedError, TooManyBodiesError. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Resolves when the last byte has been received, or the client has disconnected. */
  readonly received: Promise<void>;
  /** What `chunks` threw. */
  readonly failure: () => unknown;
}

/** Reads a body of a declared length as a stream: what a function does not read is not received. */
export function openBodyStream(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  reservation: BodyReservation,
): BodyStream {
  let failure: unknown;
  const received = new Promise<void>((resolve) => {
    incoming.once("end", resolve).once("close", resolve);
  });
  async function* read(): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    try {
      if (isDisconnected(incoming)) throw new ClientDisconnectedError();
      if (incoming.headers.expect !== undefined) outgoing.writeContinue();
      // The response needs the connection, also if the function stops reading.
      for await (const chunk of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
        bytes += chunk.length;
        reservation.cover(bytes);
        yield chunk;
      }
    } catch (error) {
      failure = isDisconnected(incoming) ? new ClientDisconnectedError() : error;
      throw failure;
    }
  }
  return { bytes: contentLength(incoming) ?? 0, chunks: read(), received, failure: () => failure };
}
