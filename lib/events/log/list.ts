import * as z from "zod";
import type { OrderedPageRequest } from "../../http/page.ts";
import type { Ports } from "../../platform/ports.ts";
import { pageSizeOf } from "../../ranked-index/page-size.ts";
import { fromOtherEnd } from "../../ranked-index/page-window.ts";
import type { RankedIndex } from "../../ranked-index/ranked-index.ts";
import type { Filter, View } from "../../ranked-index/view.ts";
import { eventData } from "../publish.ts";
import { INDEXED_FIELDS, UNPROCESSED } from "./index-events.ts";
import { eventKey, eventLogTable, type StoredEvent } from "./table.ts";
import { readUnindexedIds } from "./tail.ts";

/** A record in responses: always all fourteen fields. Seed: workflow 2.3. */
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

/** Filters of the log, combined with AND. Seed: workflow 4. */
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

/** Maximum number of records since this process last read the index for which reading the keys since then is cheap. */
const NEAR = 1_024;

/**
 * The records that match the filters, newest first: the total, and the records from `offset` on. The index covers the
 * records that it contains; the few that it does not contain yet are read from the tail and come first, with
 * provisional numbers after the last one, so that callers read their own writes. A page of the oldest first is read
 * from the other end.
 */
export async function listEvents(
  deps: LogDeps,
  filters: EventFilters,
  page: OrderedPageRequest,
): Promise<EventListing> {
  const { view, waiting } = await readTogether(deps, termsOf(filters));
  const tail = await tailRecords(deps, waiting, view.last, filters);
  const total = view.total + tail.length;
  const { offset, limit } = page.oldestFirst === true ? fromOtherEnd(total, page) : page;
  const shown = tail.slice(offset, offset + limit);
  const from = Math.max(0, offset - tail.length);
  const found = await view.page({ offset: from, limit: limit - shown.length });
  return { total, items: both(deps, shown, found, page.oldestFirst === true) };
}

/** Records of the log after a position. */
export interface EventsAfter {
  /** Oldest first, page by page. */
  readonly records: AsyncIterable<readonly EventRecord[]>;
  /** The position to continue after. */
  readonly position: number;
  /** Whether there may be more. */
  readonly more: boolean;
  /** Records up to this number were removed from the log. */
  readonly removed: number;
}

/**
 * The records of the index with a number above `position` that match the filters, oldest first, at most `limit`.
 * Numbers are assigned in one order and for good, so a reader that continues after the position misses nothing and
 * reads nothing twice.
 */
export async function readEventsAfter(
  deps: LogDeps,
  filters: EventFilters,
  { position, limit }: { readonly position: number; readonly limit: number },
): Promise<EventsAfter> {
  const { found, last, low } = await deps.eventIndex.after(termsOf(filters), position, limit);
  return { records: indexedRecords(deps, found), position: last, more: found.length >= limit, removed: low };
}

/** The position after which the last `count` records that match the filters are. */
export async function positionOfLast(deps: LogDeps, filters: EventFilters, count: number): Promise<number> {
  if (count === 0) return deps.eventIndex.last();
  const view = await deps.eventIndex.view(termsOf(filters));
  const found = await view.page({ offset: 0, limit: count });
  return (found.at(-1)?.number ?? view.last + 1) - 1;
}

/**
 * The index, and the ids of the records that it does not contain, newest first. A record leaves the tail only after it
 * is visible in the index, so reading the tail first misses none. A record in the tail may also be in the index, but
 * not in the blocks that were written before the tail was read.
 */
async function readTogether(
  deps: LogDeps,
  terms: readonly Filter[],
): Promise<{ view: View; waiting: readonly string[] }> {
  const { eventIndex } = deps;
  let before = eventIndex.floor;
  let ids = await readUnindexedIds(deps);
  let view = await eventIndex.view(terms);
  if (ids.length > 0 && (before === undefined || view.merged - before > NEAR)) {
    before = view.merged;
    ids = await readUnindexedIds(deps);
    view = await eventIndex.view(terms);
  }
  if (ids.length === 0) return { view, waiting: [] };
  const held = new Set(await view.keysAfter(before ?? 0));
  return { view, waiting: ids.filter((id) => !held.has(id)) };
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
  oldestFirst: boolean,
): AsyncGenerator<readonly EventRecord[]> {
  if (oldestFirst) yield* indexedRecords(deps, found.toReversed());
  yield* withData(deps, oldestFirst ? tail.toReversed() : tail);
  if (!oldestFirst) yield* indexedRecords(deps, found);
}

async function* indexedRecords(
  deps: LogDeps,
  found: readonly { number: number; key: string }[],
): AsyncGenerator<readonly EventRecord[]> {
  const size = pageSizeOf(deps.eventIndex);
  for (let start = 0; start < found.length; ) {
    const part = found.slice(start, start + size.records);
    start += part.length;
    const numbers = new Map(part.map(({ key, number }) => [key, number]));
    const events = await deps.tables.batchGet(
      eventLogTable,
      part.map(({ key }) => eventKey(key)),
    );
    const bytes = events.reduce((sum, { data = "" }) => sum + data.length, 0);
    size.note(bytes / Math.max(1, events.length));
    yield* withData(
      deps,
      events.map((event) => ({ event, number: numbers.get(event.event_id) ?? 0 })),
    );
  }
}

/** Records with their data; a record whose data is a blob is yielded before the next one is read. */
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

/** A record in responses. `id` is its number in the log. */
export function toRecord(event: StoredEvent, data: string, id: number): EventRecord {
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
