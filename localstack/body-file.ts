import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { BodyReservation } from "./body-budget.ts";
import { BodyTooLargeError, ClientDisconnectedError, contentLength, isDisconnected } from "./request-body.ts";

/** Bodies up to this many bytes are read into memory. */
const SMALL_BYTES = 4 * 1024 * 1024;

/** Bytes that are collected while others are written, so that a large body takes few writes. */
const WRITE_AHEAD_BYTES = 1024 * 1024;

/** Whether the declared length of the body is small enough to read it into memory. */
export const isSmall = (incoming: IncomingMessage): boolean =>
  (contentLength(incoming) ?? Infinity) <= SMALL_BYTES;

/** Creates the folder for bodies in files, and removes the files of a process that was killed. */
export async function openBodyFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
}

/** A body in a file, until it is removed. */
export interface BodyFile {
  readonly path: string;
  readonly bytes: number;
  remove(): Promise<void>;
}

/** Streams a body to a file. Throws BodyTooLargeError, TooManyBodiesError, ClientDisconnectedError, and errors of the file system. */
export async function storeBody(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  limitBytes: number,
  reservation: BodyReservation,
  folder: string,
): Promise<BodyFile> {
  if (isDisconnected(incoming)) throw new ClientDisconnectedError();
  if (incoming.headers.expect !== undefined) outgoing.writeContinue();
  const path = join(folder, randomUUID());
  const remove = (): Promise<void> => rm(path, { force: true });
  let bytes = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    // A refused body must not close the connection, which the response needs.
    for await (const chunk of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      if (bytes > limitBytes) throw new BodyTooLargeError(limitBytes);
      reservation.cover(bytes);
      yield chunk;
    }
  }
  try {
    await pipeline(
      counted,
      createWriteStream(path, { mode: 0o600, flags: "wx", highWaterMark: WRITE_AHEAD_BYTES }),
    );
    return { path, bytes, remove };
  } catch (error) {
    await remove();
    throw isDisconnected(incoming) ? new ClientDisconnectedError() : error;
  }
}
