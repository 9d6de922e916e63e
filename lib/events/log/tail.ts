import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { CONFLICT, retryOnConflict } from "../../retry-on-conflict.ts";
import { readAll } from "../read-all.ts";
import { eventTailTable, type TailItem, tailIds, tailKey, tailPartitions, tailShards } from "./table.ts";

/** A record that is visible in the index. */
export interface IndexedRecord {
  readonly eventId: string;
  readonly number: number;
  /** It will not change any more. */
  readonly final: boolean;
}

/** Tail items per transaction, with at most two writes each. */
const ITEMS_PER_TRANSACTION = 50;

/**
 * Removes indexed records from the tail; unprocessed ones move to where the sweep finds them. Idempotent. `known`
 * contains tail items that were read earlier, by the ids of their events.
 */
export async function acknowledgeTail(
  deps: Pick<Ports, "tables">,
  records: readonly IndexedRecord[],
  known: ReadonlyMap<string, TailItem>,
): Promise<void> {
  // Once for all: of records that are no longer in the tail, the items of all partitions have to be read.
  const items = records.every(({ eventId }) => known.has(eventId))
    ? known
    : await readTailItems(deps, records, known);
  const byItem = Map.groupBy(records, ({ eventId }) => known.get(eventId)?.sk ?? eventId);
  const parts = [...byItem.values()];
  const groups = Array.from({ length: Math.ceil(parts.length / ITEMS_PER_TRANSACTION) }, (_, at) =>
    parts.slice(at * ITEMS_PER_TRANSACTION, (at + 1) * ITEMS_PER_TRANSACTION),
  );
  await Promise.all(groups.map((group) => acknowledgeSome(deps, group.flat(), known, items)));
}

/** `current` are the items as they were last read. */
async function acknowledgeSome(
  deps: Pick<Ports, "tables">,
  records: readonly IndexedRecord[],
  known: ReadonlyMap<string, TailItem>,
  current: ReadonlyMap<string, TailItem>,
): Promise<void> {
  let items = current;
  const acknowledge = async () => {
    const writes = acknowledgeWrites(records, items, tailShards(deps.tables));
    if (writes.length === 0 || (await deps.tables.write(writes)).ok) return;
    items = await readTailItems(deps, records, known);
    return CONFLICT;
  };
  await retryOnConflict(acknowledge, {
    exceeded: () => new Error("too many conflicts at the tail of the event log"),
  });
}

/** The current tail items of records, including shared items of records that others indexed. */
async function readTailItems(
  deps: Pick<Ports, "tables">,
  records: readonly IndexedRecord[],
  known: ReadonlyMap<string, TailItem>,
): Promise<ReadonlyMap<string, TailItem>> {
  const keys = [...new Set(records.map(({ eventId }) => known.get(eventId)?.sk ?? eventId))];
  const items = keyByEventId(
    await deps.tables.batchGet(
      eventTailTable,
      keys.map((key) => tailKey(key, "tail", tailShards(deps.tables))),
    ),
  );
  const isFound = ({ eventId }: IndexedRecord): boolean => items.has(eventId) || known.has(eventId);
  if (records.every(isFound)) return items;
  return new Map([...keyByEventId((await readTail(deps)).flat()), ...items]);
}

/** Tail items by the ids of their events. */
export const keyByEventId = (items: readonly TailItem[]): Map<string, TailItem> =>
  new Map(items.flatMap((item) => tailIds(item).map((id) => [id, item])));

function acknowledgeWrites(
  records: readonly IndexedRecord[],
  items: ReadonlyMap<string, TailItem>,
  shards: number,
): Write[] {
  const writes: Write[] = [];
  const together = new Map<TailItem, Set<string>>();
  for (const record of records) {
    const item = items.get(record.eventId);
    if (item?.ids === undefined) writes.push(...ownWrites(record, item, shards));
    else together.set(item, (together.get(item) ?? new Set()).add(record.eventId));
  }
  for (const [item, acknowledged] of together) {
    const { pk, sk, ids = [], left = 0, resend_at } = item;
    const rest = ids.filter((id) => !acknowledged.has(id));
    const when = [["left", "=", left] as const, ["resend_at", "=", resend_at] as const];
    if (rest.length === 0) writes.push({ op: "delete", table: eventTailTable, key: { pk, sk }, when });
    else {
      const next: TailItem = { ...item, ids: rest, left: rest.length };
      writes.push({ op: "put", table: eventTailTable, item: next, when });
    }
  }
  return writes;
}

/** A missing item is not written: its key may belong to an item that other records share. */
function ownWrites(
  { eventId, number, final }: IndexedRecord,
  item: TailItem | undefined,
  shards: number,
): Write[] {
  if (item === undefined || item.number !== undefined) return [];
  const key = { pk: item.pk, sk: item.sk };
  if (final) return [{ op: "delete", table: eventTailTable, key }];
  const moved: TailItem = { ...item, ...tailKey(eventId, "indexed", shards), number };
  return [
    { op: "delete", table: eventTailTable, key, when: [["resend_at", "=", item.resend_at]] },
    { op: "put", table: eventTailTable, item: moved },
  ];
}

/** Ids of the records that may not be indexed yet, newest first. */
export async function readUnindexedIds(deps: Pick<Ports, "tables">): Promise<string[]> {
  return (await readTail(deps)).flat().flatMap(tailIds).sort().reverse();
}

/** The items of each partition. */
function readTail(
  deps: Pick<Ports, "tables">,
  { items, of }: { readonly items?: number; readonly of?: readonly string[] | undefined } = {},
): Promise<TailItem[][]> {
  const shards = tailShards(deps.tables);
  const partitions =
    of === undefined
      ? tailPartitions("tail", shards)
      : [...new Set(of.map((id) => tailKey(id, "tail", shards).pk))];
  return Promise.all(partitions.map((pk) => readAll(deps, eventTailTable, { pk }, items)));
}

export interface OldestUnindexed {
  readonly items: readonly TailItem[];
  /** Whether there are further items. */
  readonly more: boolean;
}

/**
 * The pending work of records that are not indexed yet, oldest first. Reads a bounded number of items per partition, of
 * all partitions or those of some records, and takes from them a bounded number of records but at least one item.
 */
export async function findOldestUnindexed(
  deps: Pick<Ports, "tables">,
  most: { readonly items: number; readonly records: number },
  of?: readonly string[],
): Promise<OldestUnindexed> {
  const parts = await readTail(deps, { items: most.items, of });
  const read = parts.flat().sort((one, other) => (one.sk < other.sk ? -1 : 1));
  let records = 0;
  const items = read.filter((item, at) => {
    records += tailIds(item).length;
    return at === 0 || records <= most.records;
  });
  return { items, more: items.length < read.length || parts.some((part) => part.length >= most.items) };
}

/** Those of some records that are in the index and wait there until they are processed. */
export async function findIndexed(
  deps: Pick<Ports, "tables">,
  eventIds: readonly string[],
): Promise<string[]> {
  const shards = tailShards(deps.tables);
  const items = await deps.tables.batchGet(
    eventTailTable,
    eventIds.map((id) => tailKey(id, "indexed", shards)),
  );
  return items.map(({ sk }) => sk);
}

/** Divides tail items into parts of a number of records, in order; an item with more is a part. */
export function divideItems(items: readonly TailItem[], recordsMax: number): TailItem[][] {
  const parts: TailItem[][] = [];
  let records = 0;
  for (const item of items) {
    const own = tailIds(item).length;
    const part = parts.at(-1);
    if (part === undefined || records + own > recordsMax) {
      parts.push([item]);
      records = own;
    } else {
      part.push(item);
      records += own;
    }
  }
  return parts;
}
