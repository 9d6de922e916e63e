import { ApiError } from "../errors.ts";
import type { BusEntry } from "../platform/bus.ts";
import type { Ports } from "../platform/ports.ts";
import type { Write } from "../platform/tables.ts";
import { eventKey, eventLogTable, type Match, type StoredEvent } from "./log/table.ts";

/** An event before it is recorded. */
export interface EventDraft {
  readonly topic: string;
  readonly name?: string;
  /** `executor`, `scheduler`, `api` or the emitter's own word. */
  readonly source: string;
  readonly data_type?: string;
  readonly workspace?: string;
  readonly run_id?: string;
  readonly workflow_name?: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** 0 for events from outside; one more than its cause's for Weft's own. */
  readonly hop?: number;
  /** Matches that are known already: they stand in for what the triggers say. */
  readonly also?: readonly Match[];
}

/** Finds the triggers that an event sets off. */
export interface Matcher {
  match(event: EventDraft): Promise<readonly Match[]>;
}

/** Further writes that belong to an event, in its own transaction. */
export interface EventEffects {
  writesFor(event: EventDraft, createdAt: string): Promise<readonly Write[]>;
}

export type EventDeps = Pick<Ports, "ids" | "clock" | "blobs" | "secrets" | "log" | "outbox"> & {
  readonly matcher: Matcher;
  readonly effects: EventEffects;
};

/** What a change of state must write and publish to have told of itself. */
export interface ComposedEvents {
  readonly writes: readonly Write[];
  readonly publish: readonly BusEntry[];
  readonly records: readonly StoredEvent[];
}

export const EVENT_SOURCE = "weft.events";
export const EVENT_RECORDED = "event.recorded";
export const COMMAND_SOURCE = "weft.commands";

/** Detail of `event.recorded` on the bus: the record itself is in the log. */
export interface EventRecorded {
  readonly event_id: string;
  readonly topic: string;
  readonly matched: number;
}

/** Data of an event kept in its record at most, bytes; beyond it lies in a blob. */
export const EVENT_DATA_INLINE_BYTES = 200 * 1024;
/** Events that may cause one another in a row before no trigger is looked at any more. */
export const EVENT_HOPS_MAX = 8;
/** How long an unprocessed event waits for the sweep, milliseconds. */
export const EVENT_RESEND_AFTER_MS = 2 * 60 * 1000;

/**
 * Makes the log records of events and what puts them on the bus, to be committed with the change of state
 * that they tell of. Data that is too large goes to a blob at once; a blob without its record is swept.
 */
export async function composeEvents(deps: Omit<EventDeps, "outbox">, drafts: readonly EventDraft[]): Promise<ComposedEvents> {
  const writes: Write[] = [];
  const publish: BusEntry[] = [];
  const records: StoredEvent[] = [];
  for (const draft of drafts) {
    const record = await recordOf(deps, draft);
    records.push(record);
    writes.push({ op: "put", table: eventLogTable, item: record, when: [["pk", "missing"]] });
    const more = await deps.effects.writesFor(draft, record.created_at);
    if (more.length > 0) writes.push(...more);
    publish.push(recordedEntry(record));
  }
  return { writes, publish, records };
}

/** Records events that tell of no change of state of ours, and puts them on the bus. */
export async function emitEvents(deps: EventDeps, drafts: readonly EventDraft[]): Promise<readonly StoredEvent[]> {
  const { writes, publish, records } = await composeEvents(deps, drafts);
  const outcome = await deps.outbox.commit({ writes, publish });
  if (!outcome.ok) throw new ApiError("conflict", "The event could not be recorded, try again");
  return records;
}

export function recordedEntry(record: Pick<StoredEvent, "event_id" | "topic" | "matches">): BusEntry {
  const detail: EventRecorded = { event_id: record.event_id, topic: record.topic, matched: record.matches.length };
  return { source: EVENT_SOURCE, detailType: EVENT_RECORDED, detail: { ...detail } };
}

async function recordOf(deps: Omit<EventDeps, "outbox">, draft: EventDraft): Promise<StoredEvent> {
  const eventId = deps.ids.ordered();
  const hop = draft.hop ?? 0;
  const cut = hop > EVENT_HOPS_MAX;
  const matches = cut ? [] : [...(draft.also ?? []), ...(await deps.matcher.match(draft))];
  const now = deps.clock.now();
  const created = new Date(now).toISOString();
  const data = deps.secrets.redact(JSON.stringify(draft.data));
  const error = cut ? `event loop cut: more than ${EVENT_HOPS_MAX} events caused one another` : "";
  if (cut) deps.log.error("event loop cut", { topic: draft.topic, event: eventId, run: draft.run_id, hop });
  return {
    ...eventKey(eventId),
    event_id: eventId,
    topic: draft.topic,
    name: draft.name ?? draft.topic,
    source: draft.source,
    data_type: draft.data_type ?? "",
    workspace: draft.workspace ?? "",
    run_id: draft.run_id ?? "",
    workflow_name: draft.workflow_name ?? "",
    processed: false,
    processed_at: null,
    error,
    created_at: created,
    matches,
    hop,
    pending: "1",
    resend_at: new Date(now + EVENT_RESEND_AFTER_MS).toISOString(),
    ...(await keepData(deps, eventId, data)),
  };
}

async function keepData(
  deps: Pick<Ports, "blobs">,
  eventId: string,
  data: string,
): Promise<{ data: string } | { data_blob: string }> {
  if (data.length <= EVENT_DATA_INLINE_BYTES / 4 || Buffer.byteLength(data) <= EVENT_DATA_INLINE_BYTES) return { data };
  const key = `events/${eventId}`;
  await deps.blobs.put(key, data);
  return { data_blob: key };
}

/** The JSON text of an event's data, wherever it lies. */
export async function eventData(deps: Pick<Ports, "blobs">, event: StoredEvent): Promise<string> {
  if (event.data !== undefined) return event.data;
  const bytes = event.data_blob === undefined ? undefined : await deps.blobs.get(event.data_blob);
  return bytes === undefined ? "{}" : Buffer.from(bytes).toString("utf8");
}
