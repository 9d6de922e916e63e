import { GetQueueUrlCommand, type SQSClient } from "@aws-sdk/client-sqs";
import type { QueueResource } from "../resources.ts";
import { faulting } from "./faults.ts";
import { inStack } from "./table-layout.ts";

/** The queue's name in the account, with the suffix that SQS requires for FIFO queues. */
export function queueNameOf(stack: string, { name, fifo }: Pick<QueueResource, "name" | "fifo">): string {
  return inStack(stack, fifo ? `${name}.fifo` : name);
}

export interface QueueUrls {
  /** Throws TypeError for a queue that the template does not declare. */
  resource(queue: string): QueueResource;
  /** Cached; a failed request is repeated by the next call. */
  url(queue: string): Promise<string>;
}

export function queueUrls(client: SQSClient, stack: string, resources: readonly QueueResource[]): QueueUrls {
  const known = new Map(resources.map((resource) => [resource.name, resource]));
  const urls = new Map<string, Promise<string>>();
  const resource = (queue: string): QueueResource => {
    const found = known.get(queue);
    if (found === undefined) throw new TypeError(`there is no queue "${queue}"`);
    return found;
  };
  const ask = async (queue: string): Promise<string> => {
    const QueueName = queueNameOf(stack, resource(queue));
    const { QueueUrl } = await faulting(() => client.send(new GetQueueUrlCommand({ QueueName })));
    if (QueueUrl === undefined) throw new Error(`SQS gives no address for ${QueueName}`);
    return QueueUrl;
  };
  return {
    resource,
    url: (queue) => {
      const asked = urls.get(queue);
      if (asked !== undefined) return asked;
      const asking = ask(queue);
      urls.set(queue, asking);
      asking.catch(() => urls.delete(queue));
      return asking;
    },
  };
}
