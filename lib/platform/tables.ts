/**
 * The tables port: DynamoDB's meaning and no more. Every item has a string partition key `pk` and a
 * string sort key `sk`, compared as UTF-8 bytes; an index sorts items by two further string attributes
 * and leaves out the items that lack either.
 */

/** What a value stored in an item may be. `Uint8Array` is DynamoDB's binary type. */
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

/** Names of the attributes that an index takes as its keys. */
export interface IndexSpec {
  readonly pk: string;
  readonly sk: string;
}

/**
 * A table: its name and indexes. The item type rides along as a phantom, so that access is typed.
 * `name` is kebab-case and becomes the DynamoDB resource and the embedded table.
 */
export interface TableSpec<Item extends Key = Key & Record<string, unknown>> {
  readonly name: string;
  readonly indexes: Readonly<Record<string, IndexSpec>>;
  readonly item?: Item;
}

/** One test of one attribute. All conditions of a write must hold, or nothing of it happens. */
export type Condition =
  | readonly [attribute: string, test: "exists" | "missing"]
  | readonly [
      attribute: string,
      test: "=" | "<>" | "<" | "<=" | ">" | ">=",
      value: string | number | boolean | null,
    ];

/** What an update does, to top-level attributes only. */
export interface Change {
  /** Attributes to write. */
  readonly set?: Readonly<Record<string, Attribute>>;
  /** Attributes to write only where the item has none of that name yet. */
  readonly setIfMissing?: Readonly<Record<string, Attribute>>;
  /** Numbers to add; a missing attribute counts as 0. */
  readonly add?: Readonly<Record<string, number>>;
  /** Attributes to drop. */
  readonly remove?: readonly string[];
}

// biome-ignore lint/suspicious/noExplicitAny: a write list mixes tables; each write is checked where it is made
type AnyTable = TableSpec<any>;

/** A literal with further attributes, or a value of an item type. */
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

/** `failed` holds the positions, in the list given, of the writes whose conditions did not hold. */
export type WriteOutcome = { readonly ok: true } | { readonly ok: false; readonly failed: readonly number[] };

/** Which part of a partition a query reads. Bounds are inclusive unless they say `before` or `after`. */
export interface SortRange {
  readonly beginsWith?: string;
  readonly from?: string;
  readonly to?: string;
  readonly after?: string;
  readonly before?: string;
}

export interface Query {
  /** Name of an index of the table; the table itself without it. */
  readonly index?: string;
  readonly pk: string;
  readonly sk?: SortRange;
  /** Highest sort key first. */
  readonly reverse?: boolean;
  /** Items a page at most; a page may also end sooner (1 MB). */
  readonly limit?: number;
  /** From the page before; opaque. */
  readonly cursor?: string;
}

/** A page of a whole table. */
export interface Scan {
  /** Items of a page at most; one may have fewer, also none, and others after it. */
  readonly limit: number;
  /** From the page before; opaque. */
  readonly cursor?: string;
}

export interface Page<Item> {
  readonly items: Item[];
  /** Absent on the last page. */
  readonly cursor?: string;
}

export interface Tables {
  get<Item extends Key>(table: TableSpec<Item>, key: Key): Promise<Item | undefined>;
  /** Items found, in the order of `keys`; those that are not there are left out. Any number of keys. */
  batchGet<Item extends Key>(table: TableSpec<Item>, keys: readonly Key[]): Promise<Item[]>;
  query<Item extends Key>(table: TableSpec<Item>, query: Query): Promise<Page<Item>>;
  /** Reads a table from end to end, in an order that means nothing: for migrations, which visit all that is stored. */
  scan<Item extends Key>(table: TableSpec<Item>, scan: Scan): Promise<Page<Item>>;
  /**
   * Writes all or none, at most 100 writes, no item twice. When the promise settles, everybody sees it, and no process
   * that dies takes it along; a platform may still bring it to disk, in order, and lets no one outside hear of it before.
   * Throws only for faults of the platform (code `unavailable`, `throttled`, `limit_exceeded`).
   */
  write(writes: readonly Write[]): Promise<WriteOutcome>;
  /** Changes one item and answers it as it is then, or undefined where the conditions did not hold. */
  update<Item extends Key>(
    table: TableSpec<Item>,
    key: Key,
    change: Change,
    when?: readonly Condition[],
  ): Promise<Item | undefined>;
}
