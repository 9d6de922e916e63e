import { randomUUID } from "node:crypto";
import type { BatchResultErrorEntry, Message, SendMessageBatchRequestEntry } from "@aws-sdk/client-sqs";
import { PlatformFault } from "../faults.ts";
import { checkLimit, recordValue } from "../high-water-marks.ts";
import { LIMITS, limitFault } from "../limits.ts";
import { openOnce } from "../open-once.ts";
import type { OutgoingMessage, Queues, ReceivedMessage } from "../queues.ts";
import type { QueueResource } from "../resources.ts";
import { toBatches, toChunks } from "./batches.ts";
import { codeOf, withFaults } from "./faults.ts";
import { type Pause, retryUntilDone } from "./retries.ts";
import type { Sqs } from "./services.ts";
import { withStackName } from "./table-layout.ts";

interface PreparedMessage {
  readonly entry: Omit<SendMessageBatchRequestEntry, "Id">;
  readonly bytes: number;
  readonly uniqueKey: string | undefined;
}

export interface PreparedSend {
  readonly queue: string;
  readonly messages: readonly PreparedMessage[];
}

export interface AwsQueues {
  readonly port: Queues;
  isFifo(queue: string): boolean;
  /** Throws `limit_exceeded` for a message that SQS would reject. */
  prepare(queue: string, messages: readonly OutgoingMessage[]): PreparedSend;
  send(prepared: PreparedSend): Promise<void>;
}

const BATCH = { count: LIMITS.messageBatch.value, bytes: LIMITS.messageBytes.value };
/** Milliseconds that a response may take in addition to the wait for a message. */
const RECEIVE_MARGIN_MS = 10_000;

/** SQS's error codes for an expired delivery: its message was deleted or delivered again. */
const DELIVERY_OVER = /ReceiptHandleIsInvalid|MessageNotInflight|InvalidParameterValue|InvalidIdFormat/;

function checkRange(
  value: number,
  limit: "messageWaitSeconds" | "visibilitySeconds" | "messageDelaySeconds",
): void {
  if (!(value >= 0)) throw new RangeError(`${limit} must not be ${value}`);
  checkLimit(limit, "the request", value);
}

function prepareOne({ name, fifo }: QueueResource, message: OutgoingMessage): PreparedMessage {
  const { body, groupId, deduplicationId, delaySeconds = 0 } = message;
  const bytes = Buffer.byteLength(body);
  if (bytes === 0) throw limitFault("messageBytes", `an empty message to ${name}`);
  checkLimit("messageBytes", `a message to ${name}`, bytes);
  if (fifo && !groupId) throw new TypeError(`messages to ${name} require a group`);
  checkRange(delaySeconds, "messageDelaySeconds");
  if (fifo && delaySeconds > 0) throw new TypeError(`messages to ${name}, a FIFO queue, cannot be delayed`);
  const entry = {
    MessageBody: body,
    // Generated here by default, so that a repeated request does not send the message twice.
    ...(fifo ? { MessageGroupId: groupId, MessageDeduplicationId: deduplicationId ?? randomUUID() } : {}),
    ...(delaySeconds > 0 ? { DelaySeconds: Math.ceil(delaySeconds) } : {}),
  };
  // SQS may accept the second entry of a batch and reject the first, which would reorder a group.
  return { entry, bytes, uniqueKey: fifo ? groupId : undefined };
}

function toReceived(message: Message): ReceivedMessage {
  const { MessageId, ReceiptHandle, Body, Attributes = {} } = message;
  if (MessageId === undefined || ReceiptHandle === undefined)
    throw new Error("SQS delivered a message without an id");
  return {
    id: MessageId,
    receipt: ReceiptHandle,
    body: Body ?? "",
    ...(Attributes.MessageGroupId === undefined ? {} : { groupId: Attributes.MessageGroupId }),
    receiveCount: Number(Attributes.ApproximateReceiveCount ?? 1),
    sentAt: Number(Attributes.SentTimestamp ?? 0),
  };
}

/** The fault for an entry that SQS rejected. Throws if a retry cannot succeed. */
function entryFault({ Code, Message = "", SenderFault }: BatchResultErrorEntry): PlatformFault {
  const known = codeOf(Code, Message) ?? (SenderFault === true ? undefined : "unavailable");
  const text = `SQS rejected a message: ${Code} ${Message}`;
  if (known === undefined) throw new Error(text);
  const fault = new PlatformFault(known, text);
  if (known === "limit_exceeded") throw fault;
  return fault;
}

/** The queues port over SQS. Queue URLs are cached. */
export function awsQueues(options: {
  readonly sqs: Sqs;
  readonly stack: string;
  readonly resources: readonly QueueResource[];
  readonly pause: Pause;
  /** Longest wait for a message in one request, in seconds; by default as long as the caller waits. */
  readonly longestWaitSeconds?: number;
}): AwsQueues {
  const { sqs, pause, longestWaitSeconds = Number.POSITIVE_INFINITY } = options;
  const { resource, url } = queueUrls(sqs, options.stack, options.resources);

  const prepare = (queue: string, messages: readonly OutgoingMessage[]): PreparedSend => {
    const found = resource(queue);
    recordValue("messageBatch", messages.length);
    return { queue, messages: messages.map((message) => prepareOne(found, message)) };
  };

  /** Sends a batch in one request, then its rejected entries, until none is left. */
  const inBatch = async <Entry>(
    entries: readonly Entry[],
    request: (
      entries: (Entry & { Id: string })[],
    ) => Promise<{ Failed?: BatchResultErrorEntry[] | undefined }>,
    isOver: (failed: BatchResultErrorEntry) => boolean,
  ): Promise<void> => {
    let left = entries.map((entry, at) => ({ ...entry, Id: String(at) }));
    await retryUntilDone(pause, async () => {
      const sent = left;
      const { Failed = [] } = await withFaults(() => request(sent));
      const refused = Failed.filter((failed) => !isOver(failed));
      const ids = new Set(refused.map(({ Id }) => Id));
      left = sent.filter(({ Id }) => ids.has(Id));
      const [fault] = refused.map(entryFault);
      return fault === undefined ? "done" : { again: fault, progress: left.length < sent.length };
    });
  };

  const send = async ({ queue, messages }: PreparedSend): Promise<void> => {
    if (messages.length === 0) return;
    const QueueUrl = await url(queue);
    const { client, SendMessageBatchCommand } = await sqs();
    for (const batch of toBatches(messages, BATCH)) {
      await inBatch(
        batch.map(({ entry }) => entry),
        (Entries) => client.send(new SendMessageBatchCommand({ QueueUrl, Entries })),
        () => false,
      );
    }
  };

  const receiveOnce = async (
    queue: string,
    fifo: boolean,
    max: number,
    VisibilityTimeout: number,
    WaitTimeSeconds: number,
    signal: AbortSignal | undefined,
  ): Promise<ReceivedMessage[]> => {
    const { client, ReceiveMessageCommand } = await sqs();
    const command = new ReceiveMessageCommand({
      QueueUrl: await url(queue),
      MaxNumberOfMessages: max,
      VisibilityTimeout,
      WaitTimeSeconds,
      MessageSystemAttributeNames: ["ApproximateReceiveCount", "SentTimestamp", "MessageGroupId"],
      // A repeated request receives the messages of the lost response.
      ...(fifo ? { ReceiveRequestAttemptId: randomUUID() } : {}),
    });
    const requestTimeout = WaitTimeSeconds * 1000 + RECEIVE_MARGIN_MS;
    try {
      const abort = signal === undefined ? {} : { abortSignal: signal };
      const { Messages = [] } = await withFaults(() => client.send(command, { requestTimeout, ...abort }));
      return Messages.map(toReceived);
    } catch (error) {
      if (signal?.aborted) return [];
      throw error;
    }
  };

  const port: Queues = {
    send: async (queue, messages) => send(prepare(queue, messages)),
    receive: async (queue, { max, visibilitySeconds, waitSeconds, signal }) => {
      const { fifo } = resource(queue);
      if (!Number.isInteger(max) || max < 1)
        throw new RangeError("the maximum number of messages must be at least 1");
      if (max > LIMITS.messageBatch.value) throw limitFault("messageBatch", "the request", max);
      checkRange(visibilitySeconds, "visibilitySeconds");
      checkRange(waitSeconds, "messageWaitSeconds");
      for (let left = Math.ceil(waitSeconds); !signal?.aborted; left -= longestWaitSeconds) {
        const wait = Math.min(left, longestWaitSeconds);
        const messages = await receiveOnce(queue, fifo, max, Math.ceil(visibilitySeconds), wait, signal);
        if (messages.length > 0 || left <= longestWaitSeconds) return messages;
      }
      return [];
    },
    delete: async (queue, receipts) => {
      if (receipts.length === 0) return;
      const QueueUrl = await url(queue);
      const { client, DeleteMessageBatchCommand } = await sqs();
      for (const chunk of toChunks(receipts, LIMITS.messageBatch.value)) {
        await inBatch(
          chunk.map((ReceiptHandle) => ({ ReceiptHandle })),
          (Entries) => client.send(new DeleteMessageBatchCommand({ QueueUrl, Entries })),
          ({ Code = "" }) => DELIVERY_OVER.test(Code),
        );
      }
    },
    changeVisibility: async (queue, receipt, seconds) => {
      checkRange(seconds, "visibilitySeconds");
      const { client, ChangeMessageVisibilityCommand } = await sqs();
      const command = new ChangeMessageVisibilityCommand({
        QueueUrl: await url(queue),
        ReceiptHandle: receipt,
        VisibilityTimeout: Math.ceil(seconds),
      });
      try {
        await withFaults(() => client.send(command));
      } catch (error) {
        if (!(error instanceof Error) || !DELIVERY_OVER.test(error.name)) throw error;
      }
    },
    depth: async (queue) => {
      const { client, GetQueueAttributesCommand } = await sqs();
      const command = new GetQueueAttributesCommand({
        QueueUrl: await url(queue),
        AttributeNames: [
          "ApproximateNumberOfMessages",
          "ApproximateNumberOfMessagesNotVisible",
          "ApproximateNumberOfMessagesDelayed",
        ],
      });
      const { Attributes = {} } = await withFaults(() => client.send(command));
      return {
        visible: Number(Attributes.ApproximateNumberOfMessages ?? 0),
        inFlight: Number(Attributes.ApproximateNumberOfMessagesNotVisible ?? 0),
        delayed: Number(Attributes.ApproximateNumberOfMessagesDelayed ?? 0),
      };
    },
  };
  return { port, isFifo: (queue) => resource(queue).fifo, prepare, send };
}

/** The queue's name in the account, with the suffix that SQS requires for FIFO queues. */
function queueNameOf(stack: string, { name, fifo }: Pick<QueueResource, "name" | "fifo">): string {
  return withStackName(stack, fifo ? `${name}.fifo` : name);
}

interface QueueUrls {
  /** Throws TypeError for a queue that the template does not declare. */
  resource(queue: string): QueueResource;
  /** Cached; a failed request is repeated by the next call. */
  url(queue: string): Promise<string>;
}

function queueUrls(sqs: Sqs, stack: string, resources: readonly QueueResource[]): QueueUrls {
  const known = new Map(resources.map((resource) => [resource.name, resource]));
  const urls = new Map<string, () => Promise<string>>();
  const resource = (queue: string): QueueResource => {
    const found = known.get(queue);
    if (found === undefined) throw new TypeError(`unknown queue "${queue}"`);
    return found;
  };
  const readUrl = async (queue: string): Promise<string> => {
    const QueueName = queueNameOf(stack, resource(queue));
    const { client, GetQueueUrlCommand } = await sqs();
    const { QueueUrl } = await withFaults(() => client.send(new GetQueueUrlCommand({ QueueName })));
    if (QueueUrl === undefined) throw new Error(`SQS returned no URL of the queue ${QueueName}`);
    return QueueUrl;
  };
  return {
    resource,
    url: (queue) => {
      const url = urls.get(queue) ?? openOnce(() => readUrl(queue));
      urls.set(queue, url);
      return url();
    },
  };
}
