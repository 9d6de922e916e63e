import { type Deps, openDeps } from "#lib/deps.ts";
import { defineConsumer, toConsumerHandler } from "#lib/events/consumer.ts";
import { numberEvents } from "#lib/events/log/index-events.ts";
import type { EventRecorded } from "#lib/events/publish.ts";
import type { BusEnvelope } from "#lib/platform/bus.ts";

export const consumer = defineConsumer({
  name: "index-events",
  summary: "Numbers recorded events in order of arrival",
  rule: { source: ["weft.events"], "detail-type": ["event.recorded"] },
  queue: { maxReceiveCount: 10, batchSize: 10, concurrency: 2 },
  timeoutSeconds: 60,
  run: async (messages, deps: Deps) => {
    await numberEvents(deps, messages.map(({ body }) => (body as BusEnvelope<EventRecorded>).detail.event_id));
    return undefined;
  },
});

export const handler = toConsumerHandler(consumer, openDeps);
