import { type Deps, openDeps } from "#lib/deps.ts";
import { defineConsumer, toConsumerHandler } from "#lib/events/consumer.ts";
import type { EventRecorded } from "#lib/events/publish.ts";
import type { BusEnvelope } from "#lib/platform/bus.ts";
import { dispatchEvents } from "#lib/workflow/triggers/dispatch.ts";

export const consumer = defineConsumer({
  name: "dispatch",
  summary: "Starts the runs that an event triggers and marks the event as processed",
  rule: { source: ["weft.events"], "detail-type": ["event.recorded"] },
  queue: { maxReceiveCount: 5, batchSize: 10, concurrency: 8 },
  timeoutSeconds: 60,
  run: (messages, deps: Deps) =>
    dispatchEvents(
      deps,
      messages.map(({ id, body }) => {
        const { detail } = body as BusEnvelope<EventRecorded>;
        return { id, eventId: detail.event_id, matched: detail.matched };
      }),
    ),
});

export const handler = toConsumerHandler(consumer, openDeps);
