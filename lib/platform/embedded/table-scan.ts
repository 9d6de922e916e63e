import { decodeCursor, encodeCursor } from "../cursor.ts";
import type { StoredItem } from "../item-size.ts";
import type { Scan } from "../tables.ts";
import { decodeItem } from "./item-codec.ts";
import type { Reader } from "./store.ts";
import type { TableLayout } from "./table-layout.ts";

/** A page of a whole table. Throws RangeError or CursorInvalid. */
export function runScan(
  reader: Reader,
  { name, sql }: TableLayout,
  { limit, cursor }: Scan,
): { items: StoredItem[]; cursor?: string } {
  if (!Number.isInteger(limit) || limit < 1)
    throw new RangeError("the limit of a scan must be a positive integer");
  const scope = ["scan", name];
  const place = cursor === undefined ? [] : decodeCursor(cursor, scope, 2);
  const after = place.length === 0 ? "" : "WHERE (pk, sk) > (?, ?)";
  const rows = reader.iterate(
    `SELECT item FROM ${sql} ${after} ORDER BY pk, sk LIMIT ?`,
    ...place,
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
