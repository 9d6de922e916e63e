import type { TableResource } from "../../lib/platform/resources.ts";
import { CAPACITY } from "./assumptions.ts";
import { type Item, itemBytes } from "./expressions.ts";

/** An item, its size, and the transaction that is about to write it. */
export interface Row {
  readonly item: Item;
  readonly bytes: number;
}

/** Write units of a partition of a table or index. */
export interface Charge {
  readonly partition: string;
  readonly units: number;
}

export const keyText = (item: Item, name: string): string => item[name]?.S ?? "";

const writeUnits = (bytes: number): number => Math.max(1, Math.ceil(bytes / CAPACITY.writeUnitBytes));

/** A partition's rows in the order of their sort keys. */
class Partition {
  readonly rows = new Map<string, Row>();
  #sorted: string[] | undefined;

  set(sort: string, row: Row): void {
    if (!this.rows.has(sort)) this.#sorted = undefined;
    this.rows.set(sort, row);
  }

  delete(sort: string): void {
    if (this.rows.delete(sort)) this.#sorted = undefined;
  }

  sorted(): readonly string[] {
    this.#sorted ??= [...this.rows.keys()].sort();
    return this.#sorted;
  }
}

/** An index of a table. */
interface Index {
  readonly pk: string;
  readonly sk: string;
  readonly keysOnly: boolean;
}

/** Separates the sort key of an index from the item's own key: smaller than any character of a key. */
const SEPARATOR = "\u0000";

/** The items of a table and of its indexes, and what their writes cost. */
export class ModelTable {
  readonly name: string;
  readonly indexes: ReadonlyMap<string, Index>;
  readonly #partitions = new Map<string, Partition>();

  constructor({ name, indexes }: TableResource) {
    this.name = name;
    this.indexes = new Map(
      Object.entries(indexes).map(([index, { pk, sk, ...more }]) => [
        index,
        { pk, sk, keysOnly: "keysOnly" in more && more.keysOnly === true },
      ]),
    );
  }

  #partition(name: string): Partition {
    const partition = this.#partitions.get(name) ?? new Partition();
    this.#partitions.set(name, partition);
    return partition;
  }

  /** The name of a partition in results. */
  partitionName(pk: string, index?: string): string {
    return index === undefined ? `${this.name}[${pk}]` : `${this.name}.${index}[${pk}]`;
  }

  find(pk: string, sk: string): Row | undefined {
    return this.#partitions.get(pk)?.rows.get(sk);
  }

  /** The rows of a partition of the table, or of an index, in order, with the text that orders them. */
  *rowsOf(pk: string, index: string | undefined, reverse: boolean): Generator<readonly [string, Row]> {
    const partition = this.#partitions.get(index === undefined ? pk : `${index}${SEPARATOR}${pk}`);
    if (partition === undefined) return;
    const order = partition.sorted();
    for (let at = 0; at < order.length; at += 1) {
      const sort = order[reverse ? order.length - 1 - at : at] ?? "";
      const row = partition.rows.get(sort);
      if (row !== undefined) yield [sort, row];
    }
  }

  /** All rows of the table, in no order. */
  *all(): Generator<Row> {
    for (const [name, { rows }] of this.#partitions) if (!name.includes(SEPARATOR)) yield* rows.values();
  }

  /** What it costs to replace a row, by partition: the table's, twice in a transaction, and those of indexes. */
  charges(pk: string, before: Row | undefined, after: Row | undefined, together: boolean): Charge[] {
    const units = writeUnits(Math.max(before?.bytes ?? 0, after?.bytes ?? 0));
    const charges = [{ partition: this.partitionName(pk), units: together ? 2 * units : units }];
    for (const [name, index] of this.indexes) {
      const [old, next] = [projected(index, before), projected(index, after)];
      if (old !== undefined && next !== undefined && old.text === next.text && old.place === next.place)
        continue;
      for (const one of old?.place === next?.place ? [next] : [old, next])
        if (one !== undefined)
          charges.push({ partition: this.partitionName(one.pk, name), units: writeUnits(one.bytes) });
    }
    return charges;
  }

  replace(pk: string, sk: string, before: Row | undefined, after: Row | undefined): void {
    const own = this.#partition(pk);
    if (after === undefined) own.delete(sk);
    else own.set(sk, after);
    for (const [name, index] of this.indexes) {
      const [old, next] = [projected(index, before), projected(index, after)];
      if (old !== undefined) this.#partition(`${name}${SEPARATOR}${old.pk}`).delete(old.sort);
      if (next !== undefined)
        this.#partition(`${name}${SEPARATOR}${next.pk}`).set(next.sort, {
          item: next.item,
          bytes: next.bytes,
        });
    }
  }
}

/** What an index holds of a row: undefined if the row lacks one of the index's keys. */
function projected({ pk, sk, keysOnly }: Index, row: Row | undefined) {
  if (row === undefined || row.item[pk] === undefined || row.item[sk] === undefined) return undefined;
  const item = keysOnly ? keysOf(row.item, pk, sk) : row.item;
  const sort = [keyText(row.item, sk), keyText(row.item, "pk"), keyText(row.item, "sk")].join(SEPARATOR);
  const partition = keyText(row.item, pk);
  return {
    item,
    bytes: keysOnly ? itemBytes(item) : row.bytes,
    pk: partition,
    sort,
    place: partition + SEPARATOR + sort,
    text: JSON.stringify(item),
  };
}

function keysOf(item: Item, ...names: readonly string[]): Item {
  return Object.fromEntries(
    Object.entries(item).filter(([name]) => name === "pk" || name === "sk" || names.includes(name)),
  );
}
