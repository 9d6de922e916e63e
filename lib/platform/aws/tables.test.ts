import {
  BatchGetItemCommand,
  ConditionalCheckFailedException,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  TransactionCanceledException,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { describe, expect, it } from "vitest";
import { ITEMS } from "../contract/resources.ts";
import type { Write } from "../tables.ts";
import { mockAws, serviceError } from "./test-mocks.ts";

const table = ITEMS;
const put = (sk: string): Write => ({ op: "put", table, item: { pk: "p", sk }, when: [["pk", "missing"]] });
const cancelled = (...codes: string[]) =>
  new TransactionCanceledException({
    message: "cancelled",
    $metadata: {},
    CancellationReasons: codes.map((Code) => ({ Code })),
  });

describe("a transaction", () => {
  it("is retried after a conflict with the same token, with growing pauses", async () => {
    const { ports, dynamodb, pauses } = await mockAws();
    dynamodb
      .on(TransactWriteItemsCommand)
      .rejectsOnce(cancelled("None", "TransactionConflict"))
      .rejectsOnce(cancelled("ThrottlingError", "None"))
      .rejectsOnce(serviceError("TransactionInProgressException"))
      .resolves({});
    expect(await ports.tables.write([put("a"), put("b")])).toEqual({ ok: true });
    const calls = dynamodb.commandCalls(TransactWriteItemsCommand);
    expect(calls).toHaveLength(4);
    const tokens = new Set(calls.map(({ args }) => args[0].input.ClientRequestToken));
    expect([...tokens]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    expect(pauses).toHaveLength(3);
  });

  it("throws a platform fault if conflicts continue", async () => {
    const { ports, dynamodb, pauses } = await mockAws();
    dynamodb.on(TransactWriteItemsCommand).rejects(cancelled("TransactionConflict", "None"));
    await expect(ports.tables.write([put("a"), put("b")])).rejects.toMatchObject({ code: "throttled" });
    expect(dynamodb.commandCalls(TransactWriteItemsCommand)).toHaveLength(10);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(2000);
  });

  it("is not retried if conditions fail, even if there are conflicts too", async () => {
    const { ports, dynamodb } = await mockAws();
    dynamodb
      .on(TransactWriteItemsCommand)
      .rejects(cancelled("ConditionalCheckFailed", "TransactionConflict", "ConditionalCheckFailed"));
    const outcome = await ports.tables.write([put("a"), put("b"), put("c")]);
    expect(outcome).toEqual({ ok: false, failed: [0, 2] });
    expect(dynamodb.commandCalls(TransactWriteItemsCommand)).toHaveLength(1);
  });

  it("is not retried if an item exceeds a limit", async () => {
    const { ports, dynamodb } = await mockAws();
    const error = cancelled("TransactionConflict", "ValidationError");
    const [, reason] = error.CancellationReasons ?? [];
    if (reason) reason.Message = "Item size to update has exceeded the maximum allowed size";
    dynamodb.on(TransactWriteItemsCommand).rejects(error);
    await expect(ports.tables.write([put("a"), put("b")])).rejects.toMatchObject({ code: "limit_exceeded" });
    expect(dynamodb.commandCalls(TransactWriteItemsCommand)).toHaveLength(1);
  });

  it("replaces a single write with an addition, so that a repeated request adds once", async () => {
    const { ports, dynamodb } = await mockAws();
    dynamodb.on(TransactWriteItemsCommand).resolves({});
    await ports.tables.write([{ op: "update", table, key: { pk: "p", sk: "a" }, change: { add: { n: 1 } } }]);
    expect(dynamodb.commandCalls(TransactWriteItemsCommand)).toHaveLength(1);
  });
});

describe("a single write", () => {
  const plain: Write = { op: "put", table, item: { pk: "p", sk: "a" } };

  it("is a plain request, retried while a transaction holds the item", async () => {
    const { ports, dynamodb } = await mockAws();
    const conflict = serviceError("TransactionConflictException");
    dynamodb.on(PutItemCommand).rejectsOnce(conflict).rejectsOnce(conflict).resolves({});
    expect(await ports.tables.write([plain])).toEqual({ ok: true });
    expect(dynamodb.commandCalls(PutItemCommand)).toHaveLength(3);
  });

  it("with a condition is a transaction, because a repeated request would conflict with its own effect", async () => {
    const { ports, dynamodb } = await mockAws();
    dynamodb.on(TransactWriteItemsCommand).resolves({});
    expect(await ports.tables.write([put("a")])).toEqual({ ok: true });
    const [call] = dynamodb.commandCalls(TransactWriteItemsCommand);
    expect(call?.args[0].input.ClientRequestToken).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("reports itself if its condition fails", async () => {
    const { ports, dynamodb } = await mockAws();
    dynamodb.on(TransactWriteItemsCommand).rejects(cancelled("ConditionalCheckFailed"));
    expect(await ports.tables.write([put("a")])).toEqual({ ok: false, failed: [0] });
  });

  it("that returns the item has an unknown result if its condition fails at a retry", async () => {
    const { ports, dynamodb } = await mockAws();
    const failed = (attempts: number) =>
      new ConditionalCheckFailedException({ message: "failed", $metadata: { attempts } });
    dynamodb.on(UpdateItemCommand).rejectsOnce(failed(1)).rejects(failed(2));
    const update = () =>
      ports.tables.update(table, { pk: "p", sk: "a" }, { set: { n: 1 } }, [["n", "missing"]]);
    expect(await update()).toBeUndefined();
    await expect(update()).rejects.toMatchObject({ code: "unavailable" });
  });

  it("keeps names and values out of its expressions", async () => {
    const { ports, dynamodb } = await mockAws();
    dynamodb.on(UpdateItemCommand).resolves({ Attributes: { pk: { S: "p" }, sk: { S: "a" } } });
    const change = { set: { "size, n = 1": "x" }, remove: ["status"] };
    await ports.tables.update(table, { pk: "p", sk: "a" }, change, [["name", "=", "x OR 1 = 1"]]);
    const [call] = dynamodb.commandCalls(UpdateItemCommand);
    expect(call?.args[0].input).toMatchObject({
      UpdateExpression: "SET #1 = :0 REMOVE #0",
      ConditionExpression: "#2 = :1",
      ExpressionAttributeNames: { "#0": "status", "#1": "size, n = 1", "#2": "name" },
      ExpressionAttributeValues: { ":0": { S: "x" }, ":1": { S: "x OR 1 = 1" } },
    });
  });
});

describe("a batch of reads", () => {
  it("requests only the unprocessed keys again", async () => {
    const { ports, dynamodb, pauses } = await mockAws();
    const key = (sk: string) => ({ pk: { S: "p" }, sk: { S: sk } });
    dynamodb
      .on(BatchGetItemCommand)
      .resolvesOnce({
        Responses: { "home-contract-items": [key("b")] },
        UnprocessedKeys: { "home-contract-items": { Keys: [key("a"), key("c")] } },
      })
      .resolvesOnce({ Responses: { "home-contract-items": [key("c"), key("a")] } });
    const keys = ["a", "b", "c", "a"].map((sk) => ({ pk: "p", sk }));
    expect((await ports.tables.batchGet(table, keys)).map(({ sk }) => sk)).toEqual(["a", "b", "c", "a"]);
    const requested = dynamodb
      .commandCalls(BatchGetItemCommand)
      .map(({ args }) => args[0].input.RequestItems?.["home-contract-items"]?.Keys);
    expect(requested).toEqual([
      [key("a"), key("b"), key("c")],
      [key("a"), key("c")],
    ]);
    expect(pauses).toHaveLength(1);
  });

  it("gives up if no more keys are processed", async () => {
    const { ports, dynamodb } = await mockAws();
    const Keys = [{ pk: { S: "p" }, sk: { S: "a" } }];
    dynamodb
      .on(BatchGetItemCommand)
      .resolves({ Responses: {}, UnprocessedKeys: { "home-contract-items": { Keys } } });
    const reading = ports.tables.batchGet(table, [{ pk: "p", sk: "a" }]);
    await expect(reading).rejects.toMatchObject({ code: "throttled" });
  });
});

describe("a query", () => {
  const item = (sk: string) => ({ pk: { S: "p" }, sk: { S: sk } });

  it("continues over pages without items in the range, and accepts pages that end early", async () => {
    const { ports, dynamodb } = await mockAws();
    dynamodb
      .on(QueryCommand)
      .resolvesOnce({ Items: [item("z")], LastEvaluatedKey: item("z") })
      .resolvesOnce({ Items: [item("y"), item("x")], LastEvaluatedKey: item("x") });
    const query = { pk: "p", sk: { from: "a", before: "z" }, reverse: true, limit: 5 };
    const page = await ports.tables.query(table, query);
    expect(page.items.map(({ sk }) => sk)).toEqual(["y", "x"]);
    expect(page.cursor).toBeDefined();
    const [, second] = dynamodb.commandCalls(QueryCommand);
    expect(second?.args[0].input.ExclusiveStartKey).toEqual(item("z"));
  });

  it("ends after the end of the range", async () => {
    const { ports, dynamodb } = await mockAws();
    dynamodb.on(QueryCommand).resolves({ Items: [item("a"), item("b")], LastEvaluatedKey: item("b") });
    const page = await ports.tables.query(table, { pk: "p", sk: { from: "a", before: "b" } });
    expect(page).toEqual({ items: [{ pk: "p", sk: "a" }] });
  });
});

describe("a fault of DynamoDB", () => {
  it.each([
    ["ProvisionedThroughputExceededException", 400, "throttled"],
    ["SomethingNew", 429, "throttled"],
    ["InternalServerError", 500, "unavailable"],
    ["SomethingNew", 503, "unavailable"],
    ["TimeoutError", 0, "unavailable"],
  ])("%s with status %i is one of the platform: %s", async (name, status, code) => {
    const { ports, dynamodb } = await mockAws();
    dynamodb.on(GetItemCommand).rejects(serviceError(name, status));
    await expect(ports.tables.get(table, { pk: "p", sk: "a" })).rejects.toMatchObject({ code });
  });

  it("leaves errors of the caller unchanged", async () => {
    const { ports, dynamodb } = await mockAws();
    dynamodb.on(GetItemCommand).rejects(serviceError("AccessDeniedException"));
    const reading = ports.tables.get(table, { pk: "p", sk: "a" });
    await expect(reading).rejects.toMatchObject({ name: "AccessDeniedException" });
  });
});

describe("a scan", () => {
  it("continues where the previous page ended, also after an empty page", async () => {
    const { ports, dynamodb } = await mockAws();
    const [a, b] = [
      { pk: { S: "p" }, sk: { S: "a" } },
      { pk: { S: "q" }, sk: { S: "b" } },
    ];
    dynamodb
      .on(ScanCommand)
      .resolvesOnce({ Items: [a], LastEvaluatedKey: a })
      .resolvesOnce({ Items: [], LastEvaluatedKey: b })
      .resolves({ Items: [b] });
    const keys: unknown[] = [];
    let cursor: string | undefined;
    do {
      const page = await ports.tables.scan(table, { limit: 1, ...(cursor === undefined ? {} : { cursor }) });
      keys.push(page.items.map(({ sk }) => sk));
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(keys).toEqual([["a"], [], ["b"]]);
    const requested = dynamodb.commandCalls(ScanCommand).map(({ args }) => args[0].input);
    expect(requested.map(({ ExclusiveStartKey }) => ExclusiveStartKey)).toEqual([undefined, a, b]);
    expect(requested[0]).toMatchObject({ ConsistentRead: true, Limit: 1 });
    await expect(ports.tables.scan(table, { limit: 1, cursor: "x" })).rejects.toMatchObject({
      code: "cursor_invalid",
    });
  });
});
