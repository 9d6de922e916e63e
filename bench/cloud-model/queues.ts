import { randomUUID } from "node:crypto";
import type { QueueResource } from "../../lib/platform/resources.ts";
import { CAPACITY, LATENCY } from "./assumptions.ts";
import { throttled, withRetries } from "./service-errors.ts";
import type { Units } from "./units.ts";
import type { VirtualTime } from "./virtual-time.ts";

export interface ModelMessage {
  readonly id: string;
  readonly body: string;
  /** Empty in a standard queue. */
  readonly group: string;
  readonly sentAt: number;
  receiveCount: number;
}

/** Seconds until a failed message is delivered again, as functions choose it. */
const BACKOFF_BASE_MS = 1_000;
const BACKOFF_FACTOR = 3;

/** One queue of SQS. FIFO queues deliver the messages of a group one batch at a time. */
export class ModelQueue {
  readonly resource: QueueResource;
  readonly #time: VirtualTime;
  readonly #units: Units;
  /** Messages by group, of groups that can be delivered and of others. */
  readonly #waiting = new Map<string, ModelMessage[]>();
  readonly #busy = new Set<string>();
  readonly #sentIds = new Set<string>();
  #listener: () => void = () => undefined;
  requests = 0;
  depth = 0;
  deadLetters = 0;

  constructor(resource: QueueResource, time: VirtualTime, units: Units) {
    this.resource = resource;
    this.#time = time;
    this.#units = units;
  }

  /** Calls a listener whenever messages may have become available. */
  onMessages(listener: () => void): void {
    this.#listener = listener;
  }

  /** Takes one request of an action from the limit of a FIFO queue; false if the limit is reached. */
  #pass(action: "sends" | "receives", group: string): boolean {
    this.requests += 1;
    const { fifo, highThroughput, name } = this.resource;
    if (!fifo) return true;
    const place = `${name}.fifo${highThroughput === true ? `[${group}]` : ""} ${action}`;
    if (!this.#units.has(place, CAPACITY.fifoRequests)) {
      this.#units.refuse(place, CAPACITY.fifoRequests);
      return false;
    }
    this.#units.take(place, CAPACITY.fifoRequests, 1);
    return true;
  }

  /** One request with messages. Throws if the limit of requests is reached. */
  send(
    messages: readonly { readonly body: string; readonly group?: string; readonly once?: string }[],
  ): void {
    if (!this.#pass("sends", messages[0]?.group ?? ""))
      throw throttled("RequestThrottled", this.resource.name);
    for (const { body, group = "", once } of messages) {
      if (once !== undefined && this.#sentIds.has(once)) continue;
      if (once !== undefined) this.#sentIds.add(once);
      this.#put({ id: randomUUID(), body, group, sentAt: this.#time.now, receiveCount: 0 });
    }
    this.#listener();
  }

  #put(message: ModelMessage): void {
    const waiting = this.#waiting.get(message.group);
    if (waiting === undefined) this.#waiting.set(message.group, [message]);
    else waiting.push(message);
    this.depth += 1;
  }

  get hasMessages(): boolean {
    for (const group of this.#waiting.keys()) if (!this.#busy.has(group)) return true;
    return false;
  }

  /** Receives a batch; its groups wait until `settle`. */
  receive(max: number): ModelMessage[] {
    const batch: ModelMessage[] = [];
    const { fifo } = this.resource;
    for (const [group, messages] of this.#waiting) {
      if (this.#busy.has(group)) continue;
      if (batch.length === 0 && !this.#pass("receives", group)) return [];
      const taken = messages.splice(0, max - batch.length);
      if (messages.length === 0) this.#waiting.delete(group);
      if (fifo) this.#busy.add(group);
      batch.push(...taken);
      if (batch.length === max) break;
    }
    for (const message of batch) message.receiveCount += 1;
    return batch;
  }

  /** Deletes the messages of a batch, except those that failed: they are delivered again. */
  async settle(batch: readonly ModelMessage[], failed: ReadonlySet<string>): Promise<void> {
    await this.#time.sleep(LATENCY.queue);
    this.requests += 1;
    this.depth -= batch.length;
    const again = batch.filter(({ id }) => failed.has(id));
    const most = this.resource.deadLetter?.maxReceiveCount ?? Number.POSITIVE_INFINITY;
    for (const message of again) {
      if (message.receiveCount >= most) {
        this.deadLetters += 1;
        continue;
      }
      this.depth += 1;
      this.#time.after(BACKOFF_BASE_MS * BACKOFF_FACTOR ** (message.receiveCount - 1), () => {
        this.depth -= 1;
        this.#put(message);
        this.#listener();
      });
    }
    for (const { group } of batch) this.#busy.delete(group);
    this.#listener();
  }
}

/** The commands of SQS that the adapter sends. */
export class ModelSqs {
  readonly #queues: ReadonlyMap<string, ModelQueue>;
  readonly #time: VirtualTime;
  readonly #stack: string;

  constructor(queues: readonly ModelQueue[], stack: string, time: VirtualTime) {
    this.#queues = new Map(queues.map((queue) => [queue.resource.name, queue]));
    this.#stack = stack;
    this.#time = time;
  }

  queue(name: string): ModelQueue {
    const queue = this.#queues.get(name.replace(/\.fifo$/, "").slice(this.#stack.length + 1));
    if (queue === undefined) throw new Error(`the model has no queue ${name}`);
    return queue;
  }

  readonly send = async (command: { readonly input: object }): Promise<unknown> => {
    const { name } = command.constructor;
    const {
      QueueName,
      QueueUrl,
      Entries = [],
    } = command.input as {
      readonly QueueName?: string;
      readonly QueueUrl?: string;
      readonly Entries?: readonly {
        readonly MessageBody: string;
        readonly MessageGroupId?: string;
        readonly MessageDeduplicationId?: string;
        readonly DelaySeconds?: number;
      }[];
    };
    if (name === "GetQueueUrlCommand") return { QueueUrl: QueueName };
    const queue = this.queue(QueueUrl ?? "");
    return withRetries(this.#time, async () => {
      await this.#time.sleep(LATENCY.queue);
      if (name !== "SendMessageBatchCommand") throw new Error(`the model does not know ${name}`);
      const now = Entries.filter(({ DelaySeconds = 0 }) => DelaySeconds === 0);
      const messages = now.map(({ MessageBody, MessageGroupId, MessageDeduplicationId }) => ({
        body: MessageBody,
        ...(MessageGroupId === undefined ? {} : { group: MessageGroupId }),
        ...(MessageDeduplicationId === undefined ? {} : { once: MessageDeduplicationId }),
      }));
      // Delayed messages are due after the measurement.
      if (messages.length > 0) queue.send(messages);
      else queue.requests += 1;
      return {};
    });
  };
}
