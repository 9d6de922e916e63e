import type { QueryCommandInput } from "@aws-sdk/client-dynamodb";
import { decodeCursor, encodeCursor, InvalidCursorError } from "../cursor.ts";
import { recordValue } from "../high-water-marks.ts";
import { type Bounds, boundsOf, checkKeyPart, compareUtf8, isWithinBounds } from "../key-order.ts";
import { LIMITS } from "../limits.ts";
import type { Query, SortRange } from "../tables.ts";
import { type Attributes, fromItem } from "./attributes.ts";
import { createPlaceholders, type Placeholders } from "./expressions.ts";
import { withFaults } from "./faults.ts";
import type { DynamoDb } from "./services.ts";
import type { TableLayout } from "./table-layout.ts";

interface Keys {
  readonly partition: string;
  readonly sort: string;
  /** Attributes of a position in the order: the sort key, and for an index also the item's own key. */
  readonly cursorAttributes: readonly string[];
}

interface Plan {
  readonly keys: Keys;
  readonly scope: readonly string[];
  readonly bounds: Bounds;
  readonly input: QueryCommandInput;
}

function keysOf(layout: TableLayout, index: string | undefined): Keys {
  if (index === undefined) return { partition: "pk", sort: "sk", cursorAttributes: ["sk"] };
  const spec = layout.indexes[index];
  if (spec === undefined) throw new TypeError(`the table ${layout.name} has no index "${index}"`);
  return { partition: spec.pk, sort: spec.sk, cursorAttributes: [...new Set([spec.sk, "pk", "sk"])] };
}

/** True if the range is empty; DynamoDB would reject the query. */
function isEmptyRange({ low, high }: Bounds): boolean {
  if (high?.value === "") return true;
  if (low === undefined || high === undefined) return false;
  const order = compareUtf8(low.value, high.value);
  return order > 0 || (order === 0 && !(low.inclusive && high.inclusive));
}

function isPrefixOnly(range: SortRange): range is { beginsWith: string } {
  const { beginsWith, ...others } = range;
  return Boolean(beginsWith) && Object.values(others).every((bound) => bound === undefined);
}

/**
 * DynamoDB accepts one condition on the sort key, with two bounds only BETWEEN, which is inclusive; excluded bounds are
 * filtered later.
 */
function sortCondition(
  placeholders: Placeholders,
  sort: string,
  bounds: Bounds,
  range: SortRange,
): string | undefined {
  const name = placeholders.name(sort);
  if (isPrefixOnly(range)) return `begins_with(${name}, ${placeholders.value(range.beginsWith)})`;
  const { high } = bounds;
  // Every key is greater than the empty text, which DynamoDB rejects as a key.
  const low = bounds.low?.value === "" ? undefined : bounds.low;
  if (low !== undefined && high !== undefined)
    return `${name} BETWEEN ${placeholders.value(low.value)} AND ${placeholders.value(high.value)}`;
  if (low !== undefined) return `${name} >${low.inclusive ? "=" : ""} ${placeholders.value(low.value)}`;
  return high && `${name} <${high.inclusive ? "=" : ""} ${placeholders.value(high.value)}`;
}

/** Number of bounds that the condition includes and the range excludes. */
function skipped({ low, high }: Bounds, range: SortRange): number {
  if (low === undefined || high === undefined || isPrefixOnly(range)) return 0;
  return (low.inclusive ? 0 : 1) + (high.inclusive ? 0 : 1);
}

function startKey(
  keys: Keys,
  query: Query,
  scope: readonly string[],
  bounds: Bounds,
): Attributes | undefined {
  if (query.cursor === undefined) return undefined;
  const position = decodeCursor(query.cursor, scope, keys.cursorAttributes.length);
  // A position outside the range would let a forged cursor widen it.
  if (!isWithinBounds(position[0] ?? "", bounds)) throw new InvalidCursorError();
  const startKey = Object.fromEntries(
    keys.cursorAttributes.map((name, at) => [name, { S: position[at] ?? "" }]),
  );
  return { ...startKey, [keys.partition]: { S: query.pk } };
}

function plan(layout: TableLayout, query: Query): Plan | undefined {
  const { limit, index } = query;
  if (limit !== undefined && (!Number.isInteger(limit) || limit < 1))
    throw new RangeError("the limit of a query must be a positive integer");
  const keys = keysOf(layout, index);
  checkKeyPart(keys.partition, query.pk, "partitionKeyBytes");
  const range = query.sk ?? {};
  const bounds = boundsOf(range);
  const scope = [layout.name, index ?? "", query.pk, query.reverse ? "reverse" : "forward"];
  const start = startKey(keys, query, scope, bounds);
  if (isEmptyRange(bounds)) return undefined;
  const placeholders = createPlaceholders();
  const partition = `${placeholders.name(keys.partition)} = ${placeholders.value(query.pk)}`;
  const sort =
    bounds.low === undefined && bounds.high === undefined
      ? undefined
      : sortCondition(placeholders, keys.sort, bounds, range);
  const input: QueryCommandInput = {
    TableName: layout.physical,
    KeyConditionExpression: sort === undefined ? partition : `${partition} AND ${sort}`,
    ...placeholders.fields(),
    ScanIndexForward: query.reverse !== true,
    ...(index === undefined ? { ConsistentRead: true } : { IndexName: index }),
    // One item more than requested shows whether this is the last page.
    ...(limit === undefined ? {} : { Limit: limit + 1 + skipped(bounds, range) }),
    ...(start === undefined ? {} : { ExclusiveStartKey: start }),
  };
  return { keys, scope, bounds, input };
}

/**
 * One page of a partition of the table (consistent read) or of an index (eventually consistent). Throws RangeError,
 * TypeError or InvalidCursorError for an invalid query.
 */
export async function runQuery(
  dynamodb: DynamoDb,
  layout: TableLayout,
  query: Query,
): Promise<{ items: Record<string, unknown>[]; cursor?: string }> {
  const planned = plan(layout, query);
  if (planned === undefined) return { items: [] };
  const { keys, scope, bounds, input } = planned;
  const cursorAt = (key: Readonly<Record<string, unknown>>): string =>
    encodeCursor(
      scope,
      keys.cursorAttributes.map((attribute) => String(key[attribute])),
    );
  const { client, QueryCommand } = await dynamodb();
  let from = input.ExclusiveStartKey;
  for (;;) {
    const { Items = [], LastEvaluatedKey } = await withFaults(() =>
      client.send(new QueryCommand({ ...input, ...(from === undefined ? {} : { ExclusiveStartKey: from }) })),
    );
    // DynamoDB does not return the size of a page, only that it was truncated.
    if (LastEvaluatedKey !== undefined && Items.length < (input.Limit ?? Number.POSITIVE_INFINITY))
      recordValue("queryPageBytes", LIMITS.queryPageBytes.value);
    const items = Items.map(fromItem).filter((item) => isWithinBounds(String(item[keys.sort]), bounds));
    const last = query.limit === undefined ? undefined : items[query.limit - 1];
    if (last !== undefined && items.length > (query.limit ?? 0)) {
      return { items: items.slice(0, query.limit), cursor: cursorAt(last) };
    }
    if (LastEvaluatedKey === undefined) return { items };
    const key = fromItem(LastEvaluatedKey);
    // Nothing follows beyond the far bound; before the near bound the page has not started.
    if (items.length > 0) {
      return isWithinBounds(String(key[keys.sort]), bounds) ? { items, cursor: cursorAt(key) } : { items };
    }
    from = LastEvaluatedKey;
  }
}
