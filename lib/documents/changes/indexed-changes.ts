import type { Commit } from "../../platform/outbox.ts";
import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { attachmentsTable, documentAttachmentsTable } from "../tables/attachments.ts";
import { documentsTable } from "../tables/documents.ts";
import { INDEX_DOCUMENTS_QUEUE, indexMessage } from "../tables/index-messages.ts";
import { commentsTable } from "../tables/threads.ts";

/** Attributes of a document that are indexed. Other changes send no message. */
const INDEXED = new Set(["title", "content", "deleted_at"]);

/** The messages that request indexing of the documents whose text a transaction changes. */
export function indexMessages(writes: readonly Write[]): NonNullable<Commit["send"]> {
  const changed = new Map<string, boolean>();
  for (const write of writes) {
    if (write.op === "check") continue;
    const { pk } = write.op === "put" ? write.item : write.key;
    const { name } = write.table;
    if (name === commentsTable.name || name === documentAttachmentsTable.name)
      changed.set(pk, changed.get(pk) ?? false);
    else if (name === attachmentsTable.name) changed.set(pk.slice(0, pk.indexOf("/")), false);
    else if (name === documentsTable.name && changesText(write)) {
      // While an ancestor was deleted, nothing visited the descendants.
      const isRestored = write.op === "update" && write.change.set?.["deleted_at"] === null;
      changed.set(pk, isRestored);
    }
  }
  const messages = [...changed].map(([id, isRestored]) =>
    indexMessage({ document_id: id, ...(isRestored ? { descendants: true } : {}) }),
  );
  return messages.length === 0 ? [] : [{ queue: INDEX_DOCUMENTS_QUEUE, messages }];
}

/**
 * Requests indexing of a document: for changes that no transaction of `commitChange` contains, and in case a process
 * died between its transaction and the message.
 */
export const requestIndexing = (
  { queues }: Pick<Ports, "queues">,
  document: string,
  delaySeconds?: number,
): Promise<void> =>
  queues.send(INDEX_DOCUMENTS_QUEUE, [indexMessage({ document_id: document }, delaySeconds)]);

function changesText(write: Write): boolean {
  if (write.op !== "update") return write.op === "put";
  const { set = {}, remove = [] } = write.change;
  return [...Object.keys(set), ...remove].some((name) => INDEXED.has(name));
}
