import { ApiError } from "../errors.ts";
import type { BusEntry } from "../platform/bus.ts";
import type { Ports } from "../platform/ports.ts";
import type { Write } from "../platform/tables.ts";
import { CONFLICT, retryOnConflict } from "../retry-on-conflict.ts";
import { findLabelIssue } from "./control-characters.ts";
import type { RecentEvents } from "./log/recent-events.ts";
import {
  eventKey,
  eventLogTable,
  eventTailTable,
  type Match,
  type StoredEvent,
  type TailItem,
  tailKey,
  tailShards,
} from "./log/table.ts";
import { redactJsonText } from "./redact-json.ts";

/** The cause of an event or a run. */
export interface Cause {
  /** 0 for external events; for Weft's own, one more than the hop of their cause. */
  readonly hop?: number;
  /** Id of the external event or run that started the chain; unknown if `hop` is 0. */
  readonly root_cause?: string;
}

/** An event before it is recorded. */
export interface EventDraft extends Cause {
  readonly topic: string;
  readonly name?: string;
  /** `executor`, `scheduler`, `api` or an emitter-defined word. */
  readonly source: string;
  readonly data_type?: string;
  readonly workspace?: string;
  readonly run_id?: string;
  readonly workflow_name?: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** An error to show with the record. */
  readonly error?: string;
  /** Additional matches, which do not come from triggers. */
  readonly also?: readonly Match[];
  /**
   * The data is a record of this kind that must be updated: the outcome of the update decides the event's name, or that
   * there is no event.
   */
  readonly effect?: EffectKind;
}

export type EffectKind = "asset" | "vulnerability" | "artifact" | "totals" | "run";

/** The triggers that match an event. */
export interface MatchResult {
  readonly matches: readonly Match[];
  /** Reasons why triggers did not fire that should have; recorded with the event. */
  readonly notes: readonly string[];
  /** Committed with the record; their conditions fail if a concurrent event was faster. */
  readonly writes: readonly Write[];
}

/** Writes per transaction. */
const WRITES_MAX = 100;
/** The most writes of matches in one transaction. */
export const MATCH_WRITES_MAX = 40;

/**
 * Finds the triggers that an event fires. `earlier` are writes of other matches in the same transaction; with them,
 * there are at most `writesMax`.
 */
export interface Matcher {
  match(event: EventDraft, earlier: readonly Write[], writesMax: number): Promise<MatchResult>;
  /**
   * The most triggers that each of the events can fire, by their topics alone; each fires with at most one write. An
   * event with none need not be matched.
   */
  triggersAtMost(events: readonly EventDraft[]): Promise<readonly number[]>;
  /** Counts the runs that an event with a hop starts. Without it, there is no limit. */
  admit?(event: EventDraft, runs: number): Promise<Admission>;
}

/** How many of an event's runs may start. */
export interface Admission {
  readonly granted: number;
  readonly root_cause?: string;
  /** The event to record when runs are rejected for the first time. It starts nothing. */
  readonly refusal?: EventDraft;
}

/** Events after their effects on records are known. */
export interface AppliedEvents {
  /** The events to record, in order. */
  readonly drafts: readonly EventDraft[];
  /** Writes for the same transaction; no item twice. */
  readonly writes: readonly Write[];
}

/** Updates the records that events describe. */
export interface EventEffects {
  /** `at` is the time of the events, ISO 8601. Called again if the writes fail their conditions. */
  apply(drafts: readonly EventDraft[], at: string): Promise<AppliedEvents>;
  /** The most writes that the effects of an event need. */
  writesAtMost(draft: EventDraft): number;
}

export type EventDeps = Pick<Ports, "ids" | "clock" | "blobs" | "secrets" | "log" | "outbox" | "tables"> & {
  readonly matcher: Matcher;
  readonly effects: EventEffects;
  readonly recentEvents: RecentEvents;
};

/** The writes and bus entries that publish a change of state. */
export interface ComposedEvents {
  readonly writes: readonly Write[];
  readonly publish: readonly BusEntry[];
  readonly records: readonly StoredEvent[];
}

export const EVENT_SOURCE = "weft.events";
export const EVENT_RECORDED = "event.recorded";
export const COMMAND_SOURCE = "weft.commands";

/** Detail of `event.recorded` on the bus; the record itself is in the log. */
export interface EventRecorded {
  readonly event_id: string;
  readonly topic: string;
  readonly matched: number;
}

/** Maximum bytes of data in an event's record; larger data is stored as a blob. */
export const EVENT_DATA_INLINE_BYTES = 200 * 1024;
/** The tail item that records without matches share. */
const SHARED_TAIL_ITEM = 1;
/** Maximum length of a causal chain of events; later events fire no triggers. */
export const EVENT_HOPS_MAX = 8;
/** The beginning of the error of an event that was stopped because of its hops. */
export const EVENT_LOOP_ERROR = "event loop";
/** Maximum characters of a record's notes about triggers that could not be evaluated. */
const NOTES_MAX_LENGTH = 2_000;
/** Milliseconds after which the sweep sends an unprocessed event again. */
export const EVENT_RESEND_AFTER_MS = 2 * 60 * 1000;

/**
 * Builds the log records and bus entries of events, to be committed with the change of state that they describe. Data
 * that is too large is stored as a blob immediately; a sweep removes blobs without a record. Ids are generated last, so
 * that their order is that of the commits. `otherWrites` is the number of other writes of the transaction. Throws
 * `bad_request` for a label with control characters.
 */
export async function composeEvents(
  deps: Omit<EventDeps, "outbox">,
  drafts: readonly EventDraft[],
  otherWrites = 0,
): Promise<ComposedEvents> {
  for (const draft of drafts) {
    const fault = findLabelIssue(draft);
    if (fault !== undefined) throw new ApiError("bad_request", fault);
  }
  const applied = await deps.effects.apply(drafts, new Date(deps.clock.now()).toISOString());
  const claims: Write[] = [];
  const prepared: Prepared[] = [];
  const refusals: Prepared[] = [];
  const triggers = await deps.matcher.triggersAtMost(applied.drafts);
  const canMatch = applied.drafts.map(({ also }, at) => triggers[at] !== 0 || also !== undefined);
  const claimsMax = matchWritesAtMost(canMatch, otherWrites + applied.writes.length);
  for (const [at, draft] of applied.drafts.entries()) {
    if (canMatch[at] !== true) {
      prepared.push(await unmatched(deps, draft));
      continue;
    }
    const { writes, refusal, ...one } = await prepare(deps, draft, claims, claimsMax);
    prepared.push(one);
    claims.push(...writes);
    if (refusal !== undefined) refusals.push(await unmatched(deps, refusal));
  }
  const records = [...prepared, ...refusals].map((one) => recordOf(deps, one));
  const writes = [...recordWrites(deps, records), ...claims, ...applied.writes];
  return { writes, publish: records.map(recordedEntry), records };
}

/** The most writes of matches that fit next to the records of events and other writes. */
function matchWritesAtMost(canMatch: readonly boolean[], otherWrites: number): number {
  // A record, and for one that can match its own tail item and the event about runs that may not start.
  const records = canMatch.reduce((sum, can) => sum + (can ? 3 : 1), SHARED_TAIL_ITEM);
  return Math.min(MATCH_WRITES_MAX, WRITES_MAX - otherWrites - records);
}

/** The writes that record events in one transaction. */
export const recordWrites = ({ tables }: Pick<Ports, "tables">, records: readonly StoredEvent[]): Write[] => [
  ...records.map((item): Write => ({ op: "put", table: eventLogTable, item })),
  ...tailsOf(records, tailShards(tables)).map((item): Write => ({ op: "put", table: eventTailTable, item })),
];

/**
 * Records events that accompany no change of state, and publishes them. `claim` is a write whose condition fails if they
 * were recorded before: then nothing is recorded. Throws `conflict`.
 */
export async function emitEvents(
  deps: EventDeps,
  drafts: readonly EventDraft[],
  claim?: Write,
): Promise<readonly StoredEvent[]> {
  const recorded = await tryToEmit(deps, drafts, claim);
  if (recorded !== CONFLICT) return recorded;
  // A concurrent event took a key that these need, or changed their record: such retries run one at a time.
  return inTurn(deps.outbox, () =>
    retryOnConflict(() => tryToEmit(deps, drafts, claim), {
      exceeded: () => new ApiError("conflict", "The event could not be recorded, try again"),
    }),
  );
}

/** A conflict if a concurrent event was faster: the effects of the events must be computed again. */
async function tryToEmit(
  deps: EventDeps,
  drafts: readonly EventDraft[],
  claim: Write | undefined,
): Promise<readonly StoredEvent[] | typeof CONFLICT> {
  const { writes, publish, records } = await composeEvents(deps, drafts, claim === undefined ? 0 : 1);
  const all = claim === undefined ? writes : [claim, ...writes];
  if (all.length === 0) return [];
  const outcome = await deps.outbox.commit({ writes: all, publish });
  if (outcome.ok) {
    deps.recentEvents.add(records);
    return records;
  }
  return claim !== undefined && outcome.failed.includes(0) ? [] : CONFLICT;
}

/** The last waiting promise of each outbox. */
const lines = new WeakMap<EventDeps["outbox"], Promise<unknown>>();

function inTurn<Result>(outbox: EventDeps["outbox"], work: () => Promise<Result>): Promise<Result> {
  const mine = (lines.get(outbox) ?? Promise.resolve()).then(work, work);
  lines.set(outbox, mine);
  mine.catch(() => undefined);
  return mine;
}

export function recordedEntry(record: Pick<StoredEvent, "event_id" | "topic" | "matches">): BusEntry {
  const detail: EventRecorded = {
    event_id: record.event_id,
    topic: record.topic,
    matched: record.matches.length,
  };
  return { source: EVENT_SOURCE, detailType: EVENT_RECORDED, detail: { ...detail } };
}

/** An event with everything that was looked up or written for it, without its id and time. */
interface Prepared {
  readonly draft: EventDraft;
  readonly matches: readonly Match[];
  readonly cut: boolean;
  readonly notes: readonly string[];
  readonly data: { readonly data: string } | { readonly data_blob: string };
}

async function prepare(
  deps: Omit<EventDeps, "outbox">,
  draft: EventDraft,
  earlier: readonly Write[],
  claimsMax: number,
): Promise<Prepared & Pick<MatchResult, "writes"> & Pick<Admission, "refusal">> {
  const found = await deps.matcher.match(draft, earlier, claimsMax);
  const matches = [...(draft.also ?? []), ...found.matches];
  const { hop = 0 } = draft;
  const cut = matches.length > 0 && hop > EVENT_HOPS_MAX;
  const unchanged = await unmatched(deps, draft);
  const { notes } = found;
  if (cut || matches.length === 0) return { ...unchanged, cut, notes, writes: cut ? [] : found.writes };
  if (hop === 0) return { ...unchanged, matches, notes, writes: found.writes };
  const admission = await deps.matcher.admit?.(draft, matches.length);
  const { granted = matches.length, root_cause = draft.root_cause, refusal } = admission ?? {};
  return {
    ...unchanged,
    draft: root_cause === undefined ? draft : { ...draft, root_cause },
    matches: matches.slice(0, granted),
    notes,
    writes: granted === 0 ? [] : found.writes,
    ...(refusal !== undefined && { refusal }),
  };
}

/** An event that starts nothing. */
async function unmatched(deps: Omit<EventDeps, "outbox">, draft: EventDraft): Promise<Prepared> {
  const data = await keepData(deps, redactJsonText(draft.data, deps.secrets.redact));
  return { draft, matches: [], cut: false, notes: draft.error === undefined ? [] : [draft.error], data };
}

/** The record of an event. An event without matches needs no dispatch: it is recorded as processed. */
function recordOf(
  deps: Pick<EventDeps, "ids" | "clock" | "log" | "secrets">,
  { draft, matches, cut, notes, data }: Prepared,
): StoredEvent {
  const eventId = deps.ids.ordered();
  const now = new Date(deps.clock.now()).toISOString();
  const { topic, hop = 0 } = draft;
  if (cut) deps.log.error("stopped an event loop", { topic, event: eventId, run: draft.run_id, hop });
  return {
    ...eventKey(eventId),
    event_id: eventId,
    topic,
    name: draft.name ?? topic,
    source: draft.source,
    data_type: draft.data_type ?? "",
    workspace: draft.workspace ?? "",
    run_id: draft.run_id ?? "",
    workflow_name: draft.workflow_name ?? "",
    processed: matches.length === 0,
    processed_at: matches.length === 0 ? now : null,
    error: cut
      ? `${EVENT_LOOP_ERROR}: more than ${EVENT_HOPS_MAX} events triggered one another`
      : deps.secrets.redact(notes.join("; ")).slice(0, NOTES_MAX_LENGTH),
    created_at: now,
    matches,
    hop,
    ...(draft.root_cause !== undefined && { root_cause: draft.root_cause }),
    ...data,
  };
}

async function keepData(
  deps: Pick<Ports, "blobs" | "ids">,
  data: string,
): Promise<{ data: string } | { data_blob: string }> {
  if (data.length <= EVENT_DATA_INLINE_BYTES / 4 || Buffer.byteLength(data) <= EVENT_DATA_INLINE_BYTES)
    return { data };
  const key = `events/${deps.ids.random()}`;
  await deps.blobs.put(key, data);
  return { data_blob: key };
}

/** Records that only have to be indexed share one tail item. */
function tailsOf(records: readonly StoredEvent[], shards: number): TailItem[] {
  const tailOf = (record: StoredEvent): TailItem => newTailItem(record, shards);
  const done = records.filter(({ processed }) => processed);
  const [first] = done;
  if (first === undefined || done.length === 1) return records.map(tailOf);
  const ids = done.map(({ event_id }) => event_id);
  const open = records.filter(({ processed }) => !processed);
  return [...open.map(tailOf), { ...tailOf(first), ids, left: ids.length }];
}

function newTailItem(record: StoredEvent, shards: number): TailItem {
  const resendAt = new Date(Date.parse(record.created_at) + EVENT_RESEND_AFTER_MS).toISOString();
  return { ...tailKey(record.event_id, "tail", shards), resend_at: resendAt, resends: 0 };
}

/** The JSON text of an event's data, from the record or its blob. */
export async function eventData(deps: Pick<Ports, "blobs">, event: StoredEvent): Promise<string> {
  if (event.data !== undefined) return event.data;
  const bytes = event.data_blob === undefined ? undefined : await deps.blobs.get(event.data_blob);
  return bytes === undefined ? "{}" : Buffer.from(bytes).toString("utf8");
}
