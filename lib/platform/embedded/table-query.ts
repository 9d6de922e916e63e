import { decodeCursor, encodeCursor, InvalidCursorError } from "../cursor.ts";
import { recordValue } from "../high-water-marks.ts";
import type { StoredItem } from "../item-size.ts";
import { boundsOf, checkKeyPart, isWithinBounds } from "../key-order.ts";
import { LIMITS } from "../limits.ts";
import type { Query } from "../tables.ts";
import { decodeItem } from "./item-codec.ts";
import { columnOf, type TableLayout } from "./table-layout.ts";
import type { Reader } from "./transaction.ts";

interface Plan {
  readonly sql: string;
  readonly values: readonly string[];
  readonly scope: readonly string[];
  /** Attributes of a position in the order: the sort key, and for an index also the item's own key. */
  readonly cursorAttributes: readonly string[];
  /** The only attributes that the index holds; all if undefined. */
  readonly held?: readonly string[];
}

function keysOf(
  layout: TableLayout,
  index: string | undefined,
): { partition: string; cursorAttributes: string[]; held?: readonly string[] } {
  if (index === undefined) return { partition: "pk", cursorAttributes: ["sk"] };
  const spec = layout.indexes[index];
  if (spec === undefined) throw new TypeError(`the table ${layout.name} has no index "${index}"`);
  const cursorAttributes = [...new Set([spec.sk, "pk", "sk"])];
  const held = spec.keysOnly === true ? { held: [...cursorAttributes, spec.pk] } : {};
  return { partition: spec.pk, cursorAttributes, ...held };
}

function plan(layout: TableLayout, query: Query): Plan {
  const { partition, cursorAttributes, held } = keysOf(layout, query.index);
  checkKeyPart(partition, query.pk, "partitionKeyBytes");
  const bounds = boundsOf(query.sk ?? {});
  const scope = [layout.name, query.index ?? "", query.pk, query.reverse ? "reverse" : "forward"];
  const sort = columnOf(cursorAttributes[0] ?? "sk");
  const where = [`${columnOf(partition)} = ?`];
  const values = [query.pk];
  // Explicit, so that SQLite can use the partial index, which omits these items.
  if (query.index !== undefined) where.push(`${sort} IS NOT NULL`);

  const position =
    query.cursor === undefined ? undefined : decodeCursor(query.cursor, scope, cursorAttributes.length);
  // A position outside the range would let a forged cursor widen it.
  if (position !== undefined && !isWithinBounds(position[0] ?? "", bounds)) throw new InvalidCursorError();
  const bound = (test: ">" | "<", side: (typeof bounds)["low"]): void => {
    if (position !== undefined && test === (query.reverse ? "<" : ">")) {
      where.push(
        `(${cursorAttributes.map(columnOf).join(", ")}) ${test} (${cursorAttributes.map(() => "?").join(", ")})`,
      );
      values.push(...position);
    } else if (side !== undefined) {
      where.push(`${sort} ${test}${side.inclusive ? "=" : ""} ?`);
      values.push(side.value);
    }
  };
  bound(">", bounds.low);
  bound("<", bounds.high);
  const direction = query.reverse ? "DESC" : "ASC";
  const order = cursorAttributes.map((attribute) => `${columnOf(attribute)} ${direction}`).join(", ");
  const sql = `SELECT item FROM ${layout.sql} WHERE ${where.join(" AND ")} ORDER BY ${order} LIMIT ?`;
  return { sql, values, scope, cursorAttributes, ...(held === undefined ? {} : { held }) };
}

/** The part of an item that an index holds. */
function heldPart(item: StoredItem, held: readonly string[] | undefined): StoredItem {
  if (held === undefined) return item;
  return Object.fromEntries(Object.entries(item).filter(([name]) => held.includes(name)));
}

/**
 * One page of a partition of the table or of an index. Throws RangeError, TypeError or InvalidCursorError for an invalid
 * query.
 */
export function runQuery(
  reader: Reader,
  layout: TableLayout,
  query: Query,
): { items: StoredItem[]; cursor?: string } {
  const limit = query.limit ?? Number.MAX_SAFE_INTEGER - 1;
  if (!Number.isInteger(limit) || limit < 1)
    throw new RangeError("the limit of a query must be a positive integer");
  const { sql, values, scope, cursorAttributes, held } = plan(layout, query);
  const items: StoredItem[] = [];
  let bytes = 0;
  // One item more than requested shows whether this is the last page.
  for (const { item } of reader.iterate(sql, ...values, limit + 1)) {
    const text = String(item);
    const withItem = bytes + Buffer.byteLength(text);
    if (items.length === limit || (items.length > 0 && withItem > LIMITS.queryPageBytes.value)) {
      recordValue("queryPageBytes", bytes);
      const last = items.at(-1) ?? {};
      return {
        items,
        cursor: encodeCursor(
          scope,
          cursorAttributes.map((attribute) => String(last[attribute])),
        ),
      };
    }
    bytes = withItem;
    items.push(heldPart(decodeItem(text), held));
  }
  recordValue("queryPageBytes", bytes);
  return { items };
}
