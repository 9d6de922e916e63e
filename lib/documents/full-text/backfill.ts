import type { FullText } from "../../platform/full-text.ts";
import type { Ports } from "../../platform/ports.ts";
import { INDEX_DOCUMENTS_QUEUE, indexMessage } from "../tables/index-messages.ts";

/** An entry of the index without words: documents that were stored before there was an index are indexed. */
const BACKFILLED = "backfilled";

/**
 * Requests indexing of all documents, once per index: those of an earlier version of Weft are not indexed. Called when a
 * document is indexed, so that the first change or search begins it. If it is interrupted, it is repeated, which does
 * no harm.
 */
export async function backfillFullText({
  fullText,
  queues,
  ids,
}: Pick<Ports, "fullText" | "queues" | "ids">): Promise<void> {
  const [done] = await fullText.get([BACKFILLED]);
  if (done !== undefined) return;
  await queues.send(INDEX_DOCUMENTS_QUEUE, [indexMessage({ document_id: null, descendants: true })]);
  const words = { title: [], headings: [], body: [], comments: [] };
  await fullText.put({ id: BACKFILLED, version: ids.ordered(), data: new Uint8Array(), words }, undefined);
}

/** The indexes that a search of this process has looked at. */
const known = new WeakSet<FullText>();

/** Requests the backfill if the index is new: an earlier version of Weft had none or another one, or it was lost. */
export async function requestBackfill({
  fullText,
  queues,
  log,
}: Pick<Ports, "fullText" | "queues" | "log">): Promise<void> {
  if (known.has(fullText)) return;
  known.add(fullText);
  try {
    const [done] = await fullText.get([BACKFILLED]);
    if (done === undefined) await queues.send(INDEX_DOCUMENTS_QUEUE, [indexMessage({ document_id: null })]);
  } catch (error) {
    known.delete(fullText);
    log.warn("requesting the indexing of all documents failed", { error });
  }
}
