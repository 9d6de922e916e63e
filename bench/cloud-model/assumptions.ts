/**
 * Limits of AWS that the model enforces, as documented by AWS in 2025 and 2026, and what it assumes where AWS documents
 * no figure. Burst capacity, which only helps for minutes, is not counted.
 */
export const CAPACITY = {
  /** DynamoDB: write and read units per second of one partition. */
  writeUnits: 1_000,
  readUnits: 3_000,
  /** DynamoDB: bytes of a write and of a read unit. */
  writeUnitBytes: 1_024,
  readUnitBytes: 4_096,
  /** DynamoDB: what a partition saves for a burst, seconds of its capacity. */
  burstSeconds: 1,
  /** SQS FIFO: requests per second and action of a queue, or of a group with high throughput. */
  fifoRequests: 300,
  /** EventBridge: PutEvents entries per second, us-east-1. */
  busEntries: 10_000,
} as const;

/** Milliseconds that a request takes, to and from the service: assumed, of the order that AWS documents. */
export const LATENCY = {
  read: 4,
  write: 6,
  /** A transaction keeps its items from other writes during the second half. */
  transaction: 14,
  queue: 8,
  bus: 12,
  /** From the bus to a queue. */
  delivery: 60,
  object: 20,
  /** From a message in a queue to its function's start, without a batch window. */
  poll: 15,
} as const;

/** Milliseconds of the processor in a function: for an invocation, and for each message of its batch. Assumed. */
export const PROCESSOR = { invocation: 5, message: 0.03 } as const;

/** US dollars, us-east-1, on demand, per million. AWS's price lists of November 2025. */
export const PRICES = {
  source:
    "aws.amazon.com/dynamodb/pricing, /sqs/pricing, /eventbridge/pricing, /lambda/pricing, /s3/pricing, /api-gateway/pricing; us-east-1, 2025-11",
  writeUnits: 0.625,
  readUnits: 0.125,
  standardRequests: 0.4,
  fifoRequests: 0.5,
  busEntries: 1,
  objectWrites: 5,
  objectReads: 0.4,
  invocations: 0.2,
  /** Per million GB-seconds, arm64. */
  memory: 13.3334,
  httpRequests: 3.5,
} as const;
