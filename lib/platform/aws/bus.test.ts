import { PutItemCommand } from "@aws-sdk/client-dynamodb";
import { PutEventsCommand } from "@aws-sdk/client-eventbridge";
import { GetQueueUrlCommand, SendMessageBatchCommand } from "@aws-sdk/client-sqs";
import { describe, expect, it } from "vitest";
import { ITEMS } from "../contract/resources.ts";
import { mockAws, serviceError } from "./test-mocks.ts";

const event = (detail: Record<string, unknown>) => ({
  source: "weft.events",
  detailType: "run.started",
  detail,
});

async function mocked() {
  const platform = await mockAws();
  const published = () =>
    platform.eventbridge
      .commandCalls(PutEventsCommand)
      .map(({ args }) => (args[0].input.Entries ?? []).map(({ Detail }) => JSON.parse(Detail ?? "").n));
  return { ...platform, published };
}

describe("publishing", () => {
  it("sends at most ten entries and one megabyte per request", async () => {
    const { ports, eventbridge, published } = await mocked();
    eventbridge.on(PutEventsCommand).resolves({ FailedEntryCount: 0, Entries: [] });
    await ports.bus.publish(Array.from({ length: 23 }, (_, n) => event({ n })));
    expect(published().map(({ length }) => length)).toEqual([10, 10, 3]);
    eventbridge.resetHistory();
    await ports.bus.publish([1, 2, 3].map((n) => event({ n, text: "é".repeat(200_000) })));
    expect(published()).toEqual([[1, 2], [3]]);
  });

  it("retries only the entries that EventBridge rejected", async () => {
    const { ports, eventbridge, published, pauses } = await mocked();
    const refused = { ErrorCode: "ThrottlingException", ErrorMessage: "slow down" };
    eventbridge
      .on(PutEventsCommand)
      .resolvesOnce({ FailedEntryCount: 2, Entries: [refused, { EventId: "1" }, refused] })
      .resolvesOnce({ FailedEntryCount: 1, Entries: [{ EventId: "0" }, refused] })
      .resolvesOnce({ FailedEntryCount: 0, Entries: [{ EventId: "2" }] });
    await ports.bus.publish([0, 1, 2].map((n) => event({ n })));
    expect(published()).toEqual([[0, 1, 2], [0, 2], [2]]);
    expect(pauses).toHaveLength(2);
  });

  it("fails with a platform fault if an entry is rejected every time", async () => {
    const { ports, eventbridge, published } = await mocked();
    const Entries = [{ ErrorCode: "InternalFailure" }];
    eventbridge.on(PutEventsCommand).resolves({ FailedEntryCount: 1, Entries });
    await expect(ports.bus.publish([event({ n: 1 })])).rejects.toMatchObject({ code: "unavailable" });
    expect(published()).toHaveLength(10);
  });

  it("does not retry entries that EventBridge cannot parse", async () => {
    const { ports, eventbridge, published } = await mocked();
    const Entries = [{ ErrorCode: "MalformedDetail", ErrorMessage: "no" }];
    eventbridge.on(PutEventsCommand).resolves({ FailedEntryCount: 1, Entries });
    await expect(ports.bus.publish([event({ n: 1 })])).rejects.toThrow("MalformedDetail");
    expect(published()).toHaveLength(1);
  });
});

describe("the outbox", () => {
  const commit = {
    writes: [{ op: "put", table: ITEMS, item: { pk: "p", sk: "a" } }] as const,
    publish: [event({ n: 1 })],
    send: [{ queue: "contract-standard", messages: [{ body: "x" }] }],
  };

  it("writes, then publishes, then sends", async () => {
    const order: string[] = [];
    const { ports, dynamodb, eventbridge, sqs } = await mocked();
    dynamodb.on(PutItemCommand).callsFake(async () => void order.push("write"));
    eventbridge.on(PutEventsCommand).callsFake(async () => {
      order.push("publish");
      return {};
    });
    sqs.on(GetQueueUrlCommand).resolves({ QueueUrl: "https://sqs/queue" });
    sqs.on(SendMessageBatchCommand).callsFake(async () => {
      order.push("send");
      return {};
    });
    expect(await ports.outbox.commit(commit)).toEqual({ ok: true });
    expect(order).toEqual(["write", "publish", "send"]);
  });

  it("writes nothing if an event or a message is invalid", async () => {
    const { ports, dynamodb } = await mocked();
    const large = { ...commit, publish: [event({ text: "x".repeat(1_100_000) })] };
    await expect(ports.outbox.commit(large)).rejects.toMatchObject({ code: "limit_exceeded" });
    const empty = { ...commit, send: [{ queue: "contract-standard", messages: [{ body: "" }] }] };
    await expect(ports.outbox.commit(empty)).rejects.toMatchObject({ code: "limit_exceeded" });
    expect(dynamodb.calls()).toEqual([]);
  });

  it("rejects if the writes succeeded and the bus did not respond, so that the input is redelivered", async () => {
    const { ports, dynamodb, eventbridge } = await mocked();
    dynamodb.on(PutItemCommand).resolves({});
    eventbridge.on(PutEventsCommand).rejects(serviceError("ServiceUnavailable", 503));
    await expect(ports.outbox.commit(commit)).rejects.toMatchObject({ code: "unavailable" });
  });
});
