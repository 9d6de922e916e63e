import type { StoredItem } from "../item-size.ts";
import type { Key } from "../tables.ts";
import type { TableLayout } from "./table-layout.ts";
import type { Tx } from "./transaction.ts";

/** Number of items that are kept: those that conditions were tested on, or that were put under conditions, last. */
const KEPT_MAX = 500;
/** Maximum length of the JSON of an item that is kept. */
export const KEPT_ITEM_MAX = 16 * 1024;

/**
 * Attributes of items that were recently put under conditions, or read to test a condition: the next condition on such an
 * item is tested without reading it. Only this process writes to the tables. An item that a transaction writes is unknown
 * until the commit.
 */
export class RecentItems {
  readonly #items = new Map<string, StoredItem>();

  get(layout: TableLayout, key: Key): StoredItem | undefined {
    const name = nameOf(layout, key);
    const item = this.#items.get(name);
    if (item !== undefined) this.#keep(name, item);
    return item;
  }

  /** Keeps an item that the transaction has read. Later writes of the same group replace it. */
  wasRead(tx: Tx, layout: TableLayout, key: Key, item: StoredItem): void {
    const name = nameOf(layout, key);
    tx.afterCommit(() => this.#keep(name, item));
  }

  /** Call it with each write; `item` is what was put, if it is to be kept. */
  written(tx: Tx, layout: TableLayout, key: Key, item: StoredItem | undefined): void {
    const name = nameOf(layout, key);
    this.#items.delete(name);
    if (item === undefined) {
      // A write of the same group may have kept it.
      tx.afterCommit(() => this.#items.delete(name));
      return;
    }
    tx.afterCommit(() => this.#keep(name, item));
  }

  #keep(name: string, item: StoredItem): void {
    this.#items.delete(name);
    this.#items.set(name, item);
    if (this.#items.size <= KEPT_MAX) return;
    const [oldest = ""] = this.#items.keys();
    this.#items.delete(oldest);
  }
}

const nameOf = ({ name }: TableLayout, { pk, sk }: Key): string => `${name}\u0000${pk}\u0000${sk}`;
