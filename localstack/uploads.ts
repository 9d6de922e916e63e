import type { IncomingMessage, ServerResponse } from "node:http";
import { UPLOADS_PATH, type UploadReceiver } from "../lib/platform/blobs.ts";
import { type BodyReservation, TooManyBodiesError } from "./body-budget.ts";
import { isDisconnected } from "./request-body.ts";
import type { RequestTarget } from "./request-target.ts";
import { writeError, writeRefusal } from "./response.ts";

/** Whether a request uploads a blob to the blob store, as to S3, not to a function. */
export const isUpload = ({ method }: IncomingMessage, { routePath }: RequestTarget): boolean =>
  method === "PUT" && routePath.startsWith(UPLOADS_PATH);

/** Streams an upload to the blob store, and responds like S3. Rejects with errors of the file system. */
export async function receiveUpload(options: {
  readonly receiver: UploadReceiver;
  readonly path: string;
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly closing: boolean;
  readonly reservation: BodyReservation;
}): Promise<void> {
  const { receiver, path, incoming, outgoing, closing, reservation } = options;
  const refuse = (status: number, message: string): void =>
    writeRefusal(incoming, outgoing, status, message, "", status === 503 ? { "retry-after": "1" } : {});
  const expected = receiver.find(path);
  if (expected === undefined || (await receiver.isAllowed?.(expected)) === false)
    return refuse(403, "The URL is invalid or has expired");
  const length = incoming.headers["content-length"];
  if (length === undefined) return refuse(411, "The request must have a Content-Length header");
  if (length !== String(expected.bytes)) return refuse(400, `The body must have ${expected.bytes} bytes`);
  try {
    await reservation.wait(expected.bytes);
  } catch (error) {
    if (error instanceof TooManyBodiesError) return refuse(503, error.message);
    throw error;
  }
  if (isDisconnected(incoming)) return;
  if (incoming.headers.expect !== undefined) outgoing.writeContinue();
  let outcome: Awaited<ReturnType<typeof expected.receive>>;
  try {
    // A refused body must not close the connection, which the response needs.
    outcome = await expected.receive(incoming.iterator({ destroyOnReturn: false }));
  } catch (error) {
    if (!incoming.destroyed || incoming.complete) throw error;
    outgoing.destroy();
    return;
  }
  if (outcome === "wrong length") return refuse(400, `The body must have ${expected.bytes} bytes`);
  if (outcome === "already stored")
    return writeError(outgoing, 412, "The content has already been uploaded", { close: closing });
  outgoing.writeHead(200, { "content-length": 0, ...(closing ? { connection: "close" } : {}) });
  outgoing.end();
}
