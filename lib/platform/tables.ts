/**
 * The tables port: the semantics of DynamoDB. Every item has a string partition key `pk` and a string sort key `sk`,
 * compared as UTF-8 bytes. An index sorts items by two further string attributes and omits items that lack either.
 */

/** Types of an item's values. `Uint8Array` is DynamoDB's binary type. */
export type Attribute =
  | string
  | number
  | boolean
  | null
  | Uint8Array
  | readonly Attribute[]
  | { readonly [name: string]: Attribute | undefined };

export interface Key {
  readonly pk: string;
  readonly sk: string;
}

/** The attributes that are the keys of an index. */
export interface IndexSpec {
  readonly pk: string;
  readonly sk: string;
  /** The index holds only keys: of the item, and its own. A query returns items without other attributes. */
  readonly keysOnly?: true;
}

/**
 * A table: its name and indexes. The item type is a phantom type parameter, so that access is typed. `name` is
 * kebab-case and names the DynamoDB resource and the embedded table.
 */
export interface TableSpec<Item extends Key = Key & Record<string, unknown>> {
  readonly name: string;
  readonly indexes: Readonly<Record<string, IndexSpec>>;
  /** Attribute with a time in seconds since the epoch, after which the platform may delete an item. */
  readonly expires?: string;
  readonly item?: Item;
}

/** A test of one attribute. All conditions of a write must hold, otherwise nothing is written. */
export type Condition =
  | readonly [attribute: string, test: "exists" | "missing"]
  | readonly [
      attribute: string,
      test: "=" | "<>" | "<" | "<=" | ">" | ">=",
      value: string | number | boolean | null,
    ];

/** An update expression for top-level attributes. */
export interface Change {
  /** Attributes to set. */
  readonly set?: Readonly<Record<string, Attribute>>;
  /** Attributes to set only if the item lacks them. */
  readonly setIfMissing?: Readonly<Record<string, Attribute>>;
  /** Numbers to add; a missing attribute counts as 0. */
  readonly add?: Readonly<Record<string, number>>;
  /** Attributes to remove. */
  readonly remove?: readonly string[];
}

// biome-ignore lint/suspicious/noExplicitAny: a write list mixes tables; each write is checked where it is created
type AnyTable = TableSpec<any>;

/** A literal with additional attributes, or a value of an item type. */
type AnyItem = Key | (Key & { readonly [attribute: string]: unknown });

export type Write =
  | {
      readonly op: "put";
      readonly table: AnyTable;
      readonly item: AnyItem;
      readonly when?: readonly Condition[];
    }
  | {
      readonly op: "update";
      readonly table: AnyTable;
      readonly key: Key;
      readonly change: Change;
      readonly when?: readonly Condition[];
    }
  | {
      readonly op: "delete";
      readonly table: AnyTable;
      readonly key: Key;
      readonly when?: readonly Condition[];
    }
  | {
      readonly op: "check";
      readonly table: AnyTable;
      readonly key: Key;
      readonly when: readonly Condition[];
    };

/** `failed` lists the indexes of the writes whose conditions did not hold. */
export type WriteOutcome = { readonly ok: true } | { readonly ok: false; readonly failed: readonly number[] };

/** The part of a partition that a query reads. Bounds are inclusive except `before` and `after`. */
export interface SortRange {
  readonly beginsWith?: string;
  readonly from?: string;
  readonly to?: string;
  readonly after?: string;
  readonly before?: string;
}

export interface Query {
  /** Name of an index of the table; default: the table itself. */
  readonly index?: string;
  readonly pk: string;
  readonly sk?: SortRange;
  /** Highest sort key first. */
  readonly reverse?: boolean;
  /** Maximum number of items per page; a page may also end earlier (1 MB). */
  readonly limit?: number;
  /** Opaque; from the previous page. */
  readonly cursor?: string;
}

/** A page of a whole table. */
export interface Scan {
  /** Maximum number of items per page; a page may have fewer items, even none, while more pages follow. */
  readonly limit: number;
  /** Opaque; from the previous page. */
  readonly cursor?: string;
}

export interface Page<Item> {
  readonly items: Item[];
  /** Missing on the last page. */
  readonly cursor?: string;
}

export interface Tables {
  /**
   * Each partition accepts a limited number of writes and reads per second: items that all processes write must be
   * spread over many.
   */
  readonly partitionLimits?: true;
  get<Item extends Key>(table: TableSpec<Item>, key: Key): Promise<Item | undefined>;
  /** The items found, in the order of `keys`; missing items are omitted. Any number of keys. */
  batchGet<Item extends Key>(table: TableSpec<Item>, keys: readonly Key[]): Promise<Item[]>;
  query<Item extends Key>(table: TableSpec<Item>, query: Query): Promise<Page<Item>>;
  /** Reads a whole table in undefined order: for migrations, which visit every stored item. */
  scan<Item extends Key>(table: TableSpec<Item>, scan: Scan): Promise<Page<Item>>;
  /**
   * Writes all items or none: at most 100 writes, no item twice. When the promise settles, every reader sees the
   * result, and the crash of a process does not lose it. A platform may flush it to disk later, in order, and does not
   * report it outside before that. Throws only platform faults (code `unavailable`, `throttled`, `limit_exceeded`).
   */
  write(writes: readonly Write[]): Promise<WriteOutcome>;
  /** Updates one item and returns the new item, or undefined if the conditions did not hold. */
  update<Item extends Key>(
    table: TableSpec<Item>,
    key: Key,
    change: Change,
    when?: readonly Condition[],
  ): Promise<Item | undefined>;
}
