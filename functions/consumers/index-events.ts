import { type Deps, openConsumerDeps } from "#lib/app/aws.ts";
import { defineConsumer, type Message, toConsumerHandler } from "#lib/events/consumer.ts";
import { indexEvents } from "#lib/events/log/index-events.ts";
import { indexInTurn } from "#lib/events/log/indexer-lease.ts";
import { EVENT_PROCESSED } from "#lib/events/log/process.ts";
import type { IndexableEvent } from "#lib/events/log/recent-events.ts";
import { divideItems, findIndexed, findOldestUnindexed, type OldestUnindexed } from "#lib/events/log/tail.ts";
import { recordedEntry } from "#lib/events/publish.ts";
import type { BusEnvelope } from "#lib/platform/bus.ts";
import { indexEventRecords } from "#lib/workflows/records/index-lists.ts";
import { startCounter } from "#lib/workflows/triggers/start-counter.ts";
import { noteRunsOfWorkspaces } from "#lib/workflows/workspaces/workspace-records.ts";

/** On one machine. */
const BATCH_SIZE = 10;
/** In Lambda: one invocation a second wakes the indexer for all events of that second. */
const LAMBDA = { batchSize: 1_000, windowSeconds: 1, concurrency: 2 };
/** Maximum items per partition of the tail and records that are read together, and maximum records per transaction. */
const MOST = { items: 24, records: 2_400 };
const RECORDS_AT_ONCE = 240;
/** The same where a request takes longer than its work; their lists are brought up to date together. */
const LIMITED_MOST = { items: 64, records: 2_400 };
const LIMITED_RECORDS_AT_ONCE = 2_400;
/** Time limit of one invocation; a further message continues the rest. */
const ONE_TURN_MS = 10_000;
/** Events whose partitions of the tail are read alone; for more, all partitions are read. */
const FEW = 32;

export const consumer = defineConsumer({
  name: "index-events",
  summary: "Indexes recorded and processed events, and updates the lists from them",
  rule: { source: ["weft.events"], "detail-type": ["event.recorded", "event.processed"] },
  queue: {
    maxReceiveCount: 10,
    batchSize: BATCH_SIZE,
    concurrency: 1,
    // Readers find events before they are indexed; only streams of the log wait for it.
    restMs: 40,
    lambda: LAMBDA,
    eager: true,
    coalesces: ["event.recorded"],
  },
  // Short, so that a hanging indexer is replaced soon.
  timeoutSeconds: 30,
  run: async (messages: readonly Message<EventMessage>[], deps: Deps) => {
    const ids = messages.map(({ body }) => body.detail.event_id);
    // One process has the tables: its poller takes one batch at a time, and one message may represent others.
    if (deps.tables.partitionLimits !== true) {
      await indexTail(deps, ids, undefined);
      return undefined;
    }
    const of = ids.length > FEW ? undefined : ids;
    const isDone = await indexInTurn(
      deps,
      ({ isForOthers }) => indexTail(deps, ids, isForOthers ? undefined : of),
      () => wakeIndexer(deps, ids.slice(0, 1)),
    );
    if (!isDone) await indexChanged(deps, messages);
    return undefined;
  },
});

type EventMessage = BusEnvelope<{ readonly event_id: string }>;

/** Indexes what is waiting in the tail, in all partitions or in those of some events. */
async function indexTail(
  deps: Deps,
  first: readonly string[],
  of: readonly string[] | undefined,
): Promise<void> {
  let ids = first;
  // Events that are recorded later send another message.
  const now = deps.ids.ordered();
  const until = performance.now() + ONE_TURN_MS;
  const count = startCounter(deps);
  const isLimited = deps.tables.partitionLimits === true;
  const [most, recordsAtOnce] = isLimited ? [LIMITED_MOST, LIMITED_RECORDS_AT_ONCE] : [MOST, RECORDS_AT_ONCE];
  let left: OldestUnindexed;
  do {
    const mergedBefore = await deps.eventIndex.mergedUntil();
    left = await findOldestUnindexed(deps, most, of);
    const { items, more } = left;
    // Before the events leave the tail: their records are then in the lists, or are indexed again.
    const onRecords = async (events: readonly IndexableEvent[]) => {
      await Promise.all([indexEventRecords(deps, events, more), noteRuns(deps, events)]);
    };
    const parts = divideItems(items, recordsAtOnce);
    for (const known of parts.length > 0 ? parts : [[]]) {
      await indexEvents(deps, ids, { known, mergedBefore, isMoreWaiting: more, count, onRecords });
      ids = [];
    }
  } while (left.more && left.items.some(({ sk }) => sk < now) && performance.now() < until);
  if (!left.more || performance.now() < until) return;
  // The last message may have represented all remaining events.
  const next = new Map(left.items.map(({ pk, sk }) => [pk, sk]));
  await wakeIndexer(deps, [...next.values()]);
}

const wakeIndexer = (deps: Deps, ids: readonly string[]): Promise<void> =>
  deps.bus.publish(ids.map((event_id) => recordedEntry({ event_id, topic: "", matches: [] })));

/** Only events of runs have a hop: an event of this topic that a caller emits is ignored. */
const noteRuns = (deps: Deps, events: readonly IndexableEvent[]): Promise<void> =>
  noteRunsOfWorkspaces(
    deps,
    events.filter(({ topic, run_id, hop }) => topic === "run.started" && run_id !== "" && hop > 0),
  );

/** Indexes events that were processed after they had been indexed: they are not in the tail. */
async function indexChanged(deps: Deps, messages: readonly Message<EventMessage>[]): Promise<void> {
  const processed = messages.filter(({ body }) => body["detail-type"] === EVENT_PROCESSED);
  const changed = await findIndexed(
    deps,
    processed.map(({ body }) => body.detail.event_id),
  );
  if (changed.length > 0) await indexEvents(deps, changed);
}

export const handler = toConsumerHandler(consumer, openConsumerDeps);
