import type { Ports } from "../../platform/ports.ts";
import { INDEX_DOCUMENTS_QUEUE, indexMessage } from "../tables/index-messages.ts";

/** An entry of the index without words: documents that were stored before there was an index are indexed. */
const BACKFILLED = "backfilled";

/**
 * Requests indexing of all documents, once per installation: those of an earlier version of Weft are not indexed. Called
 * when a document is indexed, so that the first change begins it. If it is interrupted, it is repeated, which does no
 * harm.
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
