import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { SocketAddress } from "../settings/setting-types.ts";

/** What clamd says of a file; `finding` is the name of a signature. */
export type ClamdResult = { readonly isSafe: true } | { readonly isSafe: false; readonly finding: string };

/** Longest reply that is read, bytes. */
const REPLY_MAX_BYTES = 4096;
/** Largest chunk that is sent at once, bytes. */
const CHUNK_MAX_BYTES = 256 * 1024;
/** Time without progress after which a scan fails, milliseconds. */
const IDLE_MS = 60_000;

/**
 * A scanner that sends files to ClamAV's clamd with its command INSTREAM: chunks with their length in four bytes, and an
 * empty one at the end. Rejects if clamd cannot be reached, does not answer in time, or reports an error, such as a file
 * above its StreamMaxLength.
 */
export const clamdScanner = (address: SocketAddress, { idleMs = IDLE_MS } = {}) => ({
  scan: async (chunks: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<ClamdResult> => {
    const socket = connect(address);
    const stop = (): void => void socket.destroy(new Error("the scan was aborted"));
    signal.addEventListener("abort", stop);
    socket.setTimeout(idleMs, () => socket.destroy(new Error(`clamd did not respond for ${idleMs} ms`)));
    const reply = readReply(socket);
    // Reported by `send`, or below.
    reply.catch(() => undefined);
    try {
      await Promise.race([send(socket, chunks), reply]);
      return parseReply(await reply);
    } finally {
      signal.removeEventListener("abort", stop);
      socket.destroy();
    }
  },
});

async function send(socket: Socket, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  await write(socket, Buffer.from("zINSTREAM\0"));
  for await (const chunk of chunks)
    for (let at = 0; at < chunk.length; at += CHUNK_MAX_BYTES) {
      const part = chunk.subarray(at, at + CHUNK_MAX_BYTES);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(part.length);
      await write(socket, Buffer.concat([length, part]));
    }
  await write(socket, Buffer.alloc(4));
}

async function write(socket: Socket, bytes: Uint8Array): Promise<void> {
  if (socket.destroyed) throw socket.errored ?? new Error("clamd closed the connection");
  if (!socket.write(bytes)) await once(socket, "drain");
}

/** clamd may answer before everything was sent. */
async function readReply(socket: Socket): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of socket as AsyncIterable<Uint8Array>) {
    parts.push(chunk);
    bytes += chunk.length;
    if (bytes > REPLY_MAX_BYTES) throw new Error("the reply of clamd is too long");
    if (chunk.includes(0)) break;
  }
  return Buffer.concat(parts).toString("utf8").split("\0", 1)[0] ?? "";
}

function parseReply(reply: string): ClamdResult {
  if (/^stream: OK$/.test(reply)) return { isSafe: true };
  const finding = /^stream: (.{1,1000}) FOUND$/.exec(reply)?.[1];
  if (finding !== undefined) return { isSafe: false, finding };
  throw new Error(reply === "" ? "clamd closed the connection without a reply" : `clamd replied: ${reply}`);
}
