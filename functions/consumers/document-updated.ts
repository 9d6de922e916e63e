import { type Deps, openConsumerDeps } from "#lib/app/aws.ts";
import { requestIndexing } from "#lib/documents/changes/indexed-changes.ts";
import { removeOrphanedBlobs } from "#lib/documents/content/orphaned-blobs.ts";
import { flushUpdatedEvent, type UpdatedEventMessage } from "#lib/documents/events/updated-event.ts";
import { releaseUnreferenced } from "#lib/documents/media/release-unreferenced.ts";
import { documentKey, documentsTable } from "#lib/documents/tables/documents.ts";
import { compactLog, deleteReplacedLogs } from "#lib/documents/updates/compact.ts";
import { defineConsumer, eachMessageInTurn, toConsumerHandler } from "#lib/events/consumer.ts";

export const consumer = defineConsumer({
  name: "document-updated",
  summary:
    "Compacts the update log of a document, emits one documents.updated for several edits, and removes unreferenced blobs",
  queue: { maxReceiveCount: 8, batchSize: 10, concurrency: 4 },
  timeoutSeconds: 60,
  scripts: true,
  run: (messages, deps: Deps) =>
    eachMessageInTurn(messages, async ({ body }) => {
      const asked = body as UpdatedEventMessage;
      const id = asked.document_id;
      const before = await deps.tables.get(documentsTable, documentKey(id));
      if (before?.has_log === true) await compactLog(deps, id);
      await flushUpdatedEvent(deps, asked);
      const document = await deps.tables.get(documentsTable, documentKey(id));
      if (document === undefined) return;
      // Updates that arrived in between: this schedules another event.
      if (document.has_log === true) await compactLog(deps, id);
      await deleteReplacedLogs(deps, document);
      await removeOrphanedBlobs(deps, document);
      await releaseUnreferenced(deps, document.id);
      await requestIndexing(deps, document.id);
    }),
});

export const handler = toConsumerHandler(consumer, openConsumerDeps);
