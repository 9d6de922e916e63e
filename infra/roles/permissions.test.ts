import { describe, expect, it } from "vitest";
import { arn, missingObjectPermissions, requiredPermissions, s3Arn } from "./permissions.ts";

const table = (name: string): string => arn("dynamodb", `table/${name}`);

describe("the rights that a request needs", () => {
  it("are those of each item of a transaction, not of the transaction", () => {
    const items = [
      { Put: { TableName: "a" } },
      { Update: { TableName: "b" } },
      { Delete: { TableName: "a" } },
      { ConditionCheck: { TableName: "c" } },
    ];
    expect(requiredPermissions("TransactWriteItemsCommand", { TransactItems: items })).toEqual([
      { action: "dynamodb:PutItem", resource: table("a") },
      { action: "dynamodb:UpdateItem", resource: table("b") },
      { action: "dynamodb:DeleteItem", resource: table("a") },
      { action: "dynamodb:ConditionCheckItem", resource: table("c") },
    ]);
  });

  it("are for the index of a query, and for every table of a batch", () => {
    expect(requiredPermissions("QueryCommand", { TableName: "runs", IndexName: "list" })).toEqual([
      { action: "dynamodb:Query", resource: table("runs/index/list") },
    ]);
    expect(requiredPermissions("BatchGetItemCommand", { RequestItems: { a: {}, b: {} } })).toEqual([
      { action: "dynamodb:BatchGetItem", resource: table("a") },
      { action: "dynamodb:BatchGetItem", resource: table("b") },
    ]);
  });

  it("are for the queue of a URL or a name; a batch needs those of a single message", () => {
    const QueueUrl = "http://127.0.0.1:4566/123456789012/weft-conduct.fifo";
    expect(requiredPermissions("SendMessageBatchCommand", { QueueUrl, Entries: [] })).toEqual([
      { action: "sqs:SendMessage", resource: arn("sqs", "weft-conduct.fifo") },
    ]);
    expect(requiredPermissions("DeleteMessageBatchCommand", { QueueUrl, Entries: [] })).toEqual([
      { action: "sqs:DeleteMessage", resource: arn("sqs", "weft-conduct.fifo") },
    ]);
    for (const name of ["ReceiveMessage", "ChangeMessageVisibility"])
      expect(requiredPermissions(`${name}Command`, { QueueUrl })).toEqual([
        { action: `sqs:${name}`, resource: arn("sqs", "weft-conduct.fifo") },
      ]);
    expect(requiredPermissions("GetQueueUrlCommand", { QueueName: "weft-bash" })).toEqual([
      { action: "sqs:GetQueueUrl", resource: arn("sqs", "weft-bash") },
    ]);
  });

  it("include GetObject for a HEAD request, and ListBucket if the object may not exist", () => {
    const input = { Bucket: "b", Key: "claims/x" };
    expect(requiredPermissions("HeadObjectCommand", input)).toEqual([
      { action: "s3:GetObject", resource: s3Arn("b/claims/x") },
    ]);
    const absent = Object.assign(new Error("no"), { name: "NoSuchKey" });
    expect(missingObjectPermissions(absent, input)).toEqual([
      { action: "s3:ListBucket", resource: s3Arn("b") },
    ]);
    expect(missingObjectPermissions(new Error("PreconditionFailed"), input)).toEqual([]);
  });

  it("throw for an unknown command", () => {
    expect(requiredPermissions("ScanCommand", { TableName: "a" })).toEqual([
      { action: "unknown:ScanCommand", resource: "*" },
    ]);
  });
});
