import type { QueueResult } from "../lib/events/consumer.ts";
import type { ReceivedMessage } from "../lib/platform/queues.ts";

/** Lambda's event for a batch of SQS messages. */
export function queueEvent(queue: string, messages: readonly ReceivedMessage[]) {
  return {
    Records: messages.map((message) => ({
      messageId: message.id,
      receiptHandle: message.receipt,
      body: message.body,
      attributes: {
        ApproximateReceiveCount: String(message.receiveCount),
        SentTimestamp: String(message.sentAt),
        ...(message.interrupted === undefined ? {} : { WeftInterrupted: String(message.interrupted) }),
        ...(message.groupId === undefined ? {} : { MessageGroupId: message.groupId }),
      },
      messageAttributes: {},
      eventSource: "aws:sqs",
      eventSourceARN: `arn:aws:sqs:local:000000000000:${queue}`,
      awsRegion: "local",
    })),
  };
}

/**
 * Receipts of the messages that the handler's result names as failed. As in Lambda, an id that is not in the batch fails
 * the whole batch.
 */
export function findFailedReceipts(
  messages: readonly ReceivedMessage[],
  result: unknown,
): ReadonlySet<string> {
  const named = (result as Partial<QueueResult> | null | undefined)?.batchItemFailures ?? [];
  const receipts = new Map(messages.map((message) => [message.id, message.receipt]));
  const failed = new Set<string>();
  for (const { itemIdentifier } of named) {
    const receipt = receipts.get(itemIdentifier);
    if (receipt === undefined) return new Set(receipts.values());
    failed.add(receipt);
  }
  return failed;
}
