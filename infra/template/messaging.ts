import type { Consumer } from "../../lib/events/consumer.ts";
import { toPascalCase } from "../names.ts";
import type { ScannedConsumer } from "../scan.ts";
import { arnOf, type Resource, type ResourceMap, ref, stackName, sub } from "./intrinsics.ts";

export const BUS_ID = "EventBus";

/** A message is hidden this many times the function's timeout, as Lambda's guide advises. */
const VISIBILITY_FACTOR = 6;
/** SQS hides a message at most 12 hours. */
const VISIBILITY_MAX_SECONDS = 43_200;
/** Short, as a worker's poller renews it while the step runs: a worker that died is noticed after this long. */
export const WORKER_VISIBILITY_SECONDS = 60;
/** The longest that SQS keeps a message: 14 days. */
const RETENTION_SECONDS = 14 * 24 * 3600;

const queueId = (name: string): string => `${toPascalCase(name)}Queue`;
const deadLetterId = (name: string): string => `${toPascalCase(name)}DeadLetterQueue`;
const undeliveredId = (name: string): string => `${toPascalCase(name)}UndeliveredQueue`;

const isTarget = (consumer: Consumer): boolean =>
  consumer.rule !== undefined || consumer.schedule !== undefined;
const hasQueue = (consumer: Consumer): boolean => consumer.deadLetters !== true || isTarget(consumer);
/** A rule's dead-letter queue must be a standard queue, so FIFO consumers have one more. */
const hasUndelivered = (consumer: Consumer): boolean => isTarget(consumer) && consumer.queue.fifo === true;

export function busResources(): ResourceMap {
  return { [BUS_ID]: { Type: "AWS::Events::EventBus", Properties: { Name: sub("${AWS::StackName}") } } };
}

/** Logical ids of the queues that feed a consumer's function. */
export function sourcesOf(consumer: Consumer, all: readonly ScannedConsumer[]): string[] {
  const own = hasQueue(consumer) ? [queueId(consumer.name)] : [];
  if (consumer.deadLetters !== true) return own;
  const others = all
    .map((scanned) => scanned.consumer)
    .filter((other) => other !== consumer && hasQueue(other));
  return [
    ...own,
    ...others.flatMap((other) => [
      deadLetterId(other.name),
      ...(hasUndelivered(other) ? [undeliveredId(other.name)] : []),
    ]),
  ];
}

/** The queue of a consumer, its dead-letter queue, and the rules that feed it. */
export function messagingResources(consumer: Consumer, all: readonly ScannedConsumer[]): ResourceMap {
  if (!hasQueue(consumer)) return {};
  const { name } = consumer;
  const fifo = consumer.queue.fifo === true;
  const reader = all.find((scanned) => scanned.consumer.deadLetters === true)?.consumer;
  const deadLetterVisibility = reader === undefined ? undefined : visibilityOf(reader);
  return {
    [queueId(name)]: toQueue(name, fifo, visibilityOf(consumer), {
      // EventBridge sends to a FIFO queue without deduplication ids.
      ...(fifo && isTarget(consumer) ? { ContentBasedDeduplication: true } : {}),
      RedrivePolicy: {
        deadLetterTargetArn: arnOf(deadLetterId(name)),
        maxReceiveCount: consumer.queue.maxReceiveCount,
      },
    }),
    [deadLetterId(name)]: toQueue(`${name}-dead-letters`, fifo, deadLetterVisibility),
    ...(hasUndelivered(consumer)
      ? { [undeliveredId(name)]: toQueue(`${name}-undelivered`, false, deadLetterVisibility) }
      : {}),
    ...(isTarget(consumer) ? ruleResources(consumer) : {}),
  };
}

function visibilityOf(consumer: Consumer): number {
  if (consumer.worker === true) return WORKER_VISIBILITY_SECONDS;
  return Math.min(consumer.timeoutSeconds * VISIBILITY_FACTOR, VISIBILITY_MAX_SECONDS);
}

function toQueue(
  name: string,
  fifo: boolean,
  visibilitySeconds: number | undefined,
  further: Readonly<Record<string, unknown>> = {},
): Resource {
  return {
    Type: "AWS::SQS::Queue",
    Properties: {
      QueueName: stackName(fifo ? `${name}.fifo` : name),
      ...(fifo ? { FifoQueue: true } : {}),
      ...(visibilitySeconds === undefined ? {} : { VisibilityTimeout: visibilitySeconds }),
      MessageRetentionPeriod: RETENTION_SECONDS,
      SqsManagedSseEnabled: true,
      ...further,
    },
  };
}

function ruleResources(consumer: Consumer): ResourceMap {
  const pascal = toPascalCase(consumer.name);
  const undelivered = hasUndelivered(consumer) ? undeliveredId(consumer.name) : deadLetterId(consumer.name);
  const target = {
    Id: "queue",
    Arn: arnOf(queueId(consumer.name)),
    DeadLetterConfig: { Arn: arnOf(undelivered) },
    ...(consumer.queue.fifo === true ? { SqsParameters: { MessageGroupId: consumer.name } } : {}),
  };
  const rules: Record<string, Resource> = {};
  if (consumer.rule !== undefined) {
    rules[`${pascal}Rule`] = {
      Type: "AWS::Events::Rule",
      Properties: {
        Name: stackName(consumer.name),
        EventBusName: ref(BUS_ID),
        EventPattern: consumer.rule,
        Targets: [target],
      },
    };
  }
  if (consumer.schedule !== undefined) {
    // Scheduled rules exist on the account's default bus alone.
    rules[`${pascal}Schedule`] = {
      Type: "AWS::Events::Rule",
      Properties: {
        Name: stackName(consumer.name),
        ScheduleExpression: consumer.schedule,
        Targets: [target],
      },
    };
  }
  return {
    ...rules,
    [`${pascal}QueuePolicy`]: {
      Type: "AWS::SQS::QueuePolicy",
      Properties: {
        Queues: [ref(queueId(consumer.name)), ref(undelivered)],
        PolicyDocument: {
          Version: "2012-10-17",
          Statement: [
            {
              Effect: "Allow",
              Principal: { Service: "events.amazonaws.com" },
              Action: "sqs:SendMessage",
              Resource: "*",
              Condition: { ArnEquals: { "aws:SourceArn": Object.keys(rules).map(arnOf) } },
            },
          ],
        },
      },
    },
  };
}
