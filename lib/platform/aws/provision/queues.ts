import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  QueueDoesNotExist,
  SetQueueAttributesCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import { withFaults } from "../faults.ts";
import type { QueueBlueprint } from "./blueprint.ts";

export interface ProvisionedQueue {
  readonly url: string;
  readonly arn: string;
}

/** Keyed by name. */
export type ProvisionedQueues = ReadonlyMap<string, ProvisionedQueue>;

async function find(client: SQSClient, name: string): Promise<string | undefined> {
  try {
    return (await withFaults(() => client.send(new GetQueueUrlCommand({ QueueName: name })))).QueueUrl;
  } catch (error) {
    if (error instanceof QueueDoesNotExist) return undefined;
    throw error;
  }
}

/** The attributes that can be changed on an existing queue. */
function attributesOf(queue: QueueBlueprint, deadLetterArn: string | undefined): Record<string, string> {
  const { visibilitySeconds, retentionSeconds, deadLetter } = queue;
  const redrive = { deadLetterTargetArn: deadLetterArn, maxReceiveCount: deadLetter?.maxReceiveCount };
  return {
    ...(visibilitySeconds === undefined ? {} : { VisibilityTimeout: String(visibilitySeconds) }),
    ...(retentionSeconds === undefined ? {} : { MessageRetentionPeriod: String(retentionSeconds) }),
    ...(queue.fifo ? { ContentBasedDeduplication: String(queue.contentDeduplication) } : {}),
    ...(deadLetterArn === undefined ? {} : { RedrivePolicy: JSON.stringify(redrive) }),
  };
}

async function provisionQueue(
  client: SQSClient,
  queue: QueueBlueprint,
  deadLetterArn: string | undefined,
): Promise<ProvisionedQueue> {
  const { name, fifo } = queue;
  const Attributes = attributesOf(queue, deadLetterArn);
  let url = await find(client, name);
  if (url === undefined) {
    const attributes = { ...Attributes, ...(fifo ? { FifoQueue: "true" } : {}) };
    const command = new CreateQueueCommand({ QueueName: name, Attributes: attributes });
    url = (await withFaults(() => client.send(command))).QueueUrl;
  } else if (Object.keys(Attributes).length > 0) {
    const command = new SetQueueAttributesCommand({ QueueUrl: url, Attributes });
    await withFaults(() => client.send(command));
  }
  const getArn = new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ["QueueArn"] });
  const arn = (await withFaults(() => client.send(getArn))).Attributes?.QueueArn;
  if (url === undefined || arn === undefined) throw new Error(`SQS returned no URL of the queue ${name}`);
  return { url, arn };
}

/** Creates the queues or updates their settings; dead-letter queues before the queues that use them. */
export async function provisionQueues(
  client: SQSClient,
  blueprints: readonly QueueBlueprint[],
): Promise<ProvisionedQueues> {
  const done = new Map<string, ProvisionedQueue>();
  let left = [...blueprints];
  while (left.length > 0) {
    const ready = left.filter(({ deadLetter }) => deadLetter === undefined || done.has(deadLetter.queue));
    if (ready.length === 0) {
      throw new Error(`no dead-letter queue for ${left.map(({ name }) => name).join(", ")}`);
    }
    for (const queue of ready) {
      const target = queue.deadLetter === undefined ? undefined : done.get(queue.deadLetter.queue)?.arn;
      done.set(queue.name, await provisionQueue(client, queue, target));
    }
    left = left.filter((queue) => !ready.includes(queue));
  }
  return done;
}
