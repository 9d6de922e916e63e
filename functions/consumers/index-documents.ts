import { type Deps, openConsumerDeps } from "#lib/app/aws.ts";
import { backfillFullText } from "#lib/documents/full-text/backfill.ts";
import { indexDocument, requestChildren } from "#lib/documents/full-text/index-document.ts";
import type { IndexMessage } from "#lib/documents/tables/index-messages.ts";
import { defineConsumer, eachMessageInTurn, toConsumerHandler } from "#lib/events/consumer.ts";

export const consumer = defineConsumer({
  name: "index-documents",
  summary: "Brings the full-text index up to date with changed documents",
  // Texts are put into the index when what they were read from is on disk.
  queue: {
    maxReceiveCount: 8,
    batchSize: 10,
    concurrency: 1,
    lambda: { concurrency: 256 },
    restMs: 100,
    eager: true,
  },
  timeoutSeconds: 60,
  run: async (messages, deps: Deps) => {
    await backfillFullText(deps);
    return eachMessageInTurn(messages, async ({ body }) => {
      const message = body as IndexMessage;
      const { document_id: id, descendants, after } = message;
      if (id !== null && after === undefined) await indexDocument(deps, id);
      if (descendants) await requestChildren(deps, message);
    });
  },
});

export const handler = toConsumerHandler(consumer, openConsumerDeps);
