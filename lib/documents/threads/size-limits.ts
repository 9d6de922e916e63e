import { ApiError } from "../../errors.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { threadUsageKey, threadUsageTable } from "../tables/threads.ts";

/** Maximum threads of a document: they are listed without pages. */
export const THREADS_MAX = 1_000;
/** Maximum size of all threads of a document in a response: Lambda responses are limited to 6 MB. Bytes. */
export const THREADS_MAX_BYTES = 5_000_000;
/** Size of a thread or comment without its text, and of a reaction. */
export const RECORD_BYTES = 700;
export const REACTION_BYTES = 250;

/**
 * Reserves or releases space for threads. The write fails on a concurrent reservation. Throws `bad_request` if none
 * is left.
 */
export async function reserveSpace(
  { tables }: Pick<Ports, "tables">,
  document: string,
  { threads = 0, bytes }: { readonly threads?: number; readonly bytes: number },
): Promise<Write> {
  const key = threadUsageKey(document);
  const room = await tables.get(threadUsageTable, key);
  if (threads > 0 && (room?.threads ?? 0) + threads > THREADS_MAX)
    throw new ApiError(
      "bad_request",
      `The document has reached its limit of ${THREADS_MAX} threads; delete some first.`,
    );
  if (bytes > 0 && (room?.bytes ?? 0) + bytes > THREADS_MAX_BYTES)
    throw new ApiError("bad_request", "The document has no space for more comments; delete some first.");
  if (room === undefined) {
    const item = { ...key, threads, bytes };
    return { op: "put", table: threadUsageTable, item, when: [["pk", "missing"]] };
  }
  return {
    op: "update",
    table: threadUsageTable,
    key,
    change: { add: { threads, bytes } },
    when: [
      ["threads", "<=", threads > 0 ? THREADS_MAX - threads : THREADS_MAX],
      ["bytes", "<=", bytes > 0 ? THREADS_MAX_BYTES - bytes : THREADS_MAX_BYTES],
    ],
  };
}

/** Size of a comment in a response. */
export const commentBytes = (body: string): number => RECORD_BYTES + Buffer.byteLength(body);
