import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { BodyReservation } from "./body-budget.ts";
import { BodyTooLarge, ClientGone, declaredLength, isGone } from "./request-body.ts";

/** Bodies up to this many bytes are read as others are. */
const SMALL_BYTES = 4 * 1024 * 1024;

/** True where the client says that its body is small enough to be held in memory. */
export const isSmall = (incoming: IncomingMessage): boolean =>
  (declaredLength(incoming) ?? Infinity) <= SMALL_BYTES;

/** Makes the folder for bodies in files, and removes those that a process left in it when it was killed. */
export async function openBodyFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
}

/** A body that lies in a file until it is removed. */
export interface BodyFile {
  readonly path: string;
  readonly bytes: number;
  remove(): Promise<void>;
}

/** Takes a body as it comes, so that memory stays flat. Throws BodyTooLarge, BodiesBusy, ClientGone, and what the disk says. */
export async function keepBody(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  limitBytes: number,
  reservation: BodyReservation,
  folder: string,
): Promise<BodyFile> {
  if (isGone(incoming)) throw new ClientGone();
  if (incoming.headers.expect !== undefined) outgoing.writeContinue();
  const path = join(folder, randomUUID());
  const remove = (): Promise<void> => rm(path, { force: true });
  let bytes = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    // The connection outlives a body that is refused: it has to be told so.
    for await (const chunk of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      if (bytes > limitBytes) throw new BodyTooLarge(limitBytes);
      reservation.cover(bytes);
      yield chunk;
    }
  }
  try {
    await pipeline(counted, createWriteStream(path, { mode: 0o600, flags: "wx" }));
    return { path, bytes, remove };
  } catch (error) {
    await remove();
    throw isGone(incoming) ? new ClientGone() : error;
  }
}
