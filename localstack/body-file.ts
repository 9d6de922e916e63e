import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { BodyTooLarge, ClientGone } from "./request-body.ts";

/** Bodies up to this many bytes are read as others are. */
const SMALL_BYTES = 4 * 1024 * 1024;

/** True where the client says that its body is small enough to be held in memory. */
export const isSmall = ({ headers }: IncomingMessage): boolean =>
  headers["content-length"] !== undefined && Number(headers["content-length"]) <= SMALL_BYTES;

/** A body that lies in a file until it is removed. */
export interface BodyFile {
  readonly path: string;
  readonly bytes: number;
  remove(): Promise<void>;
}

/** Takes a body as it comes, so that memory stays flat. Throws BodyTooLarge, ClientGone, and what the disk says. */
export async function keepBody(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  limitBytes: number,
): Promise<BodyFile> {
  if (Number(incoming.headers["content-length"] ?? 0) > limitBytes) throw new BodyTooLarge(limitBytes);
  if (incoming.headers.expect !== undefined) outgoing.writeContinue();
  const path = join(tmpdir(), `weft-body-${randomUUID()}`);
  const remove = (): Promise<void> => rm(path, { force: true });
  let bytes = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    // The connection outlives a body that is refused: it has to be told so.
    for await (const chunk of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      if (bytes > limitBytes) throw new BodyTooLarge(limitBytes);
      yield chunk;
    }
  }
  try {
    await pipeline(counted, createWriteStream(path, { mode: 0o600, flags: "wx" }));
    return { path, bytes, remove };
  } catch (error) {
    await remove();
    throw incoming.destroyed && !incoming.complete ? new ClientGone() : error;
  }
}
