import { randomUUID } from "node:crypto";
import type {
  CancellationReason,
  ConditionalCheckFailedException,
  TransactionCanceledException,
  TransactWriteItem,
  Update,
} from "@aws-sdk/client-dynamodb";
import { checkChange } from "../conditions.ts";
import { PlatformFault } from "../faults.ts";
import { recordValue } from "../high-water-marks.ts";
import { checkKey } from "../key-order.ts";
import { LIMITS, limitFault } from "../limits.ts";
import type { Change, Condition, Key, Write, WriteOutcome } from "../tables.ts";
import { type Attributes, toItem } from "./attributes.ts";
import { conditionExpression, createPlaceholders, updateExpression } from "./expressions.ts";
import { codeOf, toFault } from "./faults.ts";
import { type Pause, retryUntilDone } from "./retries.ts";
import type { DynamoDb } from "./services.ts";
import { checkIndexKeys, checkTransactionBytes, type TableLayout } from "./table-layout.ts";

/** A validated and encoded write. */
export interface PreparedWrite {
  readonly item: TransactWriteItem;
  /** Unique identifier of the item across all tables. */
  readonly names: string;
  readonly bytes: number;
  /** Repeating it after a lost response has the same result. */
  readonly repeatable: boolean;
}

/** An attribute name that no item uses. */
const NO_ATTRIBUTE = "-";

const toKey = ({ pk, sk }: Key) => ({ pk: { S: pk }, sk: { S: sk } });

/** The update of one item in DynamoDB's format. Throws TypeError or `limit_exceeded` for invalid updates. */
export function toUpdate(
  layout: TableLayout,
  key: Key,
  change: Change,
  when: readonly Condition[] | undefined,
): Update & { UpdateExpression: string } {
  checkKey(key);
  checkChange(change);
  checkIndexKeys(layout, { ...change.setIfMissing, ...change.set });
  const placeholders = createPlaceholders();
  // A transaction requires an expression even if the update only creates the item.
  const expression = updateExpression(placeholders, change) ?? `REMOVE ${placeholders.name(NO_ATTRIBUTE)}`;
  const condition = conditionExpression(placeholders, when);
  return {
    TableName: layout.physical,
    Key: toKey(key),
    UpdateExpression: expression,
    ...(condition === undefined ? {} : { ConditionExpression: condition }),
    ...placeholders.fields(),
  };
}

function prepareOne(layout: TableLayout, write: Write): PreparedWrite {
  const { pk, sk } = write.op === "put" ? write.item : write.key;
  const names = JSON.stringify([layout.name, pk, sk]);
  if (write.op === "update") {
    const update = toUpdate(layout, write.key, write.change, write.when);
    const adds = Object.keys(write.change.add ?? {}).length > 0;
    const repeatable = !adds && update.ConditionExpression === undefined;
    return { item: { Update: update }, names, bytes: 0, repeatable };
  }
  checkKey({ pk, sk });
  const placeholders = createPlaceholders();
  const condition = conditionExpression(placeholders, write.when);
  // After a lost response, the write's own effect may violate its condition.
  const repeatable = condition === undefined;
  const rest = {
    TableName: layout.physical,
    ...(condition === undefined ? {} : { ConditionExpression: condition }),
    ...placeholders.fields(),
  };
  if (write.op === "put") {
    const { attributes, bytes } = toItem(write.item);
    checkIndexKeys(layout, { ...write.item });
    return { item: { Put: { ...rest, Item: attributes } }, names, bytes, repeatable };
  }
  const keyed = { ...rest, Key: toKey(write.key) };
  if (write.op === "delete") return { item: { Delete: keyed }, names, bytes: 0, repeatable };
  if (condition === undefined) throw new TypeError("a condition check requires conditions");
  const check = { ...keyed, ConditionExpression: condition };
  return { item: { ConditionCheck: check }, names, bytes: 0, repeatable };
}

/** Validates and encodes writes. Throws `limit_exceeded` for writes that DynamoDB would reject. */
export function prepareWrites(
  layoutFor: (table: string) => TableLayout,
  writes: readonly Write[],
): readonly PreparedWrite[] {
  const prepared = writes.map((write) => prepareOne(layoutFor(write.table.name), write));
  recordValue("transactionItems", prepared.length);
  if (prepared.length < 2) return prepared;
  if (prepared.length > LIMITS.transactionItems.value)
    throw limitFault("transactionItems", "the transaction", prepared.length);
  if (new Set(prepared.map(({ names }) => names)).size < prepared.length)
    throw limitFault("transactionItems", "a transaction must not contain an item twice");
  checkTransactionBytes(prepared.reduce((sum, { bytes }) => sum + bytes, 0));
  return prepared;
}

/** Writes all or none. Retries conflicts with other transactions. */
export async function commitWrites(
  dynamodb: DynamoDb,
  pause: Pause,
  writes: readonly PreparedWrite[],
): Promise<WriteOutcome> {
  const [first] = writes;
  if (first === undefined) return { ok: true };
  const alone = writes.length === 1 && first.repeatable;
  // The same token for each attempt: DynamoDB does not repeat a request whose response was lost.
  const token = randomUUID();
  let outcome: WriteOutcome = { ok: true };
  await retryUntilDone(pause, async () => {
    try {
      if (alone) await sendAlone(dynamodb, first.item);
      else await sendTogether(dynamodb, token, writes);
      return "done";
    } catch (error) {
      const failed = failedConditions(error);
      if (failed.length === 0) return tryAgain(error);
      outcome = { ok: false, failed };
      return "done";
    }
  });
  return outcome;
}

async function sendTogether(dynamodb: DynamoDb, token: string, writes: readonly PreparedWrite[]) {
  const TransactItems = writes.map(({ item }) => item);
  const { client, TransactWriteItemsCommand } = await dynamodb();
  return client.send(new TransactWriteItemsCommand({ TransactItems, ClientRequestToken: token }));
}

async function sendAlone(dynamodb: DynamoDb, { Put, Update, Delete }: TransactWriteItem): Promise<unknown> {
  const { client, DeleteItemCommand, PutItemCommand, UpdateItemCommand } = await dynamodb();
  if (Put !== undefined) return client.send(new PutItemCommand(Put));
  if (Update !== undefined) return client.send(new UpdateItemCommand(Update));
  return client.send(new DeleteItemCommand({ TableName: undefined, Key: undefined, ...Delete }));
}

// Errors are recognized by their names: their classes would be loaded with the SDK.
const isConditionFailure = (error: unknown): error is ConditionalCheckFailedException =>
  error instanceof Error && error.name === "ConditionalCheckFailedException";
const isCancellation = (error: unknown): error is TransactionCanceledException =>
  error instanceof Error && error.name === "TransactionCanceledException";

/** Indexes of the writes whose conditions did not hold; empty for other errors. */
function failedConditions(error: unknown): number[] {
  if (isConditionFailure(error)) return [0];
  if (!isCancellation(error)) return [];
  return [...(error.CancellationReasons ?? []).entries()].flatMap(([position, { Code }]) =>
    Code === "ConditionalCheckFailed" ? [position] : [],
  );
}

/** The fault to retry after. Throws errors that a retry cannot fix. */
function tryAgain(error: unknown): { again: PlatformFault } {
  const fault = isCancellation(error) ? cancelFault(error) : toFault(error);
  if (fault instanceof PlatformFault && fault.code === "throttled") return { again: fault };
  throw fault;
}

function cancelFault(error: TransactionCanceledException): unknown {
  const reasons: CancellationReason[] = error.CancellationReasons ?? [];
  const codes = reasons.map(({ Code, Message }) => codeOf(Code, Message));
  // An exceeded limit takes precedence: a retry cannot fix it, whatever the other conflicts are.
  for (const code of ["limit_exceeded", "throttled", "unavailable"] as const) {
    const at = codes.indexOf(code);
    if (at < 0) continue;
    return new PlatformFault(code, reasons[at]?.Message ?? error.message, { cause: error });
  }
  return error;
}

/**
 * Updates one item and returns the new item; undefined if the conditions did not hold. Throws `unavailable` if they do
 * not hold for a repeated request, because the first one may have been applied. Additions may be applied twice.
 */
export async function updateItem(
  dynamodb: DynamoDb,
  pause: Pause,
  update: ReturnType<typeof toUpdate>,
): Promise<Attributes | undefined> {
  const { client, UpdateItemCommand } = await dynamodb();
  let outcome: Attributes | undefined;
  await retryUntilDone(pause, async () => {
    try {
      const command = new UpdateItemCommand({ ...update, ReturnValues: "ALL_NEW" });
      outcome = (await client.send(command)).Attributes ?? {};
      return "done";
    } catch (error) {
      if (!isConditionFailure(error)) return tryAgain(error);
      if ((error.$metadata.attempts ?? 1) > 1)
        throw new PlatformFault("unavailable", "the outcome of a write is unknown", { cause: error });
      return "done";
    }
  });
  return outcome;
}
