import type { Ports } from "../../platform/ports.ts";
import type { Key, TableSpec } from "../../platform/tables.ts";

/**
 * One page of a table's `list` index, newest first, with the number of all items that fit. It reads the
 * whole list, and keeps no more of it than the page.
 */
export async function scanList<Item extends Key>(
  deps: Pick<Ports, "tables">,
  table: TableSpec<Item>,
  list: string,
  fits: (item: Item) => boolean,
  page: { offset: number; limit: number },
): Promise<{ total: number; items: Item[] }> {
  const items: Item[] = [];
  let total = 0;
  let cursor: string | undefined;
  do {
    const read = await deps.tables.query(table, {
      index: "list",
      pk: list,
      reverse: true,
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const item of read.items) {
      if (!fits(item)) continue;
      if (total >= page.offset && items.length < page.limit) items.push(item);
      total += 1;
    }
    cursor = read.cursor;
  } while (cursor !== undefined);
  return { total, items };
}
