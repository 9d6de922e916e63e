import { type DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { decodeCursor, encodeCursor } from "../cursor.ts";
import type { Scan } from "../tables.ts";
import { type Attributes, fromItem } from "./attributes.ts";
import { faulting } from "./faults.ts";
import type { TableLayout } from "./table-layout.ts";

/** A page of a whole table, with consistent reads. Throws RangeError or CursorInvalid. */
export async function runScan(
  client: DynamoDBClient,
  { name, physical }: TableLayout,
  { limit, cursor }: Scan,
): Promise<{ items: Record<string, unknown>[]; cursor?: string }> {
  if (!Number.isInteger(limit) || limit < 1)
    throw new RangeError("the limit of a scan must be a positive integer");
  const scope = ["scan", name];
  const input = { TableName: physical, ConsistentRead: true, Limit: limit };
  const [pk = "", sk = ""] = cursor === undefined ? [] : decodeCursor(cursor, scope, 2);
  const from: Attributes | undefined = cursor === undefined ? undefined : { pk: { S: pk }, sk: { S: sk } };
  const { Items = [], LastEvaluatedKey } = await faulting(() =>
    client.send(new ScanCommand({ ...input, ...(from === undefined ? {} : { ExclusiveStartKey: from }) })),
  );
  const items = Items.map(fromItem);
  if (LastEvaluatedKey === undefined) return { items };
  const last = fromItem(LastEvaluatedKey);
  return { items, cursor: encodeCursor(scope, [String(last["pk"]), String(last["sk"])]) };
}
