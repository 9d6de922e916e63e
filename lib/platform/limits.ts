import { PlatformFault } from "./faults.ts";

export interface Limit {
  readonly value: number;
  readonly unit: "bytes" | "items" | "messages" | "entries" | "requests" | "seconds" | "levels";
  /** Who sets it: a service of AWS, or `Weft` where it is a choice of ours. */
  readonly source: string;
}

const KIB = 1024;
const MIB = 1024 * KIB;

/** Every limit of the platform. Both adapters hold to them, so that what runs on one runs on the other. */
export const LIMITS = {
  itemBytes: { value: 400 * KIB, unit: "bytes", source: "DynamoDB" },
  itemDepth: { value: 32, unit: "levels", source: "DynamoDB" },
  partitionKeyBytes: { value: 2048, unit: "bytes", source: "DynamoDB" },
  sortKeyBytes: { value: 1024, unit: "bytes", source: "DynamoDB" },
  queryPageBytes: { value: 1 * MIB, unit: "bytes", source: "DynamoDB" },
  transactionItems: { value: 100, unit: "items", source: "DynamoDB" },
  transactionBytes: { value: 4 * MIB, unit: "bytes", source: "DynamoDB" },
  batchGetItems: { value: 100, unit: "items", source: "DynamoDB" },
  batchWriteItems: { value: 25, unit: "items", source: "DynamoDB" },
  busEntryBytes: { value: 1 * MIB, unit: "bytes", source: "EventBridge" },
  /** Above it the data of an event goes to blobs; kept by the callers of the bus. */
  eventDataBytes: { value: 200 * KIB, unit: "bytes", source: "Weft" },
  busBatchEntries: { value: 10, unit: "entries", source: "EventBridge" },
  messageBytes: { value: 1 * MIB, unit: "bytes", source: "SQS" },
  messageBatch: { value: 10, unit: "messages", source: "SQS" },
  messageDelaySeconds: { value: 900, unit: "seconds", source: "SQS" },
  messageWaitSeconds: { value: 20, unit: "seconds", source: "SQS" },
  visibilitySeconds: { value: 12 * 3600, unit: "seconds", source: "SQS" },
  deduplicationSeconds: { value: 300, unit: "seconds", source: "SQS" },
  retentionSeconds: { value: 14 * 86_400, unit: "seconds", source: "SQS" },
  payloadBytes: { value: 6 * MIB, unit: "bytes", source: "Lambda" },
  blobKeyBytes: { value: 1024, unit: "bytes", source: "S3" },
} as const satisfies Record<string, Limit>;

export type LimitName = keyof typeof LIMITS;

/** The fault of a passed limit: names the limit, and what passed it by how much. */
export function limitFault(name: LimitName, what: string, actual?: number): PlatformFault {
  const { value, unit, source } = LIMITS[name];
  const size = actual === undefined ? "" : ` has ${actual} ${unit} and`;
  return new PlatformFault("limit_exceeded", `${what}${size} passes ${name} (${value} ${unit}, ${source})`);
}

/** True when the text takes more bytes in UTF-8; counts them only where its length leaves a doubt. */
export function longerThan(text: string, bytes: number): boolean {
  if (text.length * 3 <= bytes) return false;
  return text.length > bytes || Buffer.byteLength(text) > bytes;
}
