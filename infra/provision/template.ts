import { parse } from "yaml";
import type {
  Blueprint,
  QueueBlueprint,
  RuleBlueprint,
  TableBlueprint,
  TargetBlueprint,
} from "../../lib/platform/aws/provision/blueprint.ts";
import type { EventPattern } from "../../lib/platform/bus.ts";
import type { IndexSpec } from "../../lib/platform/tables.ts";
import { listOf, logicalIdOf, numberOf, type Part, partOf, textIn } from "./intrinsics.ts";

/**
 * The tables, queues, buses, rules and buckets that a template declares, under the names that they have in a stack.
 * Roles, functions and the gateway are left to CloudFormation. A bucket that the template leaves the name of to
 * CloudFormation gets `bucket`. Throws an Error that names the resource which cannot be read.
 */
export function blueprintOfTemplate(text: string, stack: string, bucket: string): Blueprint {
  const resources = Object.entries(partOf(partOf(parse(text)).Resources));
  const ofType = <Result>(type: string, read: (properties: Part, id: string) => Result): Result[] =>
    resources.flatMap(([id, resource]) => {
      const { Type, Properties } = partOf(resource);
      if (Type !== type) return [];
      try {
        return [read(partOf(Properties), id)];
      } catch (error) {
        throw new Error(`${id}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
      }
    });

  const queueNames = new Map(
    ofType("AWS::SQS::Queue", ({ QueueName }, id) => [id, textIn(stack, QueueName)] as const),
  );
  const busNames = new Map(
    ofType("AWS::Events::EventBus", ({ Name }, id) => [id, textIn(stack, Name)] as const),
  );
  const found = (names: ReadonlyMap<string, string>, reference: unknown): string => {
    const id = logicalIdOf(reference);
    const name = names.get(id);
    if (name === undefined) throw new Error(`names ${id}, which is not there`);
    return name;
  };
  const queueOf = (reference: unknown): string => found(queueNames, reference);
  const busOf = (reference: unknown): string => found(busNames, reference);

  return {
    tables: ofType("AWS::DynamoDB::Table", (properties) => toTable(stack, properties)),
    queues: ofType("AWS::SQS::Queue", (properties) => toQueue(stack, properties, queueOf)),
    buses: [...busNames.values()],
    rules: ofType("AWS::Events::Rule", (properties) => toRule(stack, properties, queueOf, busOf)),
    buckets: ofType("AWS::S3::Bucket", ({ BucketName }) =>
      BucketName === undefined ? bucket : textIn(stack, BucketName),
    ),
  };
}

function toKeys(schema: unknown): IndexSpec {
  const attribute = (type: string): string => {
    const key = listOf(schema).find((part) => partOf(part).KeyType === type);
    const name = partOf(key).AttributeName;
    if (typeof name !== "string") throw new Error(`has no ${type} key`);
    return name;
  };
  return { pk: attribute("HASH"), sk: attribute("RANGE") };
}

function toTable(stack: string, properties: Part): TableBlueprint {
  const indexes = listOf(properties.GlobalSecondaryIndexes).map((index) => {
    const { IndexName, KeySchema } = partOf(index);
    return [textIn(stack, IndexName), toKeys(KeySchema)] as const;
  });
  return { name: textIn(stack, properties.TableName), indexes: Object.fromEntries(indexes) };
}

type Find = (reference: unknown) => string;

function toQueue(stack: string, properties: Part, queueOf: Find): QueueBlueprint {
  const { QueueName, FifoQueue, ContentBasedDeduplication, VisibilityTimeout, MessageRetentionPeriod } =
    properties;
  const { deadLetterTargetArn, maxReceiveCount } = partOf(properties.RedrivePolicy);
  return {
    name: textIn(stack, QueueName),
    fifo: FifoQueue === true,
    contentDeduplication: ContentBasedDeduplication === true,
    ...(VisibilityTimeout === undefined ? {} : { visibilitySeconds: numberOf(VisibilityTimeout) }),
    ...(MessageRetentionPeriod === undefined ? {} : { retentionSeconds: numberOf(MessageRetentionPeriod) }),
    ...(deadLetterTargetArn === undefined
      ? {}
      : {
          deadLetter: { queue: queueOf(deadLetterTargetArn), maxReceiveCount: numberOf(maxReceiveCount) },
        }),
  };
}

function toTarget(stack: string, part: unknown, queueOf: Find): TargetBlueprint {
  const { Id, Arn, SqsParameters, DeadLetterConfig } = partOf(part);
  const { MessageGroupId } = partOf(SqsParameters);
  return {
    id: textIn(stack, Id),
    queue: queueOf(Arn),
    ...(MessageGroupId === undefined ? {} : { groupId: textIn(stack, MessageGroupId) }),
    ...(DeadLetterConfig === undefined ? {} : { deadLetterQueue: queueOf(partOf(DeadLetterConfig).Arn) }),
  };
}

function toRule(stack: string, properties: Part, queueOf: Find, busOf: Find): RuleBlueprint {
  const { Name, EventBusName, EventPattern: pattern, ScheduleExpression, Targets } = properties;
  return {
    name: textIn(stack, Name),
    ...(EventBusName === undefined ? {} : { bus: busOf(EventBusName) }),
    when:
      ScheduleExpression === undefined
        ? { pattern: partOf(pattern) as EventPattern }
        : { schedule: textIn(stack, ScheduleExpression) },
    targets: listOf(Targets).map((target) => toTarget(stack, target, queueOf)),
  };
}
