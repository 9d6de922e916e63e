import fc from "fast-check";
import { expect, it } from "vitest";
import type { Tables } from "../../platform/tables.ts";
import { RankedIndex } from "../../ranked-index/ranked-index.ts";
import { hostileSteps, tornTables } from "../../ranked-index/test-torn-tables.ts";
import { type IndexDeps, indexEvents } from "./index-events.ts";
import { type EventFilters, type EventRecord, listEvents } from "./list.ts";
import { processedWrite } from "./process.ts";
import { RecentEvents } from "./recent-events.ts";
import { eventKey, eventLogTable, eventTailTable, type StoredEvent, tailKey, tailShards } from "./table.ts";
import { findOldestUnindexed, readUnindexedIds } from "./tail.ts";

/** Merges often, so that a few records reach every code path. */
const OFTEN = { mergeRows: 4, mergeDeltas: 2 };
const EVERYTHING = { offset: 0, limit: 1_000 };
const NOW = "2026-03-02T10:00:00.000Z";

const blobs = {} as never;
const clock = { now: () => Date.parse(NOW) };
const openIndex = (tables: Tables): RankedIndex => new RankedIndex({ tables }, "event-log", OFTEN);

function eventOf(number: number, matched: boolean): StoredEvent {
  const event_id = `e${number.toString(16).padStart(4, "0")}`;
  return {
    ...eventKey(event_id),
    event_id,
    topic: number % 2 === 0 ? "even" : "odd",
    name: "",
    source: "",
    hop: 0,
    data_type: "",
    data: "{}",
    workspace: "",
    run_id: "",
    workflow_name: "",
    error: "",
    created_at: NOW,
    processed: !matched,
    processed_at: matched ? null : NOW,
    matches: matched ? [{ workflow: "w", trigger: "t", revision: 1 }] : [],
  };
}

/** In one transaction. Several records that only have to be indexed share one tail item. */
async function record(tables: Tables, events: readonly StoredEvent[]): Promise<void> {
  const shards = tailShards(tables);
  const tailOf = ({ event_id }: StoredEvent) => ({
    ...tailKey(event_id, "tail", shards),
    resend_at: NOW,
    resends: 0,
  });
  const done = events.filter(({ processed }) => processed);
  const [first] = done;
  const ids = done.map(({ event_id }) => event_id);
  const tails =
    first === undefined || done.length === 1
      ? events.map(tailOf)
      : [
          ...events.filter(({ processed }) => !processed).map(tailOf),
          { ...tailOf(first), ids, left: ids.length },
        ];
  const outcome = await tables.write([
    ...events.map((item) => ({ op: "put", table: eventLogTable, item }) as const),
    ...tails.map((item) => ({ op: "put", table: eventTailTable, item }) as const),
  ]);
  expect(outcome).toEqual({ ok: true });
}

async function list(
  tables: Tables,
  eventIndex: RankedIndex,
  filters: EventFilters = {},
): Promise<{ total: number; records: EventRecord[] }> {
  const { total, items } = await listEvents({ tables, blobs, eventIndex }, filters, EVERYTHING);
  const records: EventRecord[] = [];
  for await (const part of items) records.push(...part);
  return { total, records };
}

/** As the indexer does: the index is read before the tail. */
async function findPending(deps: IndexDeps) {
  const mergedBefore = await deps.eventIndex.mergedUntil();
  const { items: known } = await findOldestUnindexed(deps, { items: 2, records: 3 });
  return { known, mergedBefore };
}

const EVENTS = 14;
const READS = 4;

it.each([
  ["without", false],
  ["with", true],
])(
  "shows every acknowledged event exactly once at any time, with torn transactions and two indexers, %s limits of partitions",
  async (_, hasLimits) => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.infiniteStream(fc.nat(1_000_000)),
        fc.array(fc.boolean(), { minLength: EVENTS, maxLength: EVENTS }),
        async (scheduler, chance, matched) => {
          const steps = hostileSteps(scheduler, chance);
          const tables: Tables = {
            ...tornTables(steps),
            ...(hasLimits ? { partitionLimits: true } : {}),
          };
          const acknowledged: string[] = [];
          const events = matched.map((isMatched, at) => eventOf(at, isMatched));

          const emitter = async (): Promise<void> => {
            for (let start = 0; start < events.length; ) {
              const part = events.slice(start, start + 1 + (start % 4));
              await record(tables, part);
              acknowledged.push(...part.map(({ event_id }) => event_id));
              start += part.length;
            }
          };
          const dispatcher = async (): Promise<void> => {
            for (const { event_id, processed } of events) {
              while (!acknowledged.includes(event_id)) await steps.step();
              if (!processed) await tables.write([processedWrite(event_id, Date.parse(NOW))]);
            }
          };
          const indexer = async (eventIndex: RankedIndex): Promise<void> => {
            const deps = { tables, eventIndex, clock, recentEvents: new RecentEvents() };
            for (let round = 0; round < EVENTS; round += 1) {
              await steps.step();
              const told = steps
                .shuffle(events)
                .slice(0, 3)
                .map(({ event_id }) => event_id);
              const found = await findPending(deps);
              await indexEvents(deps, told, round % 2 === 0 ? found : {});
            }
          };
          const reader = async (
            index: RankedIndex,
            filters: EventFilters,
            fits: (event: StoredEvent) => boolean,
          ): Promise<void> => {
            for (let round = 0; round < READS; round += 1) {
              const due = events.filter((event) => acknowledged.includes(event.event_id) && fits(event));
              const { total, records } = await list(tables, index, filters);
              const ids = records.map(({ event_id }) => event_id);
              expect(total).toBe(ids.length);
              expect(new Set(ids).size).toBe(ids.length);
              expect(due.filter(({ event_id }) => !ids.includes(event_id))).toEqual([]);
              expect(new Set(records.map(({ id }) => id)).size).toBe(records.length);
            }
          };
          // One process indexes and reads, one only indexes, one only reads.
          const shared = openIndex(tables);
          const actors = [
            emitter(),
            dispatcher(),
            indexer(shared),
            indexer(openIndex(tables)),
            reader(shared, {}, () => true),
            reader(openIndex(tables), { topic: "even" }, ({ topic }) => topic === "even"),
          ];
          await scheduler.waitFor(Promise.all(actors));

          steps.calm();
          const eventIndex = openIndex(tables);
          for (let round = 0; round < EVENTS; round += 1) {
            const deps = { tables, eventIndex, clock, recentEvents: new RecentEvents() };
            await indexEvents(deps, acknowledged, await findPending(deps));
          }
          expect(await readUnindexedIds({ tables })).toEqual([]);
          const { records } = await list(tables, openIndex(tables));
          expect(records.map(({ id }) => id)).toEqual(events.map((_, at) => EVENTS - at));
          expect(records.map(({ event_id }) => event_id).toSorted()).toEqual(acknowledged.toSorted());
          expect((await list(tables, openIndex(tables), { processed: false })).total).toBe(0);
          expect((await list(tables, openIndex(tables), { processed: true, topic: "odd" })).total).toBe(
            EVENTS / 2,
          );
        },
      ),
      { numRuns: 40 },
    );
  },
);
