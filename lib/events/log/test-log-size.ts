import fc from "fast-check";
import { expect } from "vitest";
import type { OrderedPageRequest } from "../../http/page.ts";
import type { Blobs } from "../../platform/blobs.ts";
import type { Tables } from "../../platform/tables.ts";
import { RankedIndex } from "../../ranked-index/ranked-index.ts";
import { INDEXED_FIELDS, indexEvents } from "./index-events.ts";
import { type EventFilters, listEvents } from "./list.ts";
import { processedWrite } from "./process.ts";
import { RecentEvents } from "./recent-events.ts";
import {
  EVENT_INDEX,
  eventKey,
  eventLogTable,
  eventTailTable,
  type StoredEvent,
  tailKey,
  tailShards,
} from "./table.ts";

const NOW = "2026-03-02T10:00:00.000Z";
/** Events per transaction: each has a record and a tail item. */
const RECORDED_AT_ONCE = 50;
/** Number of events that the indexer receives at once. */
const INDEXED_AT_ONCE = 90;
const QUERIES = 40;
const LIMIT = 20;

const one = (values: readonly string[], at: number): string => values[at % values.length] ?? "";
const names = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, at) => `${prefix}-${at}`);
const TOPICS = names("topic", 20);
const NAMES = names("name", 50);
const SOURCES = ["api", "executor", "scheduler", "test"];
const WORKSPACES = ["", ...names("workspace", 7)];
const WORKFLOWS = ["", "", ...names("workflow", 30)];

/** An event whose values are common, rare or empty; one in twenty records is unprocessed. */
export function sizedEvent(number: number): StoredEvent {
  const event_id = `00000000-0000-7000-8000-${number.toString(16).padStart(12, "0")}`;
  const waits = number % 20 === 7;
  return {
    ...eventKey(event_id),
    event_id,
    topic: one(TOPICS, Math.floor(Math.sqrt(number * 7))),
    name: one(NAMES, number * 31),
    source: one(SOURCES, Math.floor(number / 3)),
    data_type: "json",
    data: JSON.stringify({ number }),
    workspace: one(WORKSPACES, Math.floor(number / 11)),
    run_id: `run-${Math.floor(number / 10)}`,
    workflow_name: one(WORKFLOWS, number * 17),
    error: "",
    processed: !waits,
    processed_at: waits ? null : NOW,
    created_at: NOW,
    hop: 0,
    matches: waits ? [{ workflow: "w", trigger: "t", revision: 1 }] : [],
  };
}

export interface ReadCount {
  calls: number;
  items: number;
}

/** Tables that count their reads: requests of up to 100 items, and requested items. */
export function countingTables(tables: Tables): { readonly tables: Tables; readonly count: ReadCount } {
  const count = { calls: 0, items: 0 };
  return {
    count,
    tables: {
      ...tables,
      get: (table, key) => {
        count.calls += 1;
        count.items += 1;
        return tables.get(table, key);
      },
      batchGet: (table, keys) => {
        count.calls += Math.ceil(keys.length / 100);
        count.items += keys.length;
        return tables.batchGet(table, keys);
      },
      query: async (table, query) => {
        const page = await tables.query(table, query);
        count.calls += 1;
        count.items += page.items.length;
        return page;
      },
    },
  };
}

/** A log that grows to a size, and the same records as a plain array. */
export class SizedLog {
  readonly events: StoredEvent[] = [];
  readonly #tables: Tables;
  readonly #blobs: Blobs;
  readonly #index: RankedIndex;

  constructor(deps: { readonly tables: Tables; readonly blobs: Blobs }) {
    this.#tables = deps.tables;
    this.#blobs = deps.blobs;
    this.#index = new RankedIndex(deps, EVENT_INDEX);
  }

  /**
   * Records and indexes events up to this size; half of the unprocessed ones are processed. The last few are not
   * indexed.
   */
  async growTo(size: number, { unindexed, atOnce }: { unindexed: number; atOnce: number }): Promise<void> {
    const fresh = Array.from({ length: size - this.events.length }, (_, at) =>
      sizedEvent(this.events.length + at),
    );
    const batches = Array.from({ length: Math.ceil(fresh.length / RECORDED_AT_ONCE) }, (_, at) =>
      fresh.slice(at * RECORDED_AT_ONCE, (at + 1) * RECORDED_AT_ONCE),
    );
    const record = async (): Promise<void> => {
      for (let batch = batches.shift(); batch !== undefined; batch = batches.shift())
        await this.#record(batch);
    };
    this.events.push(...fresh);
    await Promise.all(Array.from({ length: atOnce }, record));
    const due = this.events.slice(-fresh.length - unindexed, -unindexed);
    await this.#indexAll(due.map(({ event_id }) => event_id));
    await this.#processSome(size - fresh.length, size - unindexed);
  }

  async #record(events: readonly StoredEvent[]): Promise<void> {
    const outcome = await this.#tables.write(
      events.flatMap((item) => [
        { op: "put" as const, table: eventLogTable, item },
        {
          op: "put" as const,
          table: eventTailTable,
          item: { ...tailKey(item.event_id, "tail", tailShards(this.#tables)), resend_at: NOW, resends: 0 },
        },
      ]),
    );
    expect(outcome).toEqual({ ok: true });
  }

  async #indexAll(ids: readonly string[]): Promise<void> {
    const deps = {
      tables: this.#tables,
      eventIndex: this.#index,
      recentEvents: new RecentEvents(),
      // Long after the records.
      clock: { now: () => Date.parse("2100-01-01") },
    };
    for (let start = 0; start < ids.length; start += INDEXED_AT_ONCE)
      await indexEvents(deps, ids.slice(start, start + INDEXED_AT_ONCE));
  }

  async #processSome(from: number, to: number): Promise<void> {
    const processed: string[] = [];
    for (let at = from; at < to; at += 1) {
      const event = this.events[at];
      if (event === undefined || event.processed || at % 40 !== 7) continue;
      await this.#tables.write([processedWrite(event.event_id, Date.parse(NOW))]);
      this.events[at] = { ...event, processed: true, processed_at: NOW };
      processed.push(event.event_id);
    }
    await this.#indexAll(processed);
  }

  /**
   * Compares each filter alone and random combinations with the array, by a reader with an empty cache and one with a
   * filled cache; every other query begins with the oldest record.
   */
  async expectExact(): Promise<{ readonly cold: ReadCount; readonly warm: ReadCount }> {
    const cold = { calls: 0, items: 0 };
    const warm = { calls: 0, items: 0 };
    const { tables, count } = countingTables(this.#tables);
    for (const [at, [filters, offset]] of queries(this.events).entries()) {
      const page = { offset, limit: LIMIT, oldestFirst: at % 2 === 1 };
      const eventIndex = new RankedIndex({ tables }, EVENT_INDEX);
      for (const most of [cold, warm]) {
        Object.assign(count, { calls: 0, items: 0 });
        await this.#expectSame(tables, eventIndex, filters, page);
        most.calls = Math.max(most.calls, count.calls);
        most.items = Math.max(most.items, count.items);
      }
    }
    return { cold, warm };
  }

  async #expectSame(
    tables: Tables,
    eventIndex: RankedIndex,
    filters: EventFilters,
    page: OrderedPageRequest,
  ): Promise<void> {
    const tests = Object.entries(filters) as [keyof StoredEvent, unknown][];
    const fitting: number[] = [];
    for (const [at, event] of this.events.entries()) {
      if (tests.every(([field, value]) => event[field] === value)) fitting.push(at);
    }
    const deps = { tables, blobs: this.#blobs, eventIndex };
    const { total, items } = await listEvents(deps, filters, page);
    const found: [number, string, boolean][] = [];
    for await (const part of items)
      found.push(
        ...part.map((record): [number, string, boolean] => [record.id, record.event_id, record.processed]),
      );
    expect([filters, page, total]).toEqual([filters, page, fitting.length]);
    const expected = (page.oldestFirst === true ? fitting : fitting.reverse()).slice(
      page.offset,
      page.offset + LIMIT,
    );
    expect(found).toEqual(
      expected.map((at) => [at + 1, this.events[at]?.event_id, this.events[at]?.processed]),
    );
  }
}

/** Filters with offsets at the start, in the middle, at the end and beyond it. */
function queries(events: readonly StoredEvent[]): [EventFilters, number][] {
  const field = fc.constantFrom(...INDEXED_FIELDS, "processed" as const);
  const chosen = fc.tuple(
    fc.nat(events.length - 1),
    fc.uniqueArray(field, { maxLength: 4 }),
    fc.constantFrom(0, 0.3, 0.999, 1.1),
  );
  const alone = [...INDEXED_FIELDS, "processed" as const].map(
    (name, at): [number, (typeof name)[], number] => [at * 977 + 7, [name], 0.5],
  );
  const random = fc.sample(chosen, { numRuns: QUERIES, seed: events.length });
  return [...alone, ...random].map(([at, chosenFields, part]) => {
    const event = events[at];
    // Queries with an empty value are not possible.
    const fields = chosenFields.filter((name) => event?.[name] !== "");
    const filters = Object.fromEntries(fields.map((name) => [name, event?.[name]])) as EventFilters;
    const total = events.filter((other) => fields.every((name) => other[name] === event?.[name])).length;
    return [filters, Math.floor(total * part)];
  });
}
