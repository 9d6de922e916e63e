import { type Deps, openConsumerDeps } from "#lib/app/aws.ts";
import { NOTIFYING_TOPICS, notifyOfEvent } from "#lib/documents/notifications/notify.ts";
import { defineConsumer, eachMessage, toConsumerHandler } from "#lib/events/consumer.ts";
import type { EventRecorded } from "#lib/events/publish.ts";
import type { BusEnvelope } from "#lib/platform/bus.ts";

export const consumer = defineConsumer({
  name: "notify",
  summary: "Creates the notifications of comments, mentions, shares, access requests and failed runs",
  rule: {
    source: ["weft.events"],
    "detail-type": ["event.recorded"],
    detail: { topic: [...NOTIFYING_TOPICS] },
  },
  queue: { maxReceiveCount: 8, batchSize: 10, concurrency: 2 },
  timeoutSeconds: 60,
  run: (messages, deps: Deps) =>
    eachMessage(messages, ({ body }) =>
      notifyOfEvent(deps, (body as BusEnvelope<EventRecorded>).detail.event_id),
    ),
});

export const handler = toConsumerHandler(consumer, openConsumerDeps);
