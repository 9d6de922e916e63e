import { exceedsLimit } from "../high-water-marks.ts";
import type { StoredItem } from "../item-size.ts";
import { limitFault } from "../limits.ts";
import type { TableResource } from "../resources.ts";
import type { IndexSpec } from "../tables.ts";
import type { Store } from "./store.ts";

/** A table of the template in SQLite, and the statements that write it. */
export interface TableLayout {
  readonly name: string;
  /** Quoted name of the SQL table. */
  readonly sql: string;
  readonly indexes: Readonly<Record<string, IndexSpec>>;
  /** Attributes other than `pk` and `sk` that are keys of an index; each has a column. */
  readonly attributes: readonly string[];
  readonly selectItem: string;
  readonly hasItem: string;
  readonly putItem: string;
  readonly replaceItem: string;
  readonly deleteItem: string;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]*$/;

function checkName(kind: string, name: string): void {
  if (!NAME.test(name)) throw new TypeError(`"${name}" is not a valid name of ${kind}`);
}

/** The column of an attribute that is a key of an index. */
export function columnOf(attribute: string): string {
  return attribute === "pk" || attribute === "sk" ? attribute : `"a.${attribute}"`;
}

function indexName(table: string, { pk, sk }: IndexSpec): string {
  return `ix.${table}.${pk}.${sk}`;
}

export function layoutOf(resource: TableResource): TableLayout {
  checkName("a table", resource.name);
  const specs = Object.values(resource.indexes);
  const attributes = [...new Set(specs.flatMap(({ pk, sk }) => [pk, sk]))].filter(
    (attribute) => attribute !== "pk" && attribute !== "sk",
  );
  for (const attribute of attributes) checkName("an index attribute", attribute);
  const sql = `"t.${resource.name}"`;
  const columns = ["pk", "sk", "item", ...attributes.map(columnOf)];
  const updates = columns.slice(2).map((column) => `${column} = excluded.${column}`);
  return {
    name: resource.name,
    sql,
    indexes: resource.indexes,
    attributes,
    selectItem: `SELECT item FROM ${sql} WHERE pk = ? AND sk = ?`,
    hasItem: `SELECT 1 FROM ${sql} WHERE pk = ? AND sk = ?`,
    putItem:
      `INSERT INTO ${sql} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")}) ` +
      `ON CONFLICT (pk, sk) DO UPDATE SET ${updates.join(", ")}`,
    replaceItem: `UPDATE ${sql} SET item = ? WHERE pk = ? AND sk = ?`,
    deleteItem: `DELETE FROM ${sql} WHERE pk = ? AND sk = ?`,
  };
}

/**
 * Creates the SQL table and its indexes if they are missing; a new index is filled from the items. Rows are in the
 * order of insertion and only the keys are sorted, so that inserting a hashed key moves a small index page and not a
 * page of items.
 */
export function createTable(store: Store, { name, sql, indexes, attributes }: TableLayout): void {
  store.define(
    `CREATE TABLE IF NOT EXISTS ${sql} (pk TEXT NOT NULL, sk TEXT NOT NULL, item TEXT NOT NULL, PRIMARY KEY (pk, sk))`,
  );
  const columns = new Set(
    store.all("SELECT name FROM pragma_table_info(?)", `t.${name}`).map((row) => row.name),
  );
  for (const attribute of attributes) {
    if (columns.has(`a.${attribute}`)) continue;
    const path = `'$."${attribute}"'`;
    store.define(`
      SAVEPOINT adding;
      ALTER TABLE ${sql} ADD COLUMN ${columnOf(attribute)} TEXT;
      UPDATE ${sql} SET ${columnOf(attribute)} = json_extract(item, ${path}) WHERE json_type(item, ${path}) = 'text';
      RELEASE adding;`);
  }
  const wanted = new Map(Object.values(indexes).map((spec) => [indexName(name, spec), spec]));
  const present = store.all(
    "SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = ?",
    `t.${name}`,
  );
  for (const { name: index } of present) {
    if (String(index).startsWith("ix.") && !wanted.has(String(index))) store.define(`DROP INDEX "${index}"`);
  }
  for (const [index, { pk, sk }] of wanted) {
    const keys = [...new Set([columnOf(pk), columnOf(sk), "pk", "sk"])].join(", ");
    store.define(
      `CREATE INDEX IF NOT EXISTS "${index}" ON ${sql} (${keys}) WHERE ${columnOf(pk)} IS NOT NULL AND ${columnOf(sk)} IS NOT NULL`,
    );
  }
}

/**
 * The values of the index columns; null omits the item from the index. Throws `limit_exceeded` for invalid index keys:
 * an empty or too long text, or another type.
 */
export function indexColumns(layout: TableLayout, item: StoredItem): (string | null)[] {
  return layout.attributes.map((attribute) => {
    const value = item[attribute];
    if (value === undefined) return null;
    if (typeof value !== "string" || value === "" || !value.isWellFormed()) {
      throw limitFault(
        "sortKeyBytes",
        `the index key "${attribute}" of ${layout.name}, which must be a non-empty string,`,
      );
    }
    const limit = Object.values(layout.indexes).some(({ sk }) => sk === attribute)
      ? "sortKeyBytes"
      : "partitionKeyBytes";
    if (exceedsLimit(limit, value)) {
      throw limitFault(limit, `the index key "${attribute}" of ${layout.name}`, Buffer.byteLength(value));
    }
    return value;
  });
}
