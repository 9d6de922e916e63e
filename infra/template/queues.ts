import type { Consumer } from "../../lib/events/consumer.ts";
import { FIRE_QUEUE, SCHEDULE_RULES } from "../../lib/platform/scheduler.ts";
import { toPascalCase } from "../names.ts";
import type { ScannedConsumer } from "../scan.ts";
import {
  arnOf,
  installationArn,
  installationName,
  type Resource,
  type ResourceMap,
  ref,
  sub,
} from "./intrinsics.ts";

/**
 * Lambda rejects a queue with a visibility timeout shorter than the function's timeout. It is no longer than that,
 * because the handler changes the visibility from the start: a message waits this long after a function died before,
 * and Lambda retries a throttled function for this long.
 */
const VISIBILITY_MIN_SECONDS = 120;
/** Short, because a worker's poller extends it while the step runs: a dead worker is detected after this time. */
export const WORKER_VISIBILITY_SECONDS = 60;
/** The maximum retention period of SQS: 14 days. */
const RETENTION_SECONDS = 14 * 24 * 3600;

/** Limits of requests apply to each message group: without this, to the queue. */
const HIGH_THROUGHPUT = {
  FifoThroughputLimit: "perMessageGroupId",
  DeduplicationScope: "messageGroup",
} as const;

/** A queue of a consumer. */
export interface QueueName {
  readonly logicalId: string;
  /** As in AWS, without the stack's name as a prefix. */
  readonly name: string;
}

export const isTarget = (consumer: Consumer): boolean =>
  consumer.rule !== undefined || consumer.schedule !== undefined;
const hasQueue = (consumer: Consumer): boolean => consumer.deadLetters !== true || isTarget(consumer);
/** A rule's dead-letter queue must be a standard queue, so FIFO consumers have one more. */
const hasUndelivered = (consumer: Consumer): boolean => isTarget(consumer) && consumer.queue.fifo === true;

const fifoName = (name: string, { queue }: Consumer): string => (queue.fifo === true ? `${name}.fifo` : name);

/** The queue that feeds a consumer; undefined if it only reads the dead letters of others. */
export function mainQueue(consumer: Consumer): QueueName | undefined {
  if (!hasQueue(consumer)) return undefined;
  return { logicalId: `${toPascalCase(consumer.name)}Queue`, name: fifoName(consumer.name, consumer) };
}

/** The dead-letter queue of its consumer, and of rules. */
export function deadLetterQueues(consumer: Consumer): QueueName[] {
  if (!hasQueue(consumer)) return [];
  const pascal = toPascalCase(consumer.name);
  const own = {
    logicalId: `${pascal}DeadLetterQueue`,
    name: fifoName(`${consumer.name}-dead-letters`, consumer),
  };
  const undelivered = { logicalId: `${pascal}UndeliveredQueue`, name: `${consumer.name}-undelivered` };
  return hasUndelivered(consumer) ? [own, undelivered] : [own];
}

/** The queue for events that a rule could not deliver to a consumer. */
export function undeliveredQueue(consumer: Consumer): QueueName | undefined {
  return isTarget(consumer) ? deadLetterQueues(consumer).at(-1) : undefined;
}

/** Logical ids of the queues that feed a consumer's function. */
export function sourcesOf(consumer: Consumer, all: readonly ScannedConsumer[]): string[] {
  const own = mainQueue(consumer)?.logicalId;
  const others = all
    .map((scanned) => scanned.consumer)
    .filter((other) => consumer.deadLetters === true && other !== consumer)
    .flatMap((other) => deadLetterQueues(other).map(({ logicalId }) => logicalId));
  return own === undefined ? others : [own, ...others];
}

/** The queue of a consumer, its dead-letter queues, and the policy for senders. */
export function queueResources(consumer: Consumer, all: readonly ScannedConsumer[]): ResourceMap {
  const main = mainQueue(consumer);
  if (main === undefined) return {};
  const fifo = consumer.queue.fifo === true;
  const reader = all.find((scanned) => scanned.consumer.deadLetters === true)?.consumer;
  const deadLetterVisibility = reader === undefined ? undefined : visibilityOf(reader);
  const [own, undelivered] = deadLetterQueues(consumer);
  const queue = toQueue(main, visibilityOf(consumer), {
    ...(fifo ? HIGH_THROUGHPUT : {}),
    // EventBridge sends to a FIFO queue without deduplication ids.
    ...(fifo && isTarget(consumer) ? { ContentBasedDeduplication: true } : {}),
    RedrivePolicy: {
      deadLetterTargetArn: arnOf(own?.logicalId ?? ""),
      maxReceiveCount: consumer.queue.maxReceiveCount,
    },
  });
  const { eager, coalesces } = consumer.queue;
  const weft = {
    ...(eager === undefined ? {} : { Eager: eager }),
    ...(coalesces === undefined ? {} : { Coalesces: coalesces }),
  };
  return {
    [main.logicalId]: Object.keys(weft).length === 0 ? queue : { ...queue, Metadata: { Weft: weft } },
    ...(own === undefined ? {} : { [own.logicalId]: toQueue(own, deadLetterVisibility) }),
    ...(undelivered === undefined
      ? {}
      : { [undelivered.logicalId]: toQueue(undelivered, deadLetterVisibility) }),
    ...(isTarget(consumer) ? queuePolicy(consumer, main) : {}),
  };
}

function visibilityOf(consumer: Consumer): number {
  if (consumer.worker === true) return WORKER_VISIBILITY_SECONDS;
  return Math.max(consumer.timeoutSeconds, VISIBILITY_MIN_SECONDS);
}

function toQueue(
  { name }: QueueName,
  visibilitySeconds: number | undefined,
  further: Readonly<Record<string, unknown>> = {},
): Resource {
  return {
    Type: "AWS::SQS::Queue",
    Properties: {
      QueueName: installationName(name),
      ...(name.endsWith(".fifo") ? { FifoQueue: true } : {}),
      ...(visibilitySeconds === undefined ? {} : { VisibilityTimeout: visibilitySeconds }),
      MessageRetentionPeriod: RETENTION_SECONDS,
      SqsManagedSseEnabled: true,
      ...further,
    },
  };
}

/** The rules that the scheduler creates at run time, one for each expression of schedules. */
export const scheduleRulesArn = (): { readonly "Fn::Sub": string } =>
  sub(`${installationArn("events", `rule/*-${SCHEDULE_RULES}`)["Fn::Sub"]}*`);

/** The main template contains the rules and depends on this one: they are referred to by name. */
function queuePolicy(consumer: Consumer, main: QueueName): ResourceMap {
  const rules = [
    // The ARN of a bus's rule contains the bus's name, which is the stack's, before the rule's name.
    ...(consumer.rule === undefined ? [] : [installationArn("events", `rule/*/*-${consumer.name}`)]),
    ...(consumer.schedule === undefined ? [] : [installationArn("events", `rule/*-${consumer.name}`)]),
    ...(consumer.name === FIRE_QUEUE ? [scheduleRulesArn()] : []),
  ];
  return {
    [`${toPascalCase(consumer.name)}QueuePolicy`]: {
      Type: "AWS::SQS::QueuePolicy",
      Properties: {
        Queues: [ref(main.logicalId), ref(undeliveredQueue(consumer)?.logicalId ?? "")],
        PolicyDocument: {
          Version: "2012-10-17",
          Statement: [
            {
              Effect: "Allow",
              Principal: { Service: "events.amazonaws.com" },
              Action: "sqs:SendMessage",
              Resource: "*",
              Condition: { ArnLike: { "aws:SourceArn": rules } },
            },
          ],
        },
      },
    },
  };
}
