import { PlatformFault } from "./faults.ts";

export interface Limit {
  readonly value: number;
  readonly unit:
    | "bytes"
    | "items"
    | "messages"
    | "entries"
    | "seconds"
    | "levels"
    | "rules"
    | "targets"
    | "resources"
    | "outputs"
    | "parameters"
    | "policies"
    | "characters";
  /** The AWS service that sets the limit, or `Weft` for limits of this project. */
  readonly source: string;
  /**
   * What happens above the limit. By default the request is rejected; `split` sends several parts, and `elsewhere` uses
   * another path, which is not measured.
   */
  readonly beyond?: "split" | "elsewhere";
}

const KIB = 1024;
const MIB = 1024 * KIB;

/** Every limit of the platform. Both adapters enforce them, so that code that works on one works on the other. */
export const LIMITS = {
  itemBytes: { value: 400 * KIB, unit: "bytes", source: "DynamoDB" },
  itemDepth: { value: 32, unit: "levels", source: "DynamoDB" },
  partitionKeyBytes: { value: 2048, unit: "bytes", source: "DynamoDB" },
  sortKeyBytes: { value: 1024, unit: "bytes", source: "DynamoDB" },
  queryPageBytes: { value: 1 * MIB, unit: "bytes", source: "DynamoDB", beyond: "split" },
  transactionItems: { value: 100, unit: "items", source: "DynamoDB" },
  transactionBytes: { value: 4 * MIB, unit: "bytes", source: "DynamoDB" },
  batchGetItems: { value: 100, unit: "items", source: "DynamoDB", beyond: "split" },
  /** Event with its envelope, as it is delivered to the rules' queues. */
  busEntryBytes: { value: 1 * MIB, unit: "bytes", source: "EventBridge" },
  /** Larger event data is stored as a blob. Publishers enforce it. */
  eventDataBytes: { value: 200 * KIB, unit: "bytes", source: "Weft", beyond: "elsewhere" },
  busBatchEntries: { value: 10, unit: "entries", source: "EventBridge", beyond: "split" },
  busRules: { value: 300, unit: "rules", source: "EventBridge" },
  ruleTargets: { value: 5, unit: "targets", source: "EventBridge" },
  messageBytes: { value: 1 * MIB, unit: "bytes", source: "SQS" },
  messageBatch: { value: 10, unit: "messages", source: "SQS", beyond: "split" },
  messageDelaySeconds: { value: 900, unit: "seconds", source: "SQS" },
  messageWaitSeconds: { value: 20, unit: "seconds", source: "SQS" },
  visibilitySeconds: { value: 12 * 3600, unit: "seconds", source: "SQS" },
  /** Deduplication interval of a FIFO queue; no value is checked against it. */
  deduplicationSeconds: { value: 300, unit: "seconds", source: "SQS", beyond: "elsewhere" },
  retentionSeconds: { value: 14 * 86_400, unit: "seconds", source: "SQS" },
  blobKeyBytes: { value: 1024, unit: "bytes", source: "S3" },
  /** Request body; routes set lower limits. */
  requestBytes: { value: 10 * MIB, unit: "bytes", source: "API Gateway" },
  /** Request and response of a function, each as JSON text. */
  payloadBytes: { value: 6 * MIB, unit: "bytes", source: "Lambda" },
  handlerSeconds: { value: 900, unit: "seconds", source: "Lambda" },
  /** Functions with buffered responses; streaming functions may run longer. */
  httpHandlerSeconds: { value: 29, unit: "seconds", source: "API Gateway" },
  /** Names and values of a function's environment variables together. */
  environmentBytes: { value: 4 * KIB, unit: "bytes", source: "Lambda" },
  /** After SAM's transform. CloudFormation allows 500; the difference is reserve. */
  stackResources: { value: 450, unit: "resources", source: "Weft" },
  /** Resources of a REST API: one per path part. */
  apiResources: { value: 300, unit: "resources", source: "API Gateway" },
  /** Deployed managed policy, without whitespace. */
  managedPolicyCharacters: { value: 6144, unit: "characters", source: "IAM" },
  /** Managed policies of a role, at the default quota. */
  rolePolicies: { value: 10, unit: "policies", source: "IAM" },
  /** A template that is deployed from a bucket, as SAM does. */
  templateBytes: { value: 1_000_000, unit: "bytes", source: "CloudFormation" },
  stackOutputs: { value: 200, unit: "outputs", source: "CloudFormation" },
  stackParameters: { value: 200, unit: "parameters", source: "CloudFormation" },
} as const satisfies Record<string, Limit>;

export type LimitName = keyof typeof LIMITS;

/** The error for an exceeded limit: states the limit, what exceeded it and the actual value. */
export function limitFault(name: LimitName, what: string, actual?: number): PlatformFault {
  const { value, unit, source } = LIMITS[name];
  const size = actual === undefined ? "" : ` has ${actual} ${unit} and`;
  return new PlatformFault("limit_exceeded", `${what}${size} passes ${name} (${value} ${unit}, ${source})`);
}
