import { type Deps, openConsumerDeps } from "#lib/app/aws.ts";
import { defineConsumer, eachMessage, toConsumerHandler } from "#lib/events/consumer.ts";
import { type EventsStaged, recordStaged } from "#lib/events/emit-together.ts";
import type { EventRecorded } from "#lib/events/publish.ts";
import type { BusEnvelope } from "#lib/platform/bus.ts";
import { dispatchEvent } from "#lib/workflows/triggers/dispatch-event.ts";

export const consumer = defineConsumer({
  name: "dispatch",
  summary:
    "Starts the runs that an event triggers, and marks the event as processed; records accepted events",
  rule: {
    source: ["weft.events"],
    "detail-type": ["event.recorded", "events.staged"],
    detail: { matched: [{ numeric: [">", 0] }] },
  },
  queue: { maxReceiveCount: 5, batchSize: 10, concurrency: 8, lambda: { concurrency: 64 }, eager: true },
  timeoutSeconds: 60,
  scripts: true,
  run: (messages, deps: Deps) =>
    eachMessage(messages, ({ body }) => {
      const { detail } = body as BusEnvelope<EventRecorded | EventsStaged>;
      return "staged" in detail ? recordStaged(deps, detail.staged) : dispatchEvent(deps, detail.event_id);
    }),
});

export const handler = toConsumerHandler(consumer, openConsumerDeps);
