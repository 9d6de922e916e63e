import { type Deps, openConsumerDeps } from "#lib/app/aws.ts";
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
    eachMessage(messages, ({ body }) => checkAttachments(deps, body as CheckMessage, signal)),
});

export const handler = toConsumerHandler(consumer, openConsumerDeps);
