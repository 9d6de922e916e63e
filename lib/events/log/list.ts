import * as z from "zod";
import type { Ports } from "../../platform/ports.ts";
import type { Filter, RankedIndex } from "../../ranked-index/ranked-index.ts";
import { eventData } from "../publish.ts";
import { INDEXED_FIELDS, UNPROCESSED } from "./index-events.ts";
import { eventKey, eventLogTable, eventTailTable, type StoredEvent, tailPartitions } from "./table.ts";

/** A record as callers see it: all fourteen fields, always. Seed: workflow 2.3. */
export const eventRecord = z
  .object({
    id: z.int().describe("Record number, in order of arrival"),
    topic: z.string(),
    event_id: z.string().describe("UUID"),
    name: z.string(),
    source: z.string(),
    data_type: z.string(),
    data: z.string().describe("JSON-encoded payload"),
    workspace: z.string(),
    run_id: z.string(),
    workflow_name: z.string(),
    processed: z.boolean(),
    processed_at: z.string().nullable(),
    error: z.string(),
    created_at: z.string(),
  })
  .meta({ id: "EventLogRecord" });
export type EventRecord = z.infer<typeof eventRecord>;

/** Filters of the log; all that are given apply together. Seed: workflow 4. */
export interface EventFilters {
  readonly topic?: string | undefined;
  readonly name?: string | undefined;
  readonly source?: string | undefined;
  readonly workspace?: string | undefined;
  readonly run_id?: string | undefined;
  readonly workflow_name?: string | undefined;
  readonly processed?: boolean | undefined;
}

export interface EventListing {
  readonly total: number;
  readonly items: AsyncIterable<readonly EventRecord[]>;
}

export type LogDeps = Pick<Ports, "tables" | "blobs"> & { readonly eventIndex: RankedIndex };

/** Numbers before the last among which a record may be that the tail still shows. */
const RECENT = 1_000;
/** Records read together, page by page. */
const READ_PAGE = 100;

/**
 * The records that fit the filters, newest first: how many in all, and those from `offset` on. The index
 * answers for what it holds; the few records that it does not hold yet are read from the tail and come
 * first, counted on from the last number, so a caller reads its own write.
 */
export async function listEvents(
  deps: LogDeps,
  filters: EventFilters,
  page: { offset: number; limit: number },
): Promise<EventListing> {
  const waiting = await unindexed(deps);
  const terms = termsOf(filters);
  const selected = await deps.eventIndex.select(terms, page);
  // What was indexed between the two readings is in both: the index has it. A transaction of the indexer may
  // also be seen in part, so the numbers before are looked at too.
  const recent =
    waiting.length === 0
      ? []
      : await deps.eventIndex.keys(Math.max(1, selected.last - RECENT), selected.last);
  const meanwhile = new Set(recent);
  const ids = waiting.filter((id) => !meanwhile.has(id));
  const tail = await tailRecords(deps, ids, selected.last, filters);
  if (tail.length === 0) return { total: selected.total, items: indexedRecords(deps, selected.found) };
  const shown = tail.slice(page.offset, page.offset + page.limit);
  const offset = Math.max(0, page.offset - tail.length);
  const rest = { offset, limit: page.limit - shown.length, upTo: selected.last };
  const found = rest.limit === 0 ? [] : (await deps.eventIndex.select(terms, rest)).found;
  return { total: selected.total + tail.length, items: both(deps, shown, found) };
}

function termsOf(filters: EventFilters): Filter[] {
  const terms: Filter[] = [];
  for (const field of INDEXED_FIELDS) {
    const value = filters[field];
    if (value !== undefined) terms.push({ field, value });
  }
  if (filters.processed !== undefined) terms.push({ ...UNPROCESSED, negated: filters.processed });
  return terms;
}

/** Ids of the records that are not indexed yet, newest first. */
export async function unindexed(deps: Pick<Ports, "tables">): Promise<string[]> {
  const ids: string[] = [];
  for (const pk of tailPartitions()) {
    let cursor: string | undefined;
    do {
      const page = await deps.tables.query(eventTailTable, {
        pk,
        ...(cursor === undefined ? {} : { cursor }),
      });
      for (const item of page.items) if (item.number === undefined) ids.push(item.sk);
      cursor = page.cursor;
    } while (cursor !== undefined);
  }
  return ids.sort().reverse();
}

interface Numbered {
  readonly event: StoredEvent;
  readonly number: number;
}

async function tailRecords(
  deps: LogDeps,
  ids: readonly string[],
  last: number,
  filters: EventFilters,
): Promise<Numbered[]> {
  if (ids.length === 0) return [];
  const tests = Object.entries(filters).filter(([, value]) => value !== undefined) as [
    keyof StoredEvent,
    unknown,
  ][];
  const events = await deps.tables.batchGet(eventLogTable, ids.map(eventKey));
  return events
    .map((event, index) => ({ event, number: last + events.length - index }))
    .filter(({ event }) => tests.every(([field, value]) => event[field] === value));
}

async function* both(
  deps: LogDeps,
  tail: readonly Numbered[],
  found: readonly { number: number; key: string }[],
): AsyncGenerator<readonly EventRecord[]> {
  yield* withData(deps, tail);
  yield* indexedRecords(deps, found);
}

async function* indexedRecords(
  deps: LogDeps,
  found: readonly { number: number; key: string }[],
): AsyncGenerator<readonly EventRecord[]> {
  for (let start = 0; start < found.length; start += READ_PAGE) {
    const part = found.slice(start, start + READ_PAGE);
    const numbers = new Map(part.map(({ key, number }) => [key, number]));
    const events = await deps.tables.batchGet(
      eventLogTable,
      part.map(({ key }) => eventKey(key)),
    );
    yield* withData(
      deps,
      events.map((event) => ({ event, number: numbers.get(event.event_id) ?? 0 })),
    );
  }
}

/** Records with their data; one whose data lies in a blob goes out before the next is read. */
async function* withData(
  deps: LogDeps,
  numbered: readonly Numbered[],
): AsyncGenerator<readonly EventRecord[]> {
  let inline: EventRecord[] = [];
  for (const { event, number } of numbered) {
    if (event.data === undefined && inline.length > 0) {
      yield inline;
      inline = [];
    }
    const record = toRecord(event, await eventData(deps, event), number);
    if (event.data === undefined) yield [record];
    else inline.push(record);
  }
  if (inline.length > 0) yield inline;
}

function toRecord(event: StoredEvent, data: string, id: number): EventRecord {
  return {
    id,
    topic: event.topic,
    event_id: event.event_id,
    name: event.name,
    source: event.source,
    data_type: event.data_type,
    data,
    workspace: event.workspace,
    run_id: event.run_id,
    workflow_name: event.workflow_name,
    processed: event.processed,
    processed_at: event.processed_at,
    error: event.error,
    created_at: event.created_at,
  };
}
