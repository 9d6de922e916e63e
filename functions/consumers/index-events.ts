import { type Deps, openConsumerDeps } from "#lib/app/aws.ts";
import { defineConsumer, toConsumerHandler } from "#lib/events/consumer.ts";
import { indexEvents } from "#lib/events/log/index-events.ts";
import { type OldestUnindexed, oldestUnindexed } from "#lib/events/log/tail.ts";
import { recordedEntry } from "#lib/events/publish.ts";
import type { BusEnvelope } from "#lib/platform/bus.ts";
import { indexEventRecords } from "#lib/workflows/records/index-lists.ts";

/** As many as a FIFO queue hands over at once. */
const BATCH_SIZE = 10;
/** Of the tail's partitions each, and of the records that go into one transaction. */
const MOST = { items: 24, records: 240 };
/** Then others have their turn, and what is left is met with the next message. */
const ONE_TURN_MS = 10_000;

export const consumer = defineConsumer({
  name: "index-events",
  summary: "Brings recorded and processed events into the log's index, and what they tell of into the lists",
  rule: { source: ["weft.events"], "detail-type": ["event.recorded", "event.processed"] },
  // One group: records are numbered by one indexer at a time.
  queue: {
    fifo: true,
    maxReceiveCount: 10,
    batchSize: BATCH_SIZE,
    concurrency: 1,
    restMs: 20,
    eager: true,
    coalesces: ["event.recorded"],
  },
  // Short, so that an indexer that hangs is replaced soon.
  timeoutSeconds: 30,
  run: async (messages, deps: Deps) => {
    let ids = messages.map(({ body }) => (body as BusEnvelope<{ event_id: string }>).detail.event_id);
    // One message may stand for all that was recorded before it was delivered; what comes later has another.
    const now = deps.ids.ordered();
    const until = performance.now() + ONE_TURN_MS;
    let left: OldestUnindexed;
    do {
      left = await oldestUnindexed(deps, MOST);
      const { items: known, more } = left;
      // Before the events leave the tail: what they tell of is then in the lists, or told again.
      await indexEvents(deps, ids, { known, tell: (events) => indexEventRecords(deps, events, more) });
      ids = [];
    } while (left.more && left.items.some(({ sk }) => sk < now) && performance.now() < until);
    const [next] = left.items;
    // The last message may have stood for all that is left.
    if (left.more && next !== undefined && performance.now() >= until)
      await deps.bus.publish([recordedEntry({ event_id: next.sk, topic: "", matches: [] })]);
    return undefined;
  },
});

export const handler = toConsumerHandler(consumer, openConsumerDeps);
