import { type Deps, openConsumerDeps } from "#lib/app/aws.ts";
import { requestIndexing } from "#lib/documents/changes/indexed-changes.ts";
import { checkAttachments } from "#lib/documents/media/check-attachments.ts";
import type { CheckMessage } from "#lib/documents/media/scheduled-check.ts";
import { defineConsumer, eachMessage, toConsumerHandler } from "#lib/events/consumer.ts";

export const consumer = defineConsumer({
  name: "attachments",
  summary:
    "Scans attachments, deletes those that no document references any more, and what interrupted uploads leave",
  // A scanner that is restarted does not respond for minutes.
  queue: { maxReceiveCount: 10, batchSize: 1, concurrency: 2 },
  timeoutSeconds: 120,
  scripts: true,
  run: (messages, deps: Deps, { signal }) =>
    eachMessage(messages, async ({ body }) => {
      const message = body as CheckMessage;
      await checkAttachments(deps, message, signal);
      await requestIndexing(deps, message.document_id);
    }),
});

export const handler = toConsumerHandler(consumer, openConsumerDeps);
