import type { Ports } from "../../platform/ports.ts";
import type { Write } from "../../platform/tables.ts";
import { readAll } from "../read-all.ts";
import { eventTailTable, type TailItem, tailKey, tailPartitions } from "./table.ts";

/** A record that is in the index for all to see. */
export interface IndexedRecord {
  readonly eventId: string;
  readonly number: number;
  /** It will not change any more. */
  readonly final: boolean;
}

/** Records settled in one transaction: two writes each. */
const SETTLED_AT_ONCE = 50;
const TRIES_MAX = 20;

/**
 * Takes records out of the tail that are in the index; those that wait to be processed go where the sweep finds
 * them. Doing it again does nothing. `known` holds items of the tail as they were read before, by event id.
 */
export async function settleTail(
  deps: Pick<Ports, "tables">,
  records: readonly IndexedRecord[],
  known: ReadonlyMap<string, TailItem>,
): Promise<void> {
  for (let start = 0; start < records.length; start += SETTLED_AT_ONCE)
    await settleSome(deps, records.slice(start, start + SETTLED_AT_ONCE), known);
}

async function settleSome(
  deps: Pick<Ports, "tables">,
  records: readonly IndexedRecord[],
  known: ReadonlyMap<string, TailItem>,
): Promise<void> {
  const isKnown = ({ eventId, final }: IndexedRecord): boolean => final || known.has(eventId);
  let items = records.every(isKnown) ? known : await fresh(deps, records);
  for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
    const writes = records.flatMap((record) => settlingWrites(record, items.get(record.eventId)));
    if ((await deps.tables.write(writes)).ok) return;
    items = await fresh(deps, records);
  }
  throw new Error("the tail of the event log is contended");
}

async function fresh(
  deps: Pick<Ports, "tables">,
  records: readonly IndexedRecord[],
): Promise<ReadonlyMap<string, TailItem>> {
  const keys = records.map(({ eventId }) => tailKey(eventId));
  return new Map((await deps.tables.batchGet(eventTailTable, keys)).map((item) => [item.sk, item]));
}

function settlingWrites({ eventId, number, final }: IndexedRecord, item: TailItem | undefined): Write[] {
  const key = tailKey(eventId);
  if (final) return [{ op: "delete", table: eventTailTable, key }];
  if (item === undefined || item.number !== undefined) return [];
  const moved: TailItem = { ...item, ...tailKey(eventId, "indexed"), number };
  return [
    { op: "delete", table: eventTailTable, key, when: [["resend_at", "=", item.resend_at]] },
    { op: "put", table: eventTailTable, item: moved },
  ];
}

/** Ids of the records that may not be indexed yet, newest first. */
export async function unindexed(deps: Pick<Ports, "tables">): Promise<string[]> {
  const items = await Promise.all(tailPartitions("tail").map((pk) => readAll(deps, eventTailTable, { pk })));
  return items
    .flat()
    .map(({ sk }) => sk)
    .sort()
    .reverse();
}

/** What is to be done for records that are not indexed yet: so many of the oldest of each partition. */
export async function oldestUnindexed(deps: Pick<Ports, "tables">, most: number): Promise<TailItem[]> {
  return (
    await Promise.all(tailPartitions("tail").map((pk) => readAll(deps, eventTailTable, { pk }, most)))
  ).flat();
}
