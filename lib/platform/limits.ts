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
  /** Who sets it: a service of AWS, or `Weft` where it is a choice of ours. */
  readonly source: string;
  /**
   * What becomes of more than that. It is refused unless said otherwise: `split` goes in several parts, and
   * `elsewhere` takes another way, where nobody measures it.
   */
  readonly beyond?: "split" | "elsewhere";
}

const KIB = 1024;
const MIB = 1024 * KIB;

/** Every limit of the platform. Both adapters hold to them, so that what runs on one runs on the other. */
export const LIMITS = {
  itemBytes: { value: 400 * KIB, unit: "bytes", source: "DynamoDB" },
  itemDepth: { value: 32, unit: "levels", source: "DynamoDB" },
  partitionKeyBytes: { value: 2048, unit: "bytes", source: "DynamoDB" },
  sortKeyBytes: { value: 1024, unit: "bytes", source: "DynamoDB" },
  queryPageBytes: { value: 1 * MIB, unit: "bytes", source: "DynamoDB", beyond: "split" },
  transactionItems: { value: 100, unit: "items", source: "DynamoDB" },
  transactionBytes: { value: 4 * MIB, unit: "bytes", source: "DynamoDB" },
  batchGetItems: { value: 100, unit: "items", source: "DynamoDB", beyond: "split" },
  /** Of an event in its envelope, as the rules' queues have to take it. */
  busEntryBytes: { value: 1 * MIB, unit: "bytes", source: "EventBridge" },
  /** Above it the data of an event goes to blobs; kept by the callers of the bus. */
  eventDataBytes: { value: 200 * KIB, unit: "bytes", source: "Weft", beyond: "elsewhere" },
  busBatchEntries: { value: 10, unit: "entries", source: "EventBridge", beyond: "split" },
  busRules: { value: 300, unit: "rules", source: "EventBridge" },
  ruleTargets: { value: 5, unit: "targets", source: "EventBridge" },
  messageBytes: { value: 1 * MIB, unit: "bytes", source: "SQS" },
  messageBatch: { value: 10, unit: "messages", source: "SQS", beyond: "split" },
  messageDelaySeconds: { value: 900, unit: "seconds", source: "SQS" },
  messageWaitSeconds: { value: 20, unit: "seconds", source: "SQS" },
  visibilitySeconds: { value: 12 * 3600, unit: "seconds", source: "SQS" },
  /** How long a FIFO queue remembers: nothing is measured against it. */
  deduplicationSeconds: { value: 300, unit: "seconds", source: "SQS", beyond: "elsewhere" },
  retentionSeconds: { value: 14 * 86_400, unit: "seconds", source: "SQS" },
  blobKeyBytes: { value: 1024, unit: "bytes", source: "S3" },
  /** Body of a request; routes set lower ones. */
  requestBytes: { value: 10 * MIB, unit: "bytes", source: "API Gateway" },
  /** What a function is given by a request, and what it returns to one, each as JSON text. */
  payloadBytes: { value: 6 * MIB, unit: "bytes", source: "Lambda" },
  handlerSeconds: { value: 900, unit: "seconds", source: "Lambda" },
  /** Of a function that answers requests with whole answers: streamed ones may take longer. */
  httpHandlerSeconds: { value: 29, unit: "seconds", source: "API Gateway" },
  /** Names and values of a function's variables together. */
  environmentBytes: { value: 4 * KIB, unit: "bytes", source: "Lambda" },
  /** After SAM's transform. CloudFormation takes 500: there must be room left. */
  stackResources: { value: 450, unit: "resources", source: "Weft" },
  /** Of a REST API: one for each part of its paths. */
  apiResources: { value: 300, unit: "resources", source: "API Gateway" },
  /** Of a managed policy as it is deployed, without whitespace. */
  managedPolicyCharacters: { value: 6144, unit: "characters", source: "IAM" },
  /** Managed policies of a role, where no higher quota was requested. */
  rolePolicies: { value: 10, unit: "policies", source: "IAM" },
  /** A template that is deployed from a bucket, as SAM does. */
  templateBytes: { value: 1_000_000, unit: "bytes", source: "CloudFormation" },
  stackOutputs: { value: 200, unit: "outputs", source: "CloudFormation" },
  stackParameters: { value: 200, unit: "parameters", source: "CloudFormation" },
} as const satisfies Record<string, Limit>;

export type LimitName = keyof typeof LIMITS;

/** The fault of a passed limit: names the limit, and what passed it by how much. */
export function limitFault(name: LimitName, what: string, actual?: number): PlatformFault {
  const { value, unit, source } = LIMITS[name];
  const size = actual === undefined ? "" : ` has ${actual} ${unit} and`;
  return new PlatformFault("limit_exceeded", `${what}${size} passes ${name} (${value} ${unit}, ${source})`);
}
