import { type Deps, openConsumerDeps } from "#lib/app/aws.ts";
import { defineConsumer, toConsumerHandler } from "#lib/events/consumer.ts";
import { indexEvents } from "#lib/events/log/index-events.ts";
import { findOldestUnindexed, type OldestUnindexed } from "#lib/events/log/tail.ts";
import { recordedEntry } from "#lib/events/publish.ts";
import type { BusEnvelope } from "#lib/platform/bus.ts";
import { indexEventRecords } from "#lib/workflows/records/index-lists.ts";

/** Maximum batch size of a FIFO queue. */
const BATCH_SIZE = 10;
/** Maximum items per partition of the tail, and maximum records per transaction. */
const MOST = { items: 24, records: 240 };
/** Time limit of one invocation; a further message continues the rest. */
const ONE_TURN_MS = 10_000;

export const consumer = defineConsumer({
  name: "index-events",
  summary: "Indexes recorded and processed events, and updates the lists from them",
  rule: { source: ["weft.events"], "detail-type": ["event.recorded", "event.processed"] },
  // One message group: a single indexer numbers records at a time.
  queue: {
    fifo: true,
    maxReceiveCount: 10,
    batchSize: BATCH_SIZE,
    concurrency: 1,
    restMs: 20,
    eager: true,
    coalesces: ["event.recorded"],
  },
  // Short, so that a hanging indexer is replaced soon.
  timeoutSeconds: 30,
  run: async (messages, deps: Deps) => {
    let ids = messages.map(({ body }) => (body as BusEnvelope<{ event_id: string }>).detail.event_id);
    // One message may represent all events recorded before its delivery; later events send another one.
    const now = deps.ids.ordered();
    const until = performance.now() + ONE_TURN_MS;
    let left: OldestUnindexed;
    do {
      left = await findOldestUnindexed(deps, MOST);
      const { items: known, more } = left;
      // Before the events leave the tail: their records are then in the lists, or are indexed again.
      await indexEvents(deps, ids, { known, tell: (events) => indexEventRecords(deps, events, more) });
      ids = [];
    } while (left.more && left.items.some(({ sk }) => sk < now) && performance.now() < until);
    const [next] = left.items;
    // The last message may have represented all remaining events.
    if (left.more && next !== undefined && performance.now() >= until)
      await deps.bus.publish([recordedEntry({ event_id: next.sk, topic: "", matches: [] })]);
    return undefined;
  },
});

export const handler = toConsumerHandler(consumer, openConsumerDeps);
