import type { StoredItem } from "../item-size.ts";
import type { Key } from "../tables.ts";
import type { TableLayout } from "./table-layout.ts";
import type { Tx } from "./transaction.ts";

/** Number of items that are kept: those that were put last under conditions. */
const KEPT_MAX = 500;
/** Maximum length of the JSON of an item that is kept. */
export const KEPT_ITEM_MAX = 16 * 1024;

/**
 * Attributes of items that were recently put under conditions: the next conditional write of such an item checks them
 * without reading it. Only this process writes to the tables. An item that a transaction writes is unknown until the
 * commit.
 */
export class RecentItems {
  readonly #items = new Map<string, StoredItem>();

  get(layout: TableLayout, key: Key): StoredItem | undefined {
    return this.#items.get(nameOf(layout, key));
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
    tx.afterCommit(() => {
      this.#items.delete(name);
      this.#items.set(name, item);
      const [oldest] = this.#items.keys();
      if (this.#items.size > KEPT_MAX && oldest !== undefined) this.#items.delete(oldest);
    });
  }
}

const nameOf = ({ name }: TableLayout, { pk, sk }: Key): string => `${name}\u0000${pk}\u0000${sk}`;
