import { DeleteItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { GetQueueUrlCommand, SendMessageBatchCommand } from "@aws-sdk/client-sqs";
import { describe, expect, it } from "vitest";
import { mockAws } from "./test-mocks.ts";

const NOW = 1_800_000_000_000;
const QUARTER_MS = 900_000;

async function mocked() {
  const platform = await mockAws({ clock: { now: () => NOW } });
  platform.sqs.on(GetQueueUrlCommand).resolves({ QueueUrl: "https://sqs/queue" });
  platform.sqs.on(SendMessageBatchCommand).resolves({});
  platform.dynamodb.on(PutItemCommand).resolves({});
  platform.dynamodb.on(DeleteItemCommand).resolves({});
  const delays = () =>
    platform.sqs
      .commandCalls(SendMessageBatchCommand)
      .flatMap(({ args }) => (args[0].input.Entries ?? []).map(({ DelaySeconds = 0 }) => DelaySeconds));
  const items = () =>
    platform.dynamodb.commandCalls(PutItemCommand).map(({ args }) => args[0].input.Item?.dueAt?.S);
  return { ...platform, delays, items };
}

describe("a timer", () => {
  it.each([
    [-5000, 0],
    [0, 0],
    [1, 1],
    [1500, 2],
    [QUARTER_MS, 900],
  ])("%i ms ahead is a message with a delay of %i s", async (ahead, delay) => {
    const { ports, delays, items } = await mocked();
    await ports.timers.set("id", NOW + ahead, "contract-standard", { body: "x" });
    expect(delays()).toEqual([delay]);
    expect(items()).toEqual([]);
  });

  it.each([
    ["contract-standard", QUARTER_MS + 1, {}],
    ["contract-fifo", 1000, { groupId: "g" }],
  ])("of %s, %i ms ahead, is an item in the order of time", async (queue, ahead, more) => {
    const { ports, delays, items } = await mocked();
    await ports.timers.set("id", NOW + ahead, queue, { body: "x", ...more });
    expect(delays()).toEqual([]);
    expect(items()).toEqual([new Date(NOW + ahead).toISOString()]);
  });

  it.each([
    ["contract-standard", { body: "" }, "limit_exceeded"],
    ["contract-fifo", { body: "x" }, undefined],
  ])("whose message %s would not take is refused when it is set", async (queue, message, code) => {
    const { ports, items } = await mocked();
    const setting = ports.timers.set("id", NOW + 2 * QUARTER_MS, queue, message);
    const error: unknown = await setting.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect((error as { code?: string }).code).toBe(code);
    expect(items()).toEqual([]);
  });

  it("without a valid time is rejected", async () => {
    const { ports } = await mocked();
    const setting = ports.timers.set("id", Number.NaN, "contract-standard", { body: "x" });
    await expect(setting).rejects.toThrow(RangeError);
  });
});
