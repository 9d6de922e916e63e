import { type Deps, openDeps } from "#lib/deps.ts";
import { defineConsumer, toConsumerHandler } from "#lib/events/consumer.ts";
import { indexEvents } from "#lib/events/log/index-events.ts";
import { unindexed } from "#lib/events/log/tail.ts";
import type { BusEnvelope } from "#lib/platform/bus.ts";
import { indexTold, type ToldOf } from "#lib/workflow/lists/all-lists.ts";

/** As many as a FIFO queue hands over at once. */
const BATCH_SIZE = 10;
/** Records of each partition of the tail that are indexed along with a full batch. */
const MORE_A_PARTITION = 20;

export const consumer = defineConsumer({
  name: "index-events",
  summary: "Brings recorded and processed events into the log's index, and what they tell of into the lists",
  rule: { source: ["weft.events"], "detail-type": ["event.recorded", "event.processed"] },
  // One group: records are numbered by one indexer at a time.
  queue: { fifo: true, maxReceiveCount: 10, batchSize: BATCH_SIZE, concurrency: 1, restMs: 20 },
  // Short, as nothing is indexed while the messages of an indexer that died are hidden: six times as long.
  timeoutSeconds: 30,
  run: async (messages, deps: Deps) => {
    const told = messages.map(({ body }) => (body as BusEnvelope<{ event_id: string } & ToldOf>).detail);
    const ids = told.map(({ event_id }) => event_id);
    // A full batch tells of more to come: it is indexed along with it, and its messages find it done.
    const many = messages.length >= BATCH_SIZE;
    const more = many ? await unindexed(deps, MORE_A_PARTITION) : [];
    await indexEvents(deps, [...ids, ...more]);
    await indexTold(deps, told, many);
    return undefined;
  },
});

export const handler = toConsumerHandler(consumer, openDeps);
