import { setImmediate as nextTurn } from "node:timers/promises";
import { applyChange, checkChange, conditionsHold } from "../conditions.ts";
import { decodeCursor, encodeCursor } from "../cursor.ts";
import { checkLimit, isRecording, recordValue } from "../high-water-marks.ts";
import { measureItem, type StoredItem } from "../item-size.ts";
import { checkKey } from "../key-order.ts";
import { LIMITS, limitFault } from "../limits.ts";
import type { TableResource } from "../resources.ts";
import type {
  Change,
  Condition,
  Key,
  Page,
  Query,
  Scan,
  TableSpec,
  Tables,
  Write,
  WriteOutcome,
} from "../tables.ts";
import { decodeItem, type EncodedItem, encodeItem } from "./item-codec.ts";
import { KEPT_ITEM_MAX, RecentItems } from "./recent-items.ts";
import { toStorageFault } from "./storage-faults.ts";
import type { Store } from "./store.ts";
import { createTable, indexColumns, layoutOf, type TableLayout } from "./table-layout.ts";
import { runQuery } from "./table-query.ts";
import type { Reader, Tx } from "./transaction.ts";

interface Put extends EncodedItem {
  readonly columns: readonly (string | null)[];
}

/** A validated write with its encoded item. */
interface PreparedWrite {
  readonly layout: TableLayout;
  readonly key: Key;
  readonly op: Write["op"];
  readonly when: readonly Condition[] | undefined;
  readonly put?: Put;
  /** The attributes of `put`, to be kept for the next condition. */
  readonly kept?: StoredItem;
  readonly change?: Change;
}

interface Step {
  readonly write: PreparedWrite;
  readonly put?: Put;
  /** The index columns do not change, so that only the item is replaced. */
  readonly columnsKept: boolean;
}

export interface EmbeddedTables {
  readonly port: Tables;
  /** Validates and encodes; throws as `writeRows` does. */
  prepare(writes: readonly Write[]): readonly PreparedWrite[];
  /** Tests every condition, then writes all or nothing. */
  apply(tx: Tx, writes: readonly PreparedWrite[]): WriteOutcome;
}

/** Number of keys after which a read yields to the event loop. */
const READ_BURST = 500;

function encodePut(layout: TableLayout, item: StoredItem): Put {
  return { ...encodeItem(item), columns: indexColumns(layout, item) };
}

function checkTogether(writes: readonly PreparedWrite[]): void {
  recordValue("transactionItems", writes.length);
  if (writes.length < 2) return;
  if (writes.length > LIMITS.transactionItems.value)
    throw limitFault("transactionItems", "the transaction", writes.length);
  // Most partition keys are distinct, which is cheaper to find out.
  if (new Set(writes.map(({ key }) => key.pk)).size === writes.length) return;
  const named = new Set(writes.map(({ layout, key }) => `${layout.name}\u0000${key.pk}\u0000${key.sk}`));
  if (named.size < writes.length)
    throw limitFault("transactionItems", "a transaction must not contain an item twice");
}

function checkBytes(puts: readonly (EncodedItem | undefined)[]): void {
  const most = puts.reduce((sum, put) => sum + (put?.bytes ?? 0), 0);
  if (most <= LIMITS.transactionBytes.value && !isRecording()) return;
  const bytes = puts.reduce(
    (sum, put) => sum + (put === undefined ? 0 : measureItem(decodeItem(put.text))),
    0,
  );
  checkLimit("transactionBytes", "the transaction", bytes);
}

function readText(reader: Reader, layout: TableLayout, key: Key): string | undefined {
  const row = reader.get(layout.selectItem, key.pk, key.sk);
  return row === undefined ? undefined : String(row.item);
}

function readItem(reader: Reader, layout: TableLayout, key: Key): StoredItem | undefined {
  const text = readText(reader, layout, key);
  return text === undefined ? undefined : decodeItem(text);
}

/** Whether it only matters if the item exists: its attributes need not be read. */
const testsKeyOnly = ({ op, when }: PreparedWrite): boolean =>
  op !== "update" &&
  when !== undefined &&
  when.length > 0 &&
  when.every(
    ([attribute, test]) => attribute === "pk" && (test === "missing" || (test === "exists" && op !== "put")),
  );

const keyIfStored = (reader: Reader, layout: TableLayout, { pk, sk }: Key): StoredItem | undefined =>
  reader.get(layout.hasItem, pk, sk) === undefined ? undefined : { pk, sk };

/** The item that conditions and changes apply to. */
function readBefore(tx: Tx, recent: RecentItems, write: PreparedWrite): StoredItem | undefined {
  const { layout, key, when, change } = write;
  if (change !== undefined) return readItem(tx, layout, key);
  if (when === undefined) return undefined;
  const known = recent.get(layout, key);
  if (known !== undefined) return known;
  if (testsKeyOnly(write)) return keyIfStored(tx, layout, key);
  const text = readText(tx, layout, key);
  if (text === undefined) return undefined;
  const item = decodeItem(text);
  if (write.op === "check" && text.length <= KEPT_ITEM_MAX) recent.wasRead(tx, layout, key, item);
  return item;
}

/** The effect of the write, or undefined if its conditions do not hold. */
function planStep(tx: Tx, recent: RecentItems, write: PreparedWrite): Step | undefined {
  const { layout, key, when, change } = write;
  const before = readBefore(tx, recent, write);
  if (!conditionsHold(before, when)) return undefined;
  const put = change === undefined ? write.put : encodePut(layout, applyChange(before ?? { ...key }, change));
  const columnsKept =
    before !== undefined &&
    layout.attributes.every((attribute, index) => (before[attribute] ?? null) === put?.columns[index]);
  return put === undefined ? { write, columnsKept } : { write, put, columnsKept };
}

function runStep(tx: Tx, recent: RecentItems, { write, put, columnsKept }: Step): void {
  const { layout, key, op, kept } = write;
  recent.written(tx, layout, key, kept);
  if (put !== undefined && columnsKept) tx.run(layout.replaceItem, put.text, key.pk, key.sk);
  else if (put !== undefined) tx.run(layout.putItem, key.pk, key.sk, put.text, ...put.columns);
  else if (op === "delete") tx.run(layout.deleteItem, key.pk, key.sk);
}

/** The tables port over SQLite: items as JSON text, index attributes in additional columns. */
export function embeddedTables(store: Store, resources: readonly TableResource[]): EmbeddedTables {
  const layouts = new Map(resources.map((resource) => [resource.name, layoutOf(resource)]));
  for (const layout of layouts.values()) createTable(store, layout);
  const recent = new RecentItems();

  const layoutFor = (name: string): TableLayout => {
    const layout = layouts.get(name);
    if (layout === undefined) throw new TypeError(`unknown table "${name}"`);
    return layout;
  };

  const prepareOne = (write: Write): PreparedWrite => {
    const layout = layoutFor(write.table.name);
    const { op, when } = write;
    if (op === "put") {
      const item = write.item as unknown as StoredItem;
      const key = { pk: write.item.pk, sk: write.item.sk };
      checkKey(key);
      const put = encodePut(layout, item);
      const isKept = when !== undefined && put.text.length <= KEPT_ITEM_MAX;
      return { layout, key, op, when, put, ...(isKept ? { kept: { ...item } } : {}) };
    }
    checkKey(write.key);
    const key = { pk: write.key.pk, sk: write.key.sk };
    if (op !== "update") return { layout, key, op, when };
    checkChange(write.change);
    return { layout, key, op, when, change: write.change };
  };

  const prepare = (writes: readonly Write[]): readonly PreparedWrite[] => {
    const prepared = writes.map(prepareOne);
    checkTogether(prepared);
    checkBytes(prepared.map(({ put }) => put));
    return prepared;
  };

  const apply = (tx: Tx, writes: readonly PreparedWrite[]): WriteOutcome => {
    const steps: Step[] = [];
    const failed: number[] = [];
    for (const [position, write] of writes.entries()) {
      const step = planStep(tx, recent, write);
      if (step === undefined) failed.push(position);
      else steps.push(step);
    }
    if (failed.length > 0) return { ok: false, failed };
    checkBytes(steps.map(({ put }) => put));
    for (const step of steps) runStep(tx, recent, step);
    return { ok: true };
  };

  const port: Tables = {
    get: async <Item extends Key>(table: TableSpec<Item>, key: Key) => {
      const layout = layoutFor(table.name);
      checkKey(key);
      return readItem(store, layout, key) as Item | undefined;
    },
    batchGet: async <Item extends Key>(table: TableSpec<Item>, keys: readonly Key[]) => {
      const layout = layoutFor(table.name);
      recordValue("batchGetItems", keys.length);
      for (const key of keys) checkKey(key);
      const items: Item[] = [];
      for (const [position, key] of keys.entries()) {
        if (position > 0 && position % READ_BURST === 0) await nextTurn();
        const item = readItem(store, layout, key);
        if (item !== undefined) items.push(item as unknown as Item);
      }
      return items;
    },
    query: async <Item extends Key>(table: TableSpec<Item>, query: Query) => {
      try {
        return runQuery(store, layoutFor(table.name), query) as unknown as Page<Item>;
      } catch (error) {
        throw toStorageFault(error);
      }
    },
    scan: async <Item extends Key>(table: TableSpec<Item>, scan: Scan) => {
      try {
        return runScan(store, layoutFor(table.name), scan) as unknown as Page<Item>;
      } catch (error) {
        throw toStorageFault(error);
      }
    },
    write: async (writes) => {
      if (writes.length === 0) return { ok: true };
      const prepared = prepare(writes);
      return store.write((tx) => apply(tx, prepared));
    },
    update: async <Item extends Key>(
      table: TableSpec<Item>,
      key: Key,
      change: Change,
      when?: readonly Condition[],
    ) => {
      const write = prepareOne({ op: "update", table, key, change, ...(when === undefined ? {} : { when }) });
      const text = await store.write((tx) => {
        const step = planStep(tx, recent, write);
        if (step !== undefined) runStep(tx, recent, step);
        return step?.put?.text;
      });
      return text === undefined ? undefined : (decodeItem(text) as unknown as Item);
    },
  };
  return { port, prepare, apply };
}

/** A page of a whole table. Throws RangeError or InvalidCursorError. */
function runScan(
  reader: Reader,
  { name, sql }: TableLayout,
  { limit, cursor }: Scan,
): { items: StoredItem[]; cursor?: string } {
  if (!Number.isInteger(limit) || limit < 1)
    throw new RangeError("the limit of a scan must be a positive integer");
  const scope = ["scan", name];
  const position = cursor === undefined ? [] : decodeCursor(cursor, scope, 2);
  const after = position.length === 0 ? "" : "WHERE (pk, sk) > (?, ?)";
  const rows = reader.iterate(
    `SELECT item FROM ${sql} ${after} ORDER BY pk, sk LIMIT ?`,
    ...position,
    limit + 1,
  );
  const items = [...rows].map(({ item }) => decodeItem(String(item)));
  const last = items[limit - 1];
  if (last === undefined || items.length <= limit) return { items };
  return {
    items: items.slice(0, limit),
    cursor: encodeCursor(scope, [String(last["pk"]), String(last["sk"])]),
  };
}
