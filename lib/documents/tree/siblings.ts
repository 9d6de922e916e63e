import { generateKeyBetween } from "fractional-indexing";
import type { Ports } from "../../platform/ports.ts";
import { type ChildItem, childrenOf, childrenTable, type StoredDocument } from "./table.ts";

/** Where a document comes among the children of a parent: at an end, or beside one of them. */
export type Beside = "first" | "last" | { readonly of: StoredDocument; readonly side: "left" | "right" };

/** Random digits of a key at an end: two who come at the same time rarely get the same. */
const TAIL_DIGITS = "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const TAIL_LENGTH = 3;

/**
 * A free key for a child, in its place. The one who writes it has that nobody has it as a condition: where two came
 * at the same time, one comes again.
 */
export async function orderAt(
  deps: Pick<Ports, "tables" | "ids">,
  parent: string,
  beside: Beside,
): Promise<string> {
  const pk = childrenOf(parent);
  const next = async (
    query: { after?: string; before?: string },
    reverse: boolean,
  ): Promise<string | null> => {
    const { items } = await deps.tables.query<ChildItem>(childrenTable, { pk, sk: query, reverse, limit: 1 });
    return items[0]?.sk ?? null;
  };
  if (beside === "last") return withTail(deps, generateKeyBetween(await next({}, true), null));
  if (beside === "first") return generateKeyBetween(null, await next({}, false));
  const own = beside.of.order;
  if (beside.side === "left") return generateKeyBetween(await next({ before: own }, true), own);
  return generateKeyBetween(own, await next({ after: own }, false));
}

/** A key for one that comes back to where it was, or right beside it where that has been taken. */
export async function orderAgain(
  deps: Pick<Ports, "tables">,
  parent: string,
  order: string,
): Promise<string> {
  const pk = childrenOf(parent);
  const { items } = await deps.tables.query<ChildItem>(childrenTable, { pk, sk: { from: order }, limit: 2 });
  const [first, second] = items;
  return first?.sk === order ? generateKeyBetween(order, second?.sk ?? null) : order;
}

function withTail({ ids }: Pick<Ports, "ids">, key: string): string {
  const bytes = Buffer.from(ids.random().replaceAll("-", ""), "hex");
  let tail = "";
  for (const byte of bytes.subarray(0, TAIL_LENGTH)) tail += TAIL_DIGITS[byte % TAIL_DIGITS.length];
  return key + tail;
}
