import {
  type BatchGetItemCommandInput,
  ConditionalCheckFailedException,
  type GetItemCommandInput,
  type QueryCommandInput,
  type ScanCommandInput,
  TransactionCanceledException,
  type TransactWriteItem,
  type TransactWriteItemsCommandInput,
  type UpdateItemCommandInput,
} from "@aws-sdk/client-dynamodb";
import type { TableResource } from "../../lib/platform/resources.ts";
import { CAPACITY, LATENCY } from "./assumptions.ts";
import { type Item, isFulfilled, itemBytes, keyConditionOf, type Names, updated } from "./expressions.ts";
import { type Charge, keyText, ModelTable, type Row } from "./model-table.ts";
import { throttled, withRetries } from "./service-errors.ts";
import type { Units } from "./units.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** One write of a request, with what it replaces. */
interface PlannedWrite {
  readonly table: ModelTable;
  readonly pk: string;
  readonly sk: string;
  readonly before: Row | undefined;
  /** Undefined for a deletion and for a condition check. */
  readonly after: Row | undefined;
  readonly isCheck: boolean;
  readonly isFulfilled: boolean;
}

/** Bytes of a page of a query. */
const PAGE_BYTES = 1024 * 1024;

/** The commands of DynamoDB that the adapter sends, over items in memory, with DynamoDB's limits. */
export class ModelDynamoDb {
  readonly #tables: ReadonlyMap<string, ModelTable>;
  readonly #time: VirtualTime;
  readonly units: Units;
  /** Items that a transaction is writing. */
  readonly #locked = new Set<string>();
  readonly totals = { writeUnits: 0, readUnits: 0, conflicts: 0, failedConditions: 0 };

  constructor(options: {
    readonly tables: readonly TableResource[];
    readonly stack: string;
    readonly time: VirtualTime;
    readonly units: Units;
  }) {
    this.#tables = new Map(
      options.tables.map((table) => [`${options.stack}-${table.name}`, new ModelTable(table)]),
    );
    this.#time = options.time;
    this.units = options.units;
  }

  table(physical: string | undefined): ModelTable {
    const table = this.#tables.get(physical ?? "");
    if (table === undefined) throw new Error(`the model has no table ${physical}`);
    return table;
  }

  /** Takes a command of the SDK. */
  readonly send = (command: { readonly input: object }): Promise<unknown> => {
    const { name } = command.constructor;
    const input = command.input as never;
    return withRetries(this.#time, () => {
      if (name === "GetItemCommand") return this.#get(input);
      if (name === "BatchGetItemCommand") return this.#batchGet(input);
      if (name === "QueryCommand") return this.#query(input);
      if (name === "ScanCommand") return this.#scan(input);
      if (name === "PutItemCommand") return this.#alone({ Put: input });
      if (name === "UpdateItemCommand") return this.#update(input);
      if (name === "DeleteItemCommand") return this.#alone({ Delete: input });
      if (name === "TransactWriteItemsCommand") return this.#transact(input);
      throw new Error(`the model does not know ${name}`);
    });
  };

  #read(partition: string, units: number): void {
    const name = `${partition} reads`;
    if (!this.units.has(name, CAPACITY.readUnits)) {
      this.units.refuse(name, CAPACITY.readUnits);
      throw throttled("ThrottlingException", `reads of ${partition}`);
    }
    this.units.take(name, CAPACITY.readUnits, units);
    this.totals.readUnits += units;
  }

  /** Throws if a partition has no capacity left; else takes it from all of them. */
  #write(charges: readonly Charge[]): void {
    for (const { partition } of charges) {
      const name = `${partition} writes`;
      if (this.units.has(name, CAPACITY.writeUnits)) continue;
      this.units.refuse(name, CAPACITY.writeUnits);
      throw throttled("ThrottlingException", `writes of ${partition}`);
    }
    for (const { partition, units } of charges) {
      this.units.take(`${partition} writes`, CAPACITY.writeUnits, units);
      this.totals.writeUnits += units;
    }
  }

  async #get({ TableName, Key = {} }: GetItemCommandInput) {
    await this.#time.sleep(LATENCY.read);
    const table = this.table(TableName);
    const row = table.find(keyText(Key, "pk"), keyText(Key, "sk"));
    this.#read(table.partitionName(keyText(Key, "pk")), readUnits(row?.bytes ?? 0));
    return { Item: row?.item };
  }

  async #batchGet({ RequestItems = {} }: BatchGetItemCommandInput) {
    await this.#time.sleep(LATENCY.read);
    const Responses: Record<string, Item[]> = {};
    const left: Record<string, { Keys: Item[]; ConsistentRead: true }> = {};
    for (const [physical, { Keys = [] }] of Object.entries(RequestItems)) {
      const table = this.table(physical);
      const found: Item[] = [];
      const missing: Item[] = [];
      Responses[physical] = found;
      for (const key of Keys) {
        const row = table.find(keyText(key, "pk"), keyText(key, "sk"));
        try {
          this.#read(table.partitionName(keyText(key, "pk")), readUnits(row?.bytes ?? 0));
          if (row !== undefined) found.push(row.item);
        } catch {
          missing.push(key);
        }
      }
      if (missing.length > 0) left[physical] = { Keys: missing, ConsistentRead: true };
    }
    return { Responses, UnprocessedKeys: left };
  }

  async #query(input: QueryCommandInput) {
    await this.#time.sleep(LATENCY.read);
    const { TableName, IndexName, KeyConditionExpression = "", Limit, ExclusiveStartKey } = input;
    const table = this.table(TableName);
    const { partition, sort } = keyConditionOf(KeyConditionExpression, input);
    const index = IndexName === undefined ? undefined : table.indexes.get(IndexName);
    const isReverse = input.ScanIndexForward === false;
    const start = ExclusiveStartKey === undefined ? undefined : positionOf(ExclusiveStartKey, index?.sk);
    const Items: Item[] = [];
    let bytes = 0;
    let last: Item | undefined;
    for (const [position, row] of table.rowsOf(partition, IndexName, isReverse)) {
      if (start !== undefined && (isReverse ? position >= start : position <= start)) continue;
      if (!isFulfilled(sort, input, row.item)) continue;
      if (Items.length === Limit || bytes > PAGE_BYTES) {
        last = Items.at(-1);
        break;
      }
      Items.push(row.item);
      bytes += row.bytes;
    }
    const units = readUnits(bytes) / (index === undefined ? 1 : 2);
    this.#read(table.partitionName(partition, IndexName), units);
    return { Items, ...(last === undefined ? {} : { LastEvaluatedKey: keyOf(last, index) }) };
  }

  async #scan({ TableName }: ScanCommandInput) {
    await this.#time.sleep(LATENCY.read);
    const rows = [...this.table(TableName).all()];
    this.totals.readUnits += readUnits(rows.reduce((sum, { bytes }) => sum + bytes, 0));
    return { Items: rows.map(({ item }) => item) };
  }

  async #update(input: UpdateItemCommandInput) {
    await this.#alone({ Update: { ...input, UpdateExpression: input.UpdateExpression ?? "" } as never });
    const { Key = {} } = input;
    return { Attributes: this.table(input.TableName).find(keyText(Key, "pk"), keyText(Key, "sk"))?.item };
  }

  async #alone(write: TransactWriteItem) {
    await this.#time.sleep(LATENCY.write);
    const planned = this.#plan(write);
    if (this.#locked.has(lockOf(planned))) {
      this.totals.conflicts += 1;
      throw throttled("TransactionConflictException", lockOf(planned));
    }
    this.#write(planned.table.charges(planned.pk, planned.before, planned.after, false));
    if (!planned.isFulfilled) {
      this.totals.failedConditions += 1;
      throw new ConditionalCheckFailedException({ message: "The conditional request failed", $metadata: {} });
    }
    planned.table.replace(planned.pk, planned.sk, planned.before, planned.after);
    return {};
  }

  async #transact({ TransactItems = [] }: TransactWriteItemsCommandInput) {
    await this.#time.sleep(LATENCY.transaction / 2);
    const prepared = TransactItems.map((write) => this.#plan(write));
    const locks = prepared.map(lockOf);
    const isConflict = locks.map((lock) => this.#locked.has(lock));
    if (isConflict.includes(true)) {
      this.totals.conflicts += 1;
      throw cancelled(isConflict.map((is) => (is ? "TransactionConflict" : "None")));
    }
    this.#write(prepared.flatMap(({ table, pk, before, after }) => table.charges(pk, before, after, true)));
    if (prepared.some((one) => !one.isFulfilled)) {
      this.totals.failedConditions += 1;
      throw cancelled(prepared.map((one) => (one.isFulfilled ? "None" : "ConditionalCheckFailed")));
    }
    for (const lock of locks) this.#locked.add(lock);
    await this.#time.sleep(LATENCY.transaction / 2);
    for (const { table, pk, sk, before, after, isCheck } of prepared)
      if (!isCheck) table.replace(pk, sk, before, after);
    for (const lock of locks) this.#locked.delete(lock);
    return {};
  }

  #plan({ Put, Update, Delete, ConditionCheck }: TransactWriteItem): PlannedWrite {
    const one = Put ?? Update ?? Delete ?? ConditionCheck;
    if (one === undefined) throw new Error("a transaction has an empty entry");
    const table = this.table(one.TableName);
    const key = Put?.Item ?? Update?.Key ?? Delete?.Key ?? ConditionCheck?.Key ?? {};
    const [pk, sk] = [keyText(key, "pk"), keyText(key, "sk")];
    const before = table.find(pk, sk);
    const isMet = isFulfilled(one.ConditionExpression, one as Names, before?.item);
    let item: Item | undefined;
    if (Put !== undefined) item = Put.Item;
    if (Update !== undefined)
      item = updated(Update.UpdateExpression ?? "", Update as Names, before?.item ?? (key as Item));
    if (ConditionCheck !== undefined) item = before?.item;
    const after = item === undefined ? undefined : { item, bytes: itemBytes(item) };
    return { table, pk, sk, before, after, isCheck: ConditionCheck !== undefined, isFulfilled: isMet };
  }
}

const lockOf = ({ table, pk, sk }: PlannedWrite): string => `${table.name} ${pk} ${sk}`;

const readUnits = (bytes: number): number => Math.max(1, Math.ceil(bytes / CAPACITY.readUnitBytes));

const positionOf = (key: Item, sk: string | undefined): string =>
  sk === undefined
    ? keyText(key, "sk")
    : [keyText(key, sk), keyText(key, "pk"), keyText(key, "sk")].join("\u0000");

function keyOf(item: Item, index: { readonly pk: string; readonly sk: string } | undefined): Item {
  const names = ["pk", "sk", ...(index === undefined ? [] : [index.pk, index.sk])];
  return Object.fromEntries(names.flatMap((name) => (item[name] === undefined ? [] : [[name, item[name]]])));
}

function cancelled(codes: readonly string[]): TransactionCanceledException {
  return new TransactionCanceledException({
    message: `Transaction cancelled [${codes.join(", ")}]`,
    CancellationReasons: codes.map((Code) => ({ Code })),
    $metadata: {},
  });
}
