import { decodeCursor, encodeCursor } from "../cursor.ts";
import { PlatformFault } from "../faults.ts";
import { recordValue } from "../high-water-marks.ts";
import { checkKey } from "../key-order.ts";
import { LIMITS } from "../limits.ts";
import type { TableResource } from "../resources.ts";
import type {
  Change,
  Condition,
  Key,
  Page,
  Query,
  Scan,
  TableSpec,
  Tables,
  Write,
  WriteOutcome,
} from "../tables.ts";
import { type Attributes, fromItem } from "./attributes.ts";
import { toChunks } from "./batches.ts";
import { withFaults } from "./faults.ts";
import { type Pause, retryUntilDone } from "./retries.ts";
import type { DynamoDb } from "./services.ts";
import { layoutOf, type TableLayout } from "./table-layout.ts";
import { runQuery } from "./table-query.ts";
import { commitWrites, type PreparedWrite, prepareWrites, toUpdate, updateItem } from "./table-writes.ts";

export interface AwsTables {
  readonly port: Tables;
  /** Checks and encodes; throws as `writeRows` does. */
  prepare(writes: readonly Write[]): readonly PreparedWrite[];
  commit(writes: readonly PreparedWrite[]): Promise<WriteOutcome>;
}

/** Concurrent requests of one `batchGet`. */
const BATCHES_AT_ONCE = 4;

const nameOf = ({ pk, sk }: Key): string => JSON.stringify([pk, sk]);

/** The tables port over DynamoDB: consistent reads of tables, eventually consistent reads of indexes. */
export function awsTables(options: {
  readonly dynamodb: DynamoDb;
  readonly stack: string;
  readonly resources: readonly TableResource[];
  readonly pause: Pause;
}): AwsTables {
  const { dynamodb, stack, pause } = options;
  const layouts = new Map(options.resources.map((resource) => [resource.name, layoutOf(stack, resource)]));
  const layoutFor = (name: string): TableLayout => {
    const layout = layouts.get(name);
    if (layout === undefined) throw new TypeError(`unknown table "${name}"`);
    return layout;
  };
  const prepare = (writes: readonly Write[]) => prepareWrites(layoutFor, writes);
  const commit = (writes: readonly PreparedWrite[]) => commitWrites(dynamodb, pause, writes);

  const fetchChunk = async (table: string, keys: Attributes[], found: (item: Attributes) => void) => {
    const { client, BatchGetItemCommand } = await dynamodb();
    let wanted = keys;
    await retryUntilDone(pause, async () => {
      const request = { [table]: { Keys: wanted, ConsistentRead: true } };
      const { Responses, UnprocessedKeys } = await withFaults(() =>
        client.send(new BatchGetItemCommand({ RequestItems: request })),
      );
      for (const item of Responses?.[table] ?? []) found(item);
      const left = UnprocessedKeys?.[table]?.Keys ?? [];
      if (left.length === 0) return "done";
      const progress = left.length < wanted.length;
      wanted = left;
      return { again: new PlatformFault("throttled", `${left.length} keys could not be read`), progress };
    });
  };

  const port: Tables = {
    partitionLimits: true,
    get: async <Item extends Key>(table: TableSpec<Item>, key: Key) => {
      const { physical } = layoutFor(table.name);
      checkKey(key);
      const Key = { pk: { S: key.pk }, sk: { S: key.sk } };
      const { client, GetItemCommand } = await dynamodb();
      const { Item } = await withFaults(() =>
        client.send(new GetItemCommand({ TableName: physical, Key, ConsistentRead: true })),
      );
      return Item && (fromItem(Item) as unknown as Item);
    },
    batchGet: async <Item extends Key>(table: TableSpec<Item>, keys: readonly Key[]) => {
      const { physical } = layoutFor(table.name);
      for (const key of keys) checkKey(key);
      // A request must not contain a key twice.
      const distinct = [...new Map(keys.map((key) => [nameOf(key), key])).values()];
      const items = new Map<string, Item>();
      recordValue("batchGetItems", distinct.length);
      const chunks = toChunks(
        distinct.map(({ pk, sk }): Attributes => ({ pk: { S: pk }, sk: { S: sk } })),
        LIMITS.batchGetItems.value,
      );
      for (const round of toChunks(chunks, BATCHES_AT_ONCE)) {
        await Promise.all(
          round.map((chunk) =>
            fetchChunk(physical, chunk, (attributes) => {
              const item = fromItem(attributes) as unknown as Item;
              items.set(nameOf(item), item);
            }),
          ),
        );
      }
      return keys.flatMap((key) => items.get(nameOf(key)) ?? []);
    },
    query: async <Item extends Key>(table: TableSpec<Item>, query: Query) =>
      (await runQuery(dynamodb, layoutFor(table.name), query)) as unknown as Page<Item>,
    scan: async <Item extends Key>(table: TableSpec<Item>, scan: Scan) =>
      (await runScan(dynamodb, layoutFor(table.name), scan)) as unknown as Page<Item>,
    write: async (writes) => commit(prepare(writes)),
    update: async <Item extends Key>(
      table: TableSpec<Item>,
      key: Key,
      change: Change,
      when?: readonly Condition[],
    ) => {
      const attributes = await updateItem(
        dynamodb,
        pause,
        toUpdate(layoutFor(table.name), key, change, when),
      );
      return attributes && (fromItem(attributes) as unknown as Item);
    },
  };
  return { port, prepare, commit };
}

/** A page of a whole table, with consistent reads. Throws RangeError or InvalidCursorError. */
async function runScan(
  dynamodb: DynamoDb,
  { name, physical }: TableLayout,
  { limit, cursor }: Scan,
): Promise<{ items: Record<string, unknown>[]; cursor?: string }> {
  if (!Number.isInteger(limit) || limit < 1)
    throw new RangeError("the limit of a scan must be a positive integer");
  const scope = ["scan", name];
  const input = { TableName: physical, ConsistentRead: true, Limit: limit };
  const [pk = "", sk = ""] = cursor === undefined ? [] : decodeCursor(cursor, scope, 2);
  const from: Attributes | undefined = cursor === undefined ? undefined : { pk: { S: pk }, sk: { S: sk } };
  const { client, ScanCommand } = await dynamodb();
  const { Items = [], LastEvaluatedKey } = await withFaults(() =>
    client.send(new ScanCommand({ ...input, ...(from === undefined ? {} : { ExclusiveStartKey: from }) })),
  );
  const items = Items.map(fromItem);
  if (LastEvaluatedKey === undefined) return { items };
  const last = fromItem(LastEvaluatedKey);
  return { items, cursor: encodeCursor(scope, [String(last["pk"]), String(last["sk"])]) };
}
