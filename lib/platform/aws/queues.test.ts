import {
  ChangeMessageVisibilityCommand,
  DeleteMessageBatchCommand,
  GetQueueUrlCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
} from "@aws-sdk/client-sqs";
import { describe, expect, it } from "vitest";
import { mockAws, serviceError } from "./test-mocks.ts";

const STANDARD = "contract-standard";
const FIFO = "contract-fifo";

async function mocked() {
  const platform = await mockAws();
  platform.sqs.on(GetQueueUrlCommand).resolves({ QueueUrl: "https://sqs/queue" });
  const sent = () =>
    platform.sqs.commandCalls(SendMessageBatchCommand).map(({ args }) => args[0].input.Entries ?? []);
  return { ...platform, sent };
}

describe("sending", () => {
  it("sends at most ten messages and one megabyte per request", async () => {
    const { ports, sqs, sent } = await mocked();
    sqs.on(SendMessageBatchCommand).resolves({});
    await ports.queues.send(
      STANDARD,
      Array.from({ length: 25 }, (_, n) => ({ body: `${n}` })),
    );
    expect(sent().map(({ length }) => length)).toEqual([10, 10, 5]);
    sqs.resetHistory();
    const body = "x".repeat(400_000);
    await ports.queues.send(STANDARD, [{ body }, { body }, { body }, { body: "small" }]);
    expect(sent().map(({ length }) => length)).toEqual([2, 2]);
  });

  it("retries only the rejected entries of a batch", async () => {
    const { ports, sqs, sent, pauses } = await mocked();
    const refused = (Id: string) => ({ Id, SenderFault: false, Code: "InternalError" });
    sqs
      .on(SendMessageBatchCommand)
      .resolvesOnce({ Failed: [refused("0"), refused("2")] })
      .resolvesOnce({ Failed: [refused("2")] })
      .resolvesOnce({});
    await ports.queues.send(STANDARD, [{ body: "a" }, { body: "b" }, { body: "c" }]);
    expect(sent().map((entries) => entries.map(({ MessageBody }) => MessageBody))).toEqual([
      ["a", "b", "c"],
      ["a", "c"],
      ["c"],
    ]);
    expect(pauses).toHaveLength(2);
  });

  it("gives up on a message that SQS always rejects", async () => {
    const { ports, sqs, sent } = await mocked();
    sqs
      .on(SendMessageBatchCommand)
      .resolves({ Failed: [{ Id: "0", SenderFault: true, Code: "InvalidMessageContents" }] });
    await expect(ports.queues.send(STANDARD, [{ body: "\u0000" }])).rejects.toMatchObject({
      code: "limit_exceeded",
    });
    expect(sent()).toHaveLength(1);
  });

  it("sends one message of a group per request, so that later messages cannot overtake a rejected one", async () => {
    const { ports, sqs, sent } = await mocked();
    sqs
      .on(SendMessageBatchCommand)
      .resolvesOnce({ Failed: [{ Id: "0", SenderFault: false, Code: "ServiceUnavailable" }] })
      .resolves({});
    await ports.queues.send(FIFO, [
      { body: "a1", groupId: "a" },
      { body: "b1", groupId: "b" },
      { body: "a2", groupId: "a" },
    ]);
    expect(sent().map((entries) => entries.map(({ MessageBody }) => MessageBody))).toEqual([
      ["a1", "b1"],
      ["a1"],
      ["a2"],
    ]);
    const [first, again] = sent();
    expect(first?.[0]?.MessageDeduplicationId).toMatch(/^[0-9a-f-]{36}$/);
    expect(again?.[0]?.MessageDeduplicationId).toBe(first?.[0]?.MessageDeduplicationId);
  });

  it("rounds a delay up to whole seconds", async () => {
    const { ports, sqs, sent } = await mocked();
    sqs.on(SendMessageBatchCommand).resolves({});
    await ports.queues.send(STANDARD, [{ body: "a", delaySeconds: 0.2 }, { body: "b" }]);
    expect(sent()[0]?.map(({ DelaySeconds }) => DelaySeconds)).toEqual([1, undefined]);
  });
});

describe("a queue URL", () => {
  it("is requested once, and again after a failure", async () => {
    const { ports, sqs } = await mockAws();
    sqs
      .on(GetQueueUrlCommand)
      .rejectsOnce(serviceError("ServiceUnavailable", 503))
      .resolves({ QueueUrl: "https://sqs/queue" });
    sqs.on(SendMessageBatchCommand).resolves({});
    await expect(ports.queues.send(FIFO, [{ body: "a", groupId: "g" }])).rejects.toMatchObject({
      code: "unavailable",
    });
    await ports.queues.send(FIFO, [{ body: "a", groupId: "g" }]);
    await ports.queues.send(FIFO, [{ body: "b", groupId: "g" }]);
    const requested = sqs.commandCalls(GetQueueUrlCommand).map(({ args }) => args[0].input.QueueName);
    expect(requested).toEqual(["home-contract-fifo.fifo", "home-contract-fifo.fifo"]);
  });

  it("is never requested for a queue that the template does not declare", async () => {
    const { ports, sqs } = await mockAws();
    await expect(ports.queues.depth("other")).rejects.toThrow(TypeError);
    expect(sqs.commandCalls(GetQueueUrlCommand)).toEqual([]);
  });
});

describe("receiving", () => {
  it("waits for the requested time, and returns an empty list if it is aborted", async () => {
    const { ports, sqs } = await mocked();
    const abort = new AbortController();
    sqs.on(ReceiveMessageCommand).callsFake(async () => {
      abort.abort();
      throw serviceError("AbortError");
    });
    const wanted = { max: 10, visibilitySeconds: 0.5, waitSeconds: 1.5, signal: abort.signal };
    expect(await ports.queues.receive(STANDARD, wanted)).toEqual([]);
    const [call] = sqs.commandCalls(ReceiveMessageCommand);
    expect(call?.args[0].input).toMatchObject({ WaitTimeSeconds: 2, VisibilityTimeout: 1 });
    const options: unknown = call?.args.at(1);
    expect(options).toMatchObject({ abortSignal: abort.signal, requestTimeout: 12_000 });
  });

  it("sets an attempt id on FIFO queues, so that a lost response is repeated", async () => {
    const { ports, sqs } = await mocked();
    sqs.on(ReceiveMessageCommand).resolves({});
    const options = { max: 1, visibilitySeconds: 30, waitSeconds: 0 };
    await ports.queues.receive(FIFO, options);
    await ports.queues.receive(STANDARD, options);
    const attempts = sqs
      .commandCalls(ReceiveMessageCommand)
      .map(({ args }) => args[0].input.ReceiveRequestAttemptId);
    expect(attempts).toEqual([expect.any(String), undefined]);
  });

  it.each([
    { max: 11, visibilitySeconds: 30, waitSeconds: 0 },
    { max: 1, visibilitySeconds: 43_201, waitSeconds: 0 },
    { max: 1, visibilitySeconds: 30, waitSeconds: 21 },
  ])("refuses what SQS would: %j", async (options) => {
    const { ports } = await mocked();
    const receiving = ports.queues.receive(STANDARD, options);
    await expect(receiving).rejects.toMatchObject({ code: "limit_exceeded" });
  });
});

describe("deleting and hiding deliveries", () => {
  it("sends at most ten receipts per request, and ignores expired ones", async () => {
    const { ports, sqs } = await mocked();
    sqs
      .on(DeleteMessageBatchCommand)
      .resolvesOnce({ Failed: [{ Id: "3", SenderFault: true, Code: "ReceiptHandleIsInvalid" }] })
      .resolvesOnce({ Failed: [{ Id: "1", SenderFault: false, Code: "InternalError" }] })
      .resolves({});
    await ports.queues.delete(
      STANDARD,
      Array.from({ length: 12 }, (_, n) => `receipt-${n}`),
    );
    const receipts = sqs
      .commandCalls(DeleteMessageBatchCommand)
      .map(({ args }) => args[0].input.Entries?.map(({ ReceiptHandle }) => ReceiptHandle));
    expect(receipts.map((list) => list?.length)).toEqual([10, 2, 1]);
    expect(receipts[2]).toEqual(["receipt-11"]);
  });

  it.each(["ReceiptHandleIsInvalid", "MessageNotInflight", "InvalidParameterValue"])(
    "ends without complaint where the delivery is over: %s",
    async (name) => {
      const { ports, sqs } = await mocked();
      sqs.on(ChangeMessageVisibilityCommand).rejects(serviceError(name));
      await expect(ports.queues.changeVisibility(STANDARD, "receipt", 30)).resolves.toBeUndefined();
    },
  );
});
