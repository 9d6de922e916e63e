import { ApiError } from "../errors.ts";
import type { BusEntry } from "../platform/bus.ts";
import type { Ports } from "../platform/ports.ts";
import type { Key, Write } from "../platform/tables.ts";
import {
  type StagedEvents,
  type StoredEvent,
  stagedEventsTable,
  tailKey,
  tailPartitions,
} from "./log/table.ts";
import {
  composeEvents,
  EVENT_RESEND_AFTER_MS,
  EVENT_SOURCE,
  type EventDeps,
  type EventDraft,
  emitEvents,
  MATCH_WRITES_MAX,
  recordWrites,
} from "./publish.ts";
import { redactJsonText } from "./redact-json.ts";

/** The bus entry that asks for accepted events to be recorded. */
export const EVENTS_STAGED = "events.staged";

/** Detail of `events.staged`. The dispatcher receives it like an event with matches. */
export interface EventsStaged {
  /** Id of the events that were accepted together. */
  readonly staged: string;
  readonly matched: number;
}

/** Writes of one transaction, without the item of the part and the tail item that its records share. */
const WRITES_MAX = 98;
/** Parts of one request, before those that are too large for an item are halved. */
const PARTS_MAX = 50;
/** Maximum bytes of the drafts of a part in its item; larger ones are stored as a blob. */
const INLINE_BYTES = 300 * 1024;
/** Digits of the position of a part. */
const PART_DIGITS = 4;
/** Parts of each partition that the sweep looks at. */
const STAGED_PAGE = 10;

interface Part {
  readonly drafts: readonly EventDraft[];
  /** JSON text of the drafts, without secrets. */
  readonly text: string;
}

/**
 * Records and publishes any number of events, all or none, in the order of `drafts`; returns their records. A
 * transaction contains only some of them, so more are accepted in one transaction of few large items, one per part, and
 * then recorded in several, each of which also counts down the item of its part, or deletes it. After a crash in
 * between, the sweep has the other events recorded.
 */
export async function emitTogether(
  deps: EventDeps,
  drafts: readonly EventDraft[],
): Promise<readonly StoredEvent[]> {
  const most = await writesAtMost(deps, drafts);
  const groups = groupsOf(drafts, most);
  const [only] = groups;
  if (groups.length === 1 && only !== undefined) return (await emitEvents(deps, only)).slice(0, only.length);
  // A change of an item costs as much as the whole item, so a part consists of as few groups as possible.
  const groupsEach = Math.ceil(groups.length / PARTS_MAX);
  const parts = joined(groups, groupsEach).flatMap((some) => toParts(deps, some));
  const id = deps.ids.ordered();
  const items = await Promise.all(parts.map((part, at) => stagedItem(deps, part, partKey(id, at))));
  const writes = items.map((item): Write => ({ op: "put", table: stagedEventsTable, item }));
  await deps.outbox.commit({ writes });
  const staged = parts.map(({ drafts: own }, at) => ({ drafts: own, item: items[at] as StagedEvents }));
  const isPlain = groupsEach === 1 && most.every((writes) => writes === 1);
  return isPlain ? recordPlain(deps, staged) : recordInTurn(deps, staged);
}

interface Staged {
  readonly drafts: readonly EventDraft[];
  readonly item: StagedEvents;
}

const recordedElsewhere = (): Error => new Error("accepted events were recorded by another process");

/** Records parts whose events fire nothing and have no effects: at the same time, because none depends on another. */
async function recordPlain(deps: EventDeps, staged: readonly Staged[]): Promise<readonly StoredEvent[]> {
  const all = staged.flatMap(({ drafts }) => drafts);
  const { records, publish, writes } = await composeEvents(deps, all);
  // More than the records and their common tail item: a trigger was added meanwhile.
  if (writes.length > all.length + 1) return recordInTurn(deps, staged);
  let start = 0;
  const commits = staged.map(async ({ drafts, item }) => {
    const own = records.slice(start, start + drafts.length);
    const entries = publish.slice(start, start + drafts.length);
    start += drafts.length;
    const { ok } = await deps.outbox.commit({
      writes: [countDown(item, item.left, own.length), ...recordWrites(deps, own)],
      publish: entries,
    });
    if (!ok) throw recordedElsewhere();
    deps.recentEvents.add(own);
    await forgetBlob(deps, item);
  });
  await Promise.all(commits);
  return records;
}

/** Records parts one after another: the triggers and effects of events depend on those of earlier ones. */
async function recordInTurn(deps: EventDeps, staged: readonly Staged[]): Promise<readonly StoredEvent[]> {
  const records: StoredEvent[] = [];
  for (const { drafts, item } of staged) {
    const recorded = await recordPart(deps, item, drafts).catch((cause: unknown) => {
      // A conflict would mean that nothing was accepted.
      throw cause instanceof ApiError ? new Error("recording accepted events failed", { cause }) : cause;
    });
    if (recorded.length < drafts.length) throw recordedElsewhere();
    records.push(...recorded);
  }
  return records;
}

/** The most writes that each event may need: its record and, if it may fire triggers or have effects, further ones. */
async function writesAtMost(
  { matcher, effects }: Pick<EventDeps, "matcher" | "effects">,
  drafts: readonly EventDraft[],
): Promise<number[]> {
  const triggers = await matcher.triggersAtMost(drafts);
  return drafts.map((draft, at) => {
    const fires = triggers[at] ?? 0;
    // Its own tail item, the claims of its triggers, and the event about runs that may not start.
    const claims = Math.min(fires, MATCH_WRITES_MAX);
    return 1 + (fires === 0 ? 0 : 2 + claims) + effects.writesAtMost(draft);
  });
}

/** Splits events into groups that fit into one transaction with all of their writes. */
function groupsOf(drafts: readonly EventDraft[], most: readonly number[]): EventDraft[][] {
  const groups: EventDraft[][] = [];
  let group: EventDraft[] = [];
  let writes = 0;
  for (const [at, draft] of drafts.entries()) {
    const own = most[at] ?? 1;
    if (group.length === 0 || writes + own > WRITES_MAX) {
      group = [];
      groups.push(group);
      writes = 0;
    }
    group.push(draft);
    writes += own;
  }
  return groups;
}

/** Joins each `count` consecutive groups. */
const joined = (groups: readonly EventDraft[][], count: number): EventDraft[][] =>
  Array.from({ length: Math.ceil(groups.length / count) }, (_, at) =>
    groups.slice(at * count, (at + 1) * count).flat(),
  );

/** Halves events until each part fits into an item. */
function toParts(deps: Pick<Ports, "secrets">, drafts: readonly EventDraft[]): Part[] {
  const text = redactJsonText(drafts, deps.secrets.redact);
  if (drafts.length === 1 || Buffer.byteLength(text) <= INLINE_BYTES) return [{ drafts, text }];
  const half = Math.ceil(drafts.length / 2);
  return [...toParts(deps, drafts.slice(0, half)), ...toParts(deps, drafts.slice(half))];
}

/** All parts are in one partition, in their order. */
const partKey = (id: string, at: number): Key => ({
  ...tailKey(id, "staged"),
  sk: `${id}#${String(at).padStart(PART_DIGITS, "0")}`,
});

async function stagedItem(
  deps: Pick<Ports, "ids" | "clock" | "blobs">,
  { drafts, text }: Part,
  key: Key,
): Promise<StagedEvents> {
  const resendAt = deps.clock.now() + EVENT_RESEND_AFTER_MS;
  const item = { ...key, resend_at: new Date(resendAt).toISOString(), left: drafts.length };
  if (Buffer.byteLength(text) <= INLINE_BYTES) return { ...item, drafts: text };
  const blob = `events/${deps.ids.random()}`;
  await deps.blobs.put(blob, text);
  return { ...item, drafts_blob: blob };
}

/** Records `count` of the events that are `left` once: the last ones delete the item. */
function countDown({ pk, sk }: StagedEvents, left: number, count: number): Write {
  const of = { table: stagedEventsTable, key: { pk, sk }, when: [["left", "=", left]] as const };
  if (count === left) return { op: "delete", ...of };
  return { op: "update", ...of, change: { set: { left: left - count } } };
}

async function forgetBlob({ blobs }: Pick<Ports, "blobs">, { drafts_blob }: StagedEvents): Promise<void> {
  if (drafts_blob !== undefined) await blobs.delete([drafts_blob]);
}

/** Asks for the events to be recorded whose request did not record them in time. */
export async function resendStaged(deps: Pick<Ports, "tables" | "bus" | "clock" | "log">): Promise<void> {
  const now = deps.clock.now();
  for (const pk of tailPartitions("staged")) {
    const { items } = await deps.tables.query(stagedEventsTable, { pk, limit: STAGED_PAGE });
    const due = items.filter(({ resend_at }) => Date.parse(resend_at) <= now);
    const ids = [...new Set(due.map(({ sk }) => sk.split("#", 1)[0] ?? ""))];
    if (ids.length === 0) continue;
    deps.log.warn("resent accepted events that were not recorded", { count: ids.length });
    await deps.bus.publish(ids.map(stagedEntry));
  }
}

function stagedEntry(staged: string): BusEntry {
  const detail: EventsStaged = { staged, matched: 1 };
  return { source: EVENT_SOURCE, detailType: EVENTS_STAGED, detail: { ...detail } };
}

/** Records the accepted events, in their order, that their request and earlier calls did not record. */
export async function recordStaged(deps: EventDeps & Pick<Ports, "tables">, id: string): Promise<void> {
  for (;;) {
    const { items } = await deps.tables.query(stagedEventsTable, {
      pk: tailKey(id, "staged").pk,
      sk: { beginsWith: `${id}#` },
      limit: 1,
    });
    const [item] = items;
    if (item === undefined) return;
    const drafts = await readDrafts(deps, item);
    await recordPart(deps, item, drafts.slice(-item.left));
  }
}

/**
 * Records the events of a part that are left, in order and in as many transactions as they need; returns their records
 * before the first one that another process recorded.
 */
async function recordPart(
  deps: EventDeps,
  item: StagedEvents,
  drafts: readonly EventDraft[],
): Promise<readonly StoredEvent[]> {
  const records: StoredEvent[] = [];
  const waiting = groupsOf(drafts, await writesAtMost(deps, drafts));
  for (let group = waiting.shift(); group !== undefined; group = waiting.shift()) {
    const left = drafts.length - records.length;
    try {
      const recorded = await emitEvents(deps, group, countDown(item, left, group.length));
      if (recorded.length < group.length) return records;
      records.push(...recorded.slice(0, group.length));
    } catch (error) {
      const isTooLarge = (error as { readonly code?: unknown }).code === "limit_exceeded";
      if (!isTooLarge || group.length === 1) throw error;
      // Triggers were added meanwhile.
      const half = Math.ceil(group.length / 2);
      waiting.unshift(group.slice(0, half), group.slice(half));
    }
  }
  await forgetBlob(deps, item);
  return records;
}

async function readDrafts(
  { blobs }: Pick<Ports, "blobs">,
  { drafts, drafts_blob = "" }: StagedEvents,
): Promise<readonly EventDraft[]> {
  const text = drafts ?? Buffer.from((await blobs.get(drafts_blob)) ?? "[]").toString("utf8");
  return JSON.parse(text) as readonly EventDraft[];
}
