import { PutItemCommand, QueryCommand } from "@aws-sdk/client-dynamodb";
import { PutEventsCommand } from "@aws-sdk/client-eventbridge";
import { GetQueueUrlCommand, SendMessageBatchCommand } from "@aws-sdk/client-sqs";
import { describe, expect, it, onTestFinished } from "vitest";
import { EVENT_DATA_INLINE_BYTES } from "../events/publish.ts";
import { mockAws } from "./aws/test-mocks.ts";
import { CONTRACT_RESOURCES, ITEMS } from "./contract/resources.ts";
import { openForTest, temporaryFolder } from "./embedded/test-platform.ts";
import { readHighWaterMarks, startRecording } from "./high-water-marks.ts";
import { LIMITS, type LimitName } from "./limits.ts";
import { checkResources } from "./limits-resources.ts";
import type { Ports } from "./ports.ts";
import type { Resources } from "./resources.ts";

const table = ITEMS;
const put = (text: string, sk = "s") => ({ op: "put", table, item: { pk: "p", sk, text } }) as const;
const nested = (depth: number): unknown => (depth === 0 ? "leaf" : { in: nested(depth - 1) });
const send = (message: { body: string; delaySeconds?: number }) => (ports: Ports) =>
  ports.queues.send("contract-standard", [message]);
const receive = (more: object) => (ports: Ports) =>
  ports.queues.receive("contract-standard", { max: 1, visibilitySeconds: 1, waitSeconds: 0, ...more });

/** Exceeds each limit by one at the ports. Sends have no entry for batches, because they are split. */
const PASSED: Partial<Record<LimitName, (ports: Ports) => Promise<unknown>>> = {
  itemBytes: ({ tables }) => tables.write([put("x".repeat(LIMITS.itemBytes.value - 9))]),
  itemDepth: ({ tables }) =>
    tables.write([
      { op: "put", table, item: { pk: "p", sk: "s", nested: nested(LIMITS.itemDepth.value + 1) } },
    ]),
  partitionKeyBytes: ({ tables }) => tables.get(table, { pk: "x".repeat(2049), sk: "s" }),
  sortKeyBytes: ({ tables }) => tables.get(table, { pk: "p", sk: "x".repeat(1025) }),
  transactionItems: ({ tables }) => tables.write(Array.from({ length: 101 }, (_, n) => put("", `${n}`))),
  transactionBytes: ({ tables }) =>
    tables.write(Array.from({ length: 12 }, (_, n) => put("x".repeat(380_000), `${n}`))),
  busEntryBytes: ({ bus }) =>
    bus.publish([{ source: "s", detailType: "t", detail: { x: "x".repeat(LIMITS.busEntryBytes.value) } }]),
  messageBytes: send({ body: "x".repeat(LIMITS.messageBytes.value + 1) }),
  messageDelaySeconds: send({ body: "x", delaySeconds: 901 }),
  messageWaitSeconds: receive({ waitSeconds: 21 }),
  visibilitySeconds: receive({ visibilitySeconds: LIMITS.visibilitySeconds.value + 1 }),
  blobKeyBytes: ({ blobs }) => blobs.put(Array.from({ length: 6 }, () => "x".repeat(171)).join("/"), "data"),
};

/** The platforms under test. */
const PLATFORMS = {
  aws: async () => (await mockAws()).ports,
  embedded: async () => {
    const folder = await temporaryFolder();
    const { ports, close } = await openForTest(folder.path, CONTRACT_RESOURCES);
    onTestFinished(() => close().then(folder.remove));
    return ports;
  },
};

describe.each(Object.entries(PLATFORMS))("the limits on %s", (_, open) => {
  it.each(Object.keys(PASSED) as LimitName[])("reject what exceeds %s, and record it", async (name) => {
    const ports = await open();
    startRecording();
    await expect(PASSED[name]?.(ports)).rejects.toMatchObject({
      code: "limit_exceeded",
      message: expect.stringContaining(name),
    });
    expect(readHighWaterMarks().limits[name]).toBeGreaterThan(LIMITS[name].value);
  });

  it("reject a receive of more messages than SQS allows", async () => {
    await expect(receive({ max: 11 })(await open())).rejects.toMatchObject({ code: "limit_exceeded" });
  });
});

describe("the high-water marks of the embedded platform", () => {
  it("record the sizes of items, transactions, pages, batches and entries", async () => {
    const { tables, bus, queues } = await PLATFORMS.embedded();
    startRecording();
    const items = Array.from({ length: 4 }, (_, n) => put("é".repeat(100_000), `${n}`));
    await tables.write(items);
    await tables.query(table, { pk: "p" });
    await tables.batchGet(
      table,
      Array.from({ length: 130 }, (_, n) => ({ pk: "p", sk: `${n}` })),
    );
    await queues.send("contract-standard", [{ body: "é".repeat(100_000) }, { body: "b" }]);
    // An item consists of its text, names and keys, 3 bytes for itself and 1 for each member.
    expect(readHighWaterMarks().limits).toMatchObject({
      itemBytes: 200_016,
      transactionItems: 4,
      transactionBytes: 4 * 200_016,
      queryPageBytes: 4 * Buffer.byteLength(JSON.stringify(items[0]?.item)),
      batchGetItems: 130,
      messageBatch: 2,
      messageBytes: 200_000,
    });
    const entry = { source: "s", detailType: "t", detail: { x: "x".repeat(300_000) } };
    await bus.publish([entry, entry, entry]);
    const { busEntryBytes = 0, busBatchEntries } = readHighWaterMarks().limits;
    expect(busBatchEntries).toBe(3);
    expect(busEntryBytes - 300_000).toBeGreaterThan(100);
    expect(busEntryBytes - 300_000).toBeLessThan(400);
  });
});

describe("the high-water marks of the platform aws", () => {
  it("record sizes as they are sent, and pages that DynamoDB truncated by size", async () => {
    const { ports, dynamodb, sqs, eventbridge } = await mockAws();
    dynamodb.on(PutItemCommand).resolves({});
    sqs.on(GetQueueUrlCommand).resolves({ QueueUrl: "https://queue" });
    sqs.on(SendMessageBatchCommand).resolves({ Successful: [], Failed: [] });
    eventbridge.on(PutEventsCommand).resolves({ Entries: [{ EventId: "e" }] });
    const [Items, LastEvaluatedKey] = [
      [{ pk: { S: "p" }, sk: { S: "s" } }],
      { pk: { S: "p" }, sk: { S: "s" } },
    ];
    dynamodb.on(QueryCommand).resolves({ Items, LastEvaluatedKey });
    startRecording();
    await ports.tables.write([put("é".repeat(100))]);
    await ports.queues.send("contract-standard", [{ body: "é" }, { body: "é".repeat(50) }]);
    await ports.bus.publish([{ source: "s", detailType: "t", detail: { x: "x".repeat(5000) } }]);
    await ports.tables.query(table, { pk: "p", limit: 1 });
    const { limits } = readHighWaterMarks();
    expect(limits).toMatchObject({ itemBytes: 216, messageBytes: 100, messageBatch: 2, busBatchEntries: 1 });
    expect(limits.busEntryBytes).toBeGreaterThan(5000);
    expect(limits.busEntryBytes).toBeLessThan(5400);
    expect(limits.queryPageBytes).toBe(LIMITS.queryPageBytes.value);
  });
});

describe("resources", () => {
  const { queues, rules } = CONTRACT_RESOURCES;
  const [queue] = queues;
  const [rule] = rules;
  const cases: readonly [LimitName, Partial<Resources>][] = [
    ["retentionSeconds", { queues: [{ ...queue!, retentionSeconds: 1_209_601 }] }],
    ["visibilitySeconds", { queues: [{ ...queue!, visibilitySeconds: 43_201 }] }],
    ["ruleTargets", { rules: [{ ...rule!, queues: Array.from({ length: 6 }, () => queue!.name) }] }],
    ["busRules", { rules: Array.from({ length: 301 }, (_, n) => ({ ...rule!, name: `rule-${n}` })) }],
    [
      "busRules",
      {
        schedules: Array.from({ length: 301 }, (_, n) => ({
          name: `${n}`,
          expression: "rate(1 day)",
          queues: [],
        })),
      },
    ],
  ];

  it.each(cases)("that exceed %s open on neither platform", async (name, more) => {
    const resources = { ...CONTRACT_RESOURCES, ...more };
    const fault = { code: "limit_exceeded", message: expect.stringContaining(name) };
    await expect(mockAws({ resources })).rejects.toMatchObject(fault);
    const folder = await temporaryFolder();
    await expect(openForTest(folder.path, resources)).rejects.toMatchObject(fault);
    await folder.remove();
  });

  it("at the limit are accepted", () => {
    const most = { ...queue!, retentionSeconds: 1_209_600, visibilitySeconds: 43_200 };
    const targets = { ...rule!, queues: Array.from({ length: 5 }, () => queue!.name) };
    const many = Array.from({ length: 300 }, (_, n) => ({ ...targets, name: `rule-${n}` }));
    expect(() => checkResources({ tables: [], queues: [most], rules: many, schedules: [] })).not.toThrow();
  });
});

it("the events' limit of data in a record equals the platform's", () => {
  expect(EVENT_DATA_INLINE_BYTES).toBe(LIMITS.eventDataBytes.value);
});
