import * as z from "zod";
import type { Ports } from "../../platform/ports.ts";
import { eventData } from "../publish.ts";
import {
  eventKey,
  eventLogTable,
  eventNumbersTable,
  NUMBER_COUNTER_KEY,
  type StoredEvent,
} from "./table.ts";

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

const READ_PAGE = 500;

/**
 * The records that fit the filters, newest first: how many in all, and those from `offset` on. Records that
 * the indexer has not numbered yet are counted on from the last number, so a caller reads its own write.
 */
export async function listEvents(
  deps: Pick<Ports, "tables" | "blobs">,
  filters: EventFilters,
  page: { offset: number; limit: number },
): Promise<EventListing> {
  const counter = await deps.tables.get(eventNumbersTable, NUMBER_COUNTER_KEY);
  const tests = Object.entries(filters).filter(([, value]) => value !== undefined) as [keyof StoredEvent, unknown][];
  const picked: StoredEvent[] = [];
  const unnumbered: string[] = [];
  let total = 0;
  let cursor: string | undefined;
  do {
    const read = await deps.tables.query(eventLogTable, {
      pk: eventKey("").pk,
      reverse: true,
      limit: READ_PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const event of read.items) {
      if (event.number === undefined) unnumbered.push(event.event_id);
      if (!tests.every(([field, value]) => event[field] === value)) continue;
      if (total >= page.offset && picked.length < page.limit) picked.push(event);
      total += 1;
    }
    cursor = read.cursor;
  } while (cursor !== undefined);
  const last = counter?.last ?? 0;
  const provisional = new Map(unnumbered.map((id, index) => [id, last + unnumbered.length - index]));
  return { total, items: records(deps, picked, provisional) };
}

async function* records(
  deps: Pick<Ports, "blobs">,
  events: readonly StoredEvent[],
  provisional: ReadonlyMap<string, number>,
): AsyncGenerator<readonly EventRecord[]> {
  const inline: EventRecord[] = [];
  for (const event of events) {
    if (event.data === undefined && inline.length > 0) yield inline.splice(0);
    const record = toRecord(event, await eventData(deps, event), event.number ?? provisional.get(event.event_id) ?? 0);
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
