import { type Deps, openDeps } from "#lib/deps.ts";
import { defineConsumer, toConsumerHandler } from "#lib/events/consumer.ts";
import { indexEvents } from "#lib/events/log/index-events.ts";
import type { BusEnvelope } from "#lib/platform/bus.ts";

export const consumer = defineConsumer({
  name: "index-events",
  summary: "Brings recorded and processed events into the log's index",
  rule: { source: ["weft.events"], "detail-type": ["event.recorded", "event.processed"] },
  // One group: records are numbered by one indexer at a time.
  queue: { fifo: true, maxReceiveCount: 10, batchSize: 10, concurrency: 1 },
  // Short, as nothing is indexed while the messages of an indexer that died are hidden: six times as long.
  timeoutSeconds: 30,
  run: async (messages, deps: Deps) => {
    await indexEvents(
      deps,
      messages.map(({ body }) => (body as BusEnvelope<{ event_id: string }>).detail.event_id),
    );
    return undefined;
  },
});

export const handler = toConsumerHandler(consumer, openDeps);
