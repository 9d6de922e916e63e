import { posix } from "node:path";
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
import { listOf, type Part, partOf, resolveText, toNumber, toReference } from "./intrinsics.ts";

/** Returns the text of a nested template by its path relative to the main template's folder. */
export type ReadNestedTemplate = (location: string) => string;

/**
 * The tables, queues, buses, rules and buckets that a template and its nested templates declare, with their names in
 * a stack. Roles, functions and the gateway are left to CloudFormation. A bucket without a name in the template gets
 * `bucket`. Throws an Error that names the resource if it cannot be read.
 */
export function blueprintOfTemplate(
  text: string,
  stack: string,
  bucket: string,
  readNested: ReadNestedTemplate,
): Blueprint {
  const opened = openTemplate(text, ".", readNested);
  const parts = flatten(opened).map((template) => blueprintOf(template, stack, bucket));
  return {
    tables: parts.flatMap(({ tables }) => tables),
    queues: parts.flatMap(({ queues }) => queues),
    buses: parts.flatMap(({ buses }) => buses),
    rules: parts.flatMap(({ rules }) => rules),
    buckets: parts.flatMap(({ buckets }) => buckets),
  };
}

/** A template in the tree of nested templates. */
interface Template {
  readonly resources: readonly (readonly [id: string, resource: unknown])[];
  readonly outputs: Part;
  /** By logical id. */
  readonly nested: ReadonlyMap<string, Template>;
}

function openTemplate(text: string, folder: string, readNested: ReadNestedTemplate): Template {
  const { Resources, Outputs } = partOf(parse(text));
  const resources = Object.entries(partOf(Resources));
  const nested = mapResources({ resources }, "AWS::Serverless::Application", ({ Location }, id) => {
    if (typeof Location !== "string") throw new Error("has no Location");
    const path = posix.join(folder, Location);
    return [id, openTemplate(readNested(path), posix.dirname(path), readNested)] as const;
  });
  return { resources, outputs: partOf(Outputs), nested: new Map(nested) };
}

const flatten = (template: Template): Template[] => [
  template,
  ...[...template.nested.values()].flatMap(flatten),
];

function mapResources<Result>(
  { resources }: Pick<Template, "resources">,
  type: string,
  read: (properties: Part, id: string) => Result,
): Result[] {
  return resources.flatMap(([id, resource]) => {
    const { Type, Properties } = partOf(resource);
    if (Type !== type) return [];
    try {
      return [read(partOf(Properties), id)];
    } catch (error) {
      throw new Error(`${id}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  });
}

function blueprintOf(template: Template, stack: string, bucket: string): Blueprint {
  const nameOf =
    (type: string, property: string) =>
    (reference: unknown): string =>
      findName(template, stack, type, property, reference);
  const queueOf = nameOf("AWS::SQS::Queue", "QueueName");
  const busOf = nameOf("AWS::Events::EventBus", "Name");
  return {
    tables: mapResources(template, "AWS::DynamoDB::Table", (properties) => toTable(stack, properties)),
    queues: mapResources(template, "AWS::SQS::Queue", (properties) => toQueue(stack, properties, queueOf)),
    buses: mapResources(template, "AWS::Events::EventBus", ({ Name }) => resolveText(stack, Name)),
    rules: mapResources(template, "AWS::Events::Rule", (properties) =>
      toRule(stack, properties, queueOf, busOf),
    ),
    // A conditional bucket belongs to CloudFront.
    buckets: mapResources(
      { resources: template.resources.filter(([, resource]) => partOf(resource).Condition === undefined) },
      "AWS::S3::Bucket",
      ({ BucketName }) => (BucketName === undefined ? bucket : resolveText(stack, BucketName)),
    ),
  };
}

/** The name of a referenced resource, in the template itself or in the outputs of a nested stack. */
function findName(
  template: Template,
  stack: string,
  type: string,
  property: string,
  reference: unknown,
): string {
  const { id, attribute = "" } = toReference(reference);
  const output = /^Outputs\.(.+)$/.exec(attribute)?.[1];
  const child = template.nested.get(id);
  if (child !== undefined && output !== undefined) {
    const { Value } = partOf(child.outputs[output]);
    if (Value === undefined) throw new Error(`refers to ${attribute} of ${id}, which does not exist`);
    return findName(child, stack, type, property, Value);
  }
  const [found] = mapResources(
    { resources: template.resources.filter(([own]) => own === id) },
    type,
    (properties) => resolveText(stack, properties[property]),
  );
  if (found === undefined) throw new Error(`refers to ${id}, which does not exist`);
  return found;
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
    return [resolveText(stack, IndexName), toKeys(KeySchema)] as const;
  });
  return { name: resolveText(stack, properties.TableName), indexes: Object.fromEntries(indexes) };
}

type Find = (reference: unknown) => string;

function toQueue(stack: string, properties: Part, queueOf: Find): QueueBlueprint {
  const { QueueName, FifoQueue, ContentBasedDeduplication, VisibilityTimeout, MessageRetentionPeriod } =
    properties;
  const { deadLetterTargetArn, maxReceiveCount } = partOf(properties.RedrivePolicy);
  return {
    name: resolveText(stack, QueueName),
    fifo: FifoQueue === true,
    contentDeduplication: ContentBasedDeduplication === true,
    ...(VisibilityTimeout === undefined ? {} : { visibilitySeconds: toNumber(VisibilityTimeout) }),
    ...(MessageRetentionPeriod === undefined ? {} : { retentionSeconds: toNumber(MessageRetentionPeriod) }),
    ...(deadLetterTargetArn === undefined
      ? {}
      : {
          deadLetter: { queue: queueOf(deadLetterTargetArn), maxReceiveCount: toNumber(maxReceiveCount) },
        }),
  };
}

function toTarget(stack: string, part: unknown, queueOf: Find): TargetBlueprint {
  const { Id, Arn, SqsParameters, DeadLetterConfig } = partOf(part);
  const { MessageGroupId } = partOf(SqsParameters);
  return {
    id: resolveText(stack, Id),
    queue: queueOf(Arn),
    ...(MessageGroupId === undefined ? {} : { groupId: resolveText(stack, MessageGroupId) }),
    ...(DeadLetterConfig === undefined ? {} : { deadLetterQueue: queueOf(partOf(DeadLetterConfig).Arn) }),
  };
}

function toRule(stack: string, properties: Part, queueOf: Find, busOf: Find): RuleBlueprint {
  const { Name, EventBusName, EventPattern: pattern, ScheduleExpression, Targets } = properties;
  return {
    name: resolveText(stack, Name),
    ...(EventBusName === undefined ? {} : { bus: busOf(EventBusName) }),
    when:
      ScheduleExpression === undefined
        ? { pattern: partOf(pattern) as EventPattern }
        : { schedule: resolveText(stack, ScheduleExpression) },
    targets: listOf(Targets).map((target) => toTarget(stack, target, queueOf)),
  };
}
