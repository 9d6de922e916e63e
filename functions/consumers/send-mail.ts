import { type Deps, openDeps } from "#lib/app/aws.ts";
import { sendDueMails } from "#lib/documents/notifications/compose-mails.ts";
import { defineConsumer, toConsumerHandler } from "#lib/events/consumer.ts";

export const consumer = defineConsumer({
  name: "send-mail",
  summary: "Sends mails about shared documents and access requests, and digests of notifications",
  rule: {
    source: ["weft.events"],
    "detail-type": ["event.recorded"],
    detail: { topic: ["documents.shared", "documents.access_requested"] },
  },
  // Retries failed emails, and sends those whose queue message was lost.
  schedule: "rate(5 minutes)",
  queue: { maxReceiveCount: 5, batchSize: 10, concurrency: 1 },
  timeoutSeconds: 120,
  secrets: true,
  run: async (_messages, deps: Deps, { signal }) => {
    await sendDueMails(deps, signal);
    return undefined;
  },
});

export const handler = toConsumerHandler(consumer, openDeps);
