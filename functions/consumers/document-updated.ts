import { type Deps, openConsumerDeps } from "#lib/app/aws.ts";
import { removeOrphanedBlobs } from "#lib/documents/content/orphaned-blobs.ts";
import { flushUpdatedEvent, type UpdatedEventMessage } from "#lib/documents/events/updated-event.ts";
import { documentKey, documentsTable } from "#lib/documents/tables/documents.ts";
import { defineConsumer, eachMessage, toConsumerHandler } from "#lib/events/consumer.ts";

export const consumer = defineConsumer({
  name: "document-updated",
  summary: "Tells of the edits of a document, many of them at once, and removes what saves left behind",
  queue: { maxReceiveCount: 8, batchSize: 10, concurrency: 4 },
  timeoutSeconds: 60,
  scripts: true,
  run: (messages, deps: Deps) =>
    eachMessage(messages, async ({ body }) => {
      const asked = body as UpdatedEventMessage;
      await flushUpdatedEvent(deps, asked);
      const document = await deps.tables.get(documentsTable, documentKey(asked.document_id));
      if (document !== undefined) await removeOrphanedBlobs(deps, document);
    }),
});

export const handler = toConsumerHandler(consumer, openConsumerDeps);
