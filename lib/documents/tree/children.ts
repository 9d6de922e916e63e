import type { Ports } from "../../platform/ports.ts";
import { childrenOf, childrenTable } from "../tables/documents.ts";

/** Children read in one query. */
const READ_AT_ONCE = 1_000;

/** Returns the ids of the first live children in order. */
export async function childIds(
  { tables }: Pick<Ports, "tables">,
  parent: string,
  most: number,
): Promise<string[]> {
  const ids: string[] = [];
  let after: string | undefined;
  while (ids.length < most) {
    const limit = Math.min(READ_AT_ONCE, most - ids.length);
    const query = { pk: childrenOf(parent), limit, ...(after === undefined ? {} : { sk: { after } }) };
    const { items } = await tables.query(childrenTable, query);
    for (const item of items) ids.push(item.id);
    after = items.at(-1)?.sk;
    if (items.length < limit) break;
  }
  return ids;
}
