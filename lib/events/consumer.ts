import { setTimeout as sleep } from "node:timers/promises";
import type { BusEnvelope, EventPattern } from "../platform/bus.ts";
import type { Log } from "../platform/log.ts";
import type { Queues } from "../platform/queues.ts";
import type { StorageHealth } from "../platform/storage-health.ts";
import { type Delivery, hideDeliveries } from "./message-visibility.ts";

/** One message to a consumer, with its JSON parsed. */
export interface Message<Body> {
  /** Message id of the queue, or event id of the envelope if the function was invoked without a queue. */
  readonly id: string;
  /** Name of the queue; empty if the function was invoked without a queue. */
  readonly queue: string;
  readonly body: Body;
  /** 1 at the first delivery. */
  readonly receiveCount: number;
  /**
   * Earlier deliveries that ended, or may have ended, because the server stopped; not part of `receiveCount`. Default:
   * none.
   */
  readonly interrupted?: number;
  readonly sentAt: number;
}

export interface ConsumerContext {
  /** Aborted at the function's timeout or when the platform stops. */
  readonly signal: AbortSignal;
}

/** Failed messages with the reason: they are delivered again, all others are deleted. */
export type Failures = ReadonlyMap<string, unknown>;

export interface Consumer<Body = unknown, Deps = never> {
  /** Kebab-case; names the function, its queue and its dead-letter queue. */
  readonly name: string;
  readonly summary: string;
  /** Bus events to receive. */
  readonly rule?: EventPattern;
  /** Schedule expression, for example `rate(1 minute)`. */
  readonly schedule?: string;
  /** The queue that triggers the function. */
  readonly queue: {
    readonly fifo?: boolean;
    readonly maxReceiveCount: number;
    readonly batchSize: number;
    /** Concurrent invocations on one machine. */
    readonly concurrency: number;
    /** What differs in Lambda, which shares no processor with the others. */
    readonly lambda?: {
      /** Above 10 with a window only. */
      readonly batchSize?: number;
      readonly concurrency?: number;
      /** Time for which messages are collected, seconds. */
      readonly windowSeconds?: number;
    };
    /**
     * On one machine: milliseconds to wait after a batch that was not full, so that the next one contains more
     * messages.
     */
    readonly restMs?: number;
    /**
     * On one machine: the consumer may receive messages before they are on disk, because it only writes to tables and
     * queues, so that its results reach the disk later than the messages, or waits for the disk before other effects.
     */
    readonly eager?: true;
    /**
     * On one machine: events of these detail types add no message if an undelivered one is waiting. The consumer must
     * search for pending work instead of relying on its messages.
     */
    readonly coalesces?: readonly string[];
  };
  /** Also consumes the dead-letter queues of all other consumers; bodies are passed as text. */
  readonly deadLetters?: true;
  readonly timeoutSeconds: number;
  readonly memoryMb?: number;
  /** Size of Lambda's folder for temporary files. Default: 512. */
  readonly storageMb?: number;
  /**
   * Runs where the run's workspace is, for as long as the step takes: in the embedded runner or a worker, whose poller
   * renews the message's visibility. `timeoutSeconds` then applies only to Lambda.
   */
  readonly worker?: true;
  /** Executes users' code, with a role of minimal permissions. */
  readonly executor?: true;
  /** Records events, and evaluates the filters of the triggers that match them. */
  readonly scripts?: true;
  /** Reads secrets of the installation: its Lambda bundle contains the parameter store's client. */
  readonly secrets?: true;
  /** Stores the reason of a final failure if the function has no tables to store it in. */
  readonly noteFailure?: (deps: Deps, failure: LastFailure) => Promise<void>;
  run(
    messages: readonly Message<Body>[],
    deps: Deps,
    context: ConsumerContext,
  ): Promise<Failures | undefined>;
}

/** Defines a consumer. The Lambda handler and the entries in `template.yaml` are derived from this object. */
export function defineConsumer<Body, Deps>(consumer: Consumer<Body, Deps>): Consumer<Body, Deps> {
  return consumer;
}

/** The used part of a Lambda event of an SQS event source mapping. */
export interface QueueEvent {
  readonly Records: readonly {
    readonly messageId: string;
    readonly receiptHandle: string;
    readonly body: string;
    readonly attributes: {
      readonly ApproximateReceiveCount: string;
      readonly SentTimestamp: string;
      /** Only on one machine. */
      readonly WeftInterrupted?: string;
    };
    readonly eventSourceARN: string;
  }[];
}

export interface QueueResult {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[];
}

/** A message that failed at its last delivery. */
export interface LastFailure {
  readonly queue: string;
  readonly messageId: string;
  readonly body: string;
  readonly error: unknown;
}

export interface ConsumerDeps {
  readonly log: Log;
  /** Present if this process has a data folder. */
  readonly storage?: StorageHealth;
  /** Used in Lambda, where no Weft poller changes the visibility of messages. */
  readonly queues: Pick<Queues, "changeVisibility">;
  /** Prefix of queue names on AWS: the stack's name. */
  readonly queueNamePrefix?: string;
  /** Called before the failure of the last delivery is reported, so that the reason is stored with the dead letter. */
  noteLastFailure(failure: LastFailure): Promise<void>;
}

export interface ConsumerInvocation {
  readonly weft?: unknown;
  readonly signal?: AbortSignal;
  readonly getRemainingTimeInMillis?: () => number;
}

export type ConsumerHandler = (
  event: QueueEvent | BusEnvelope,
  context?: ConsumerInvocation,
) => Promise<QueueResult | undefined>;

/** Milliseconds before the function's timeout at which it returns, so that failures are reported. */
const TIME_UP_MARGIN_MS = 500;

/**
 * The Lambda handler of a consumer. Accepts a queue's batch, and reports its failed messages, as well as a direct
 * EventBridge or Scheduled Event, whose failure it throws.
 */
export function toConsumerHandler<Body, Deps>(
  consumer: Consumer<Body, Deps>,
  open: () => Promise<Deps & ConsumerDeps>,
): ConsumerHandler {
  return async (event, context) => {
    const deps = context?.weft === undefined ? await open() : (context.weft as Deps & ConsumerDeps);
    const signal = context?.signal ?? signalFor(context);
    if (!("Records" in event)) {
      const message = {
        id: event.id,
        queue: "",
        body: event as Body,
        receiveCount: 1,
        sentAt: Date.parse(event.time),
      };
      const failures = await consumer.run([message], deps, { signal });
      for (const failure of failures?.values() ?? []) throw failure;
      return undefined;
    }
    // Weft's poller changes the visibility itself.
    if (context?.weft !== undefined) return handleBatch(consumer, event, deps, signal);
    const hidden = hideDeliveries(deps, deliveriesOf(consumer, event, deps));
    let result: QueueResult | undefined;
    try {
      result = await handleBatch(consumer, event, deps, signal);
      return result;
    } finally {
      const failed = result && new Set(result.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
      // Without a result, all messages of the batch are delivered again.
      await hidden.end((messageId) => failed?.has(messageId) ?? true);
    }
  };
}

async function handleBatch<Body, Deps>(
  consumer: Consumer<Body, Deps>,
  event: QueueEvent,
  deps: Deps & ConsumerDeps,
  signal: AbortSignal,
): Promise<QueueResult> {
  const failed = await runBatch(consumer, event, deps, signal);
  for (const record of event.Records) {
    const error = failed.get(record.messageId);
    if (error === undefined) continue;
    deps.storage?.suspect(error);
    const deliveries = Number(record.attributes.ApproximateReceiveCount);
    deps.log.error("message failed", {
      consumer: consumer.name,
      message: record.messageId,
      deliveries,
      error,
    });
    if (deliveries >= consumer.queue.maxReceiveCount) {
      const failure = {
        queue: queueOf(record, deps),
        messageId: record.messageId,
        body: record.body,
        error,
      };
      await (consumer.noteFailure?.(deps, failure) ?? deps.noteLastFailure(failure));
    }
  }
  return { batchItemFailures: [...failed.keys()].map((itemIdentifier) => ({ itemIdentifier })) };
}

function deliveriesOf(
  { queue }: { readonly queue: Pick<Consumer["queue"], "maxReceiveCount"> },
  { Records }: QueueEvent,
  deps: Pick<ConsumerDeps, "queueNamePrefix">,
): Delivery[] {
  return Records.map((record) => ({
    messageId: record.messageId,
    queue: queueOf(record, deps),
    receipt: record.receiptHandle,
    receiveCount: Number(record.attributes.ApproximateReceiveCount),
    maxReceiveCount: queue.maxReceiveCount,
  }));
}

function interruptedOf({ WeftInterrupted }: QueueEvent["Records"][number]["attributes"]) {
  return WeftInterrupted === undefined ? {} : { interrupted: Number(WeftInterrupted) };
}

async function runBatch<Body, Deps>(
  consumer: Consumer<Body, Deps>,
  event: QueueEvent,
  deps: Deps & ConsumerDeps,
  signal: AbortSignal,
): Promise<Map<string, unknown>> {
  const failed = new Map<string, unknown>();
  const messages: Message<Body>[] = [];
  for (const record of event.Records) {
    try {
      messages.push({
        id: record.messageId,
        queue: queueOf(record, deps),
        body: (consumer.deadLetters === true ? record.body : JSON.parse(record.body)) as Body,
        receiveCount: Number(record.attributes.ApproximateReceiveCount),
        ...interruptedOf(record.attributes),
        sentAt: Number(record.attributes.SentTimestamp),
      });
    } catch (error) {
      failed.set(record.messageId, error);
    }
  }
  if (messages.length === 0) return failed;
  try {
    const failures = await consumer.run(messages, deps, { signal });
    for (const [id, error] of failures ?? []) failed.set(id, error ?? new Error("failed"));
  } catch (error) {
    for (const message of messages) failed.set(message.id, error);
  }
  return failed;
}

/** The queue's name in the template: without the stack's prefix and the `.fifo` suffix. */
function queueOf(
  record: QueueEvent["Records"][number],
  { queueNamePrefix = "" }: Pick<ConsumerDeps, "queueNamePrefix">,
): string {
  const name = (record.eventSourceARN.split(":").at(-1) ?? "").replace(/\.fifo$/, "");
  return name.startsWith(queueNamePrefix) ? name.slice(queueNamePrefix.length) : name;
}

function signalFor(context: ConsumerInvocation | undefined): AbortSignal {
  const left = context?.getRemainingTimeInMillis?.();
  return left === undefined
    ? new AbortController().signal
    : AbortSignal.timeout(Math.max(0, left - TIME_UP_MARGIN_MS));
}

/** Handles all messages concurrently. */
export async function eachMessage<Body>(
  messages: readonly Message<Body>[],
  handle: (message: Message<Body>) => Promise<void>,
): Promise<Failures> {
  const failures = new Map<string, unknown>();
  const tryHandle = toTry(handle, failures);
  await Promise.all(messages.map(tryHandle));
  return failures;
}

/**
 * Time between two messages that are handled in turn, milliseconds. A request passes through several turns of the event
 * loop; if each of them had to wait for a message, the request would take as long as all of them.
 */
const PAUSE_MS = 1;

/** Handles one message after another, and lets the event loop serve requests in between: for work that takes CPU time. */
export async function eachMessageInTurn<Body>(
  messages: readonly Message<Body>[],
  handle: (message: Message<Body>) => Promise<void>,
): Promise<Failures> {
  const failures = new Map<string, unknown>();
  const tryHandle = toTry(handle, failures);
  for (const message of messages) {
    await tryHandle(message);
    await sleep(PAUSE_MS);
  }
  return failures;
}

function toTry<Body>(handle: (message: Message<Body>) => Promise<void>, failures: Map<string, unknown>) {
  return async (message: Message<Body>): Promise<void> => {
    try {
      await handle(message);
    } catch (error) {
      failures.set(message.id, error ?? new Error("failed"));
    }
  };
}
