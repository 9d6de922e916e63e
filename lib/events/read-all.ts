import type { Ports } from "../platform/ports.ts";
import type { Key, Query, TableSpec } from "../platform/tables.ts";

/** All items of a query, page by page; with a limit, the first items, from one page. */
export async function readAll<Item extends Key>(
  deps: Pick<Ports, "tables">,
  table: TableSpec<Item>,
  query: Omit<Query, "cursor" | "limit">,
  most?: number,
): Promise<Item[]> {
  if (most !== undefined) return [...(await deps.tables.query(table, { ...query, limit: most })).items];
  const items: Item[] = [];
  let cursor: string | undefined;
  do {
    const page = await deps.tables.query(table, { ...query, ...(cursor === undefined ? {} : { cursor }) });
    items.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return items;
}
