import { randomBytes, randomUUID } from "node:crypto";
import type { Clock } from "../clock.ts";
import { checkLimit, exceedsLimit, recordValue } from "../high-water-marks.ts";
import { LIMITS, limitFault } from "../limits.ts";
import type { Log } from "../log.ts";
import type { OutgoingMessage, Queues } from "../queues.ts";
import type { QueueResource } from "../resources.ts";
import { type DelayedMessages, openDelayed } from "./delayed.ts";
import { Queue } from "./queue.ts";
import type { NewMessage } from "./queue-rows.ts";
import { toStorageFault } from "./storage-faults.ts";
import type { Store } from "./store.ts";
import type { Tx } from "./transaction.ts";

const WINDOW_MS = LIMITS.deduplicationSeconds.value * 1000;
const FORGET_BATCH = 1000;

/** The deduplication ids that FIFO queues accepted in the last five minutes. */
interface Deduplication {
  /** True if the queue accepted a message with this id within the window; otherwise records the id. */
  seen(tx: Tx, queue: string, id: string, now: number): boolean;
  /** Deletes ids older than the window. */
  forget(tx: Tx, now: number): void;
}

function openDeduplication(store: Store): Deduplication {
  store.define(
    "CREATE TABLE IF NOT EXISTS deduplication (n INTEGER PRIMARY KEY, queue TEXT NOT NULL, id TEXT NOT NULL, at INTEGER NOT NULL, UNIQUE (queue, id))",
  );
  return {
    seen: (tx, queue, id, now) => {
      const at = tx.get("SELECT at FROM deduplication WHERE queue = ? AND id = ?", queue, id)?.at;
      // A time in the future was written before the clock was set back.
      if (at !== undefined && Math.abs(now - Number(at)) < WINDOW_MS) return true;
      tx.run("INSERT OR REPLACE INTO deduplication (queue, id, at) VALUES (?, ?, ?)", queue, id, now);
      return false;
    },
    forget: (tx, now) => {
      const sql = `DELETE FROM deduplication WHERE n IN (SELECT n FROM deduplication ORDER BY n LIMIT ${FORGET_BATCH}) AND at < ?`;
      while (tx.run(sql, now - WINDOW_MS) === FORGET_BATCH);
    },
  };
}

interface PreparedMessage extends NewMessage {
  readonly delaySeconds: number;
}

/** A message that is only made if no undelivered one is waiting. */
interface CoalescingMessage {
  readonly make: () => PreparedMessage;
}

/** Validated messages; sending them cannot be rejected, except coalescing ones. */
export interface PreparedSend {
  readonly queue: Queue;
  readonly messages: readonly (PreparedMessage | CoalescingMessage)[];
}

export interface EmbeddedQueues {
  readonly port: Queues;
  readonly delayed: DelayedMessages;
  has(queue: string): boolean;
  isFifo(queue: string): boolean;
  /** Whether events of this type add no message while an undelivered one is waiting. */
  coalesces(queue: string, detailType: string): boolean;
  /** Throws `limit_exceeded` for a message that SQS would reject. */
  prepare(
    queue: string,
    messages: readonly OutgoingMessage[],
  ): PreparedSend & { readonly messages: readonly PreparedMessage[] };
  /** The message of a rule to its target, which is made now, or in the commit if its type coalesces. */
  prepareEvent(queue: string, detailType: string, message: () => OutgoingMessage): PreparedSend;
  send(tx: Tx, prepared: PreparedSend): void;
  close(): void;
}

/** Key prefix of delayed messages, to distinguish them from timers. */
const DELAY_KEY = "delay:";
const EXPIRE_EVERY_MS = 60_000;

function checkRange(
  value: number,
  limit: "messageWaitSeconds" | "visibilitySeconds" | "messageDelaySeconds",
): void {
  if (!(value >= 0)) throw new RangeError(`${limit} must not be ${value}`);
  checkLimit(limit, "the request", value);
}

/** The queues port over SQLite and memory: a committed message wakes a waiting receiver. */
export function embeddedQueues(options: {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly resources: readonly QueueResource[];
}): EmbeddedQueues {
  const { store, clock, log, resources } = options;
  const boot = randomBytes(6).toString("base64url");
  const deduplication = openDeduplication(store);
  const queues = new Map<string, Queue>();
  const find = (name: string): Queue => {
    const queue = queues.get(name);
    if (queue === undefined) throw new TypeError(`unknown queue "${name}"`);
    return queue;
  };

  let visibility: NodeJS.Timeout | undefined;
  let armedFor = Number.POSITIVE_INFINITY;
  const hidden = (deadline: number): void => {
    if (deadline >= armedFor) return;
    armedFor = deadline;
    clearTimeout(visibility);
    visibility = setTimeout(giveBackDue, Math.max(1, Math.ceil(deadline - performance.now())));
    visibility.unref();
  };
  const giveBackDue = (): void => {
    armedFor = Number.POSITIVE_INFINITY;
    const now = performance.now();
    for (const queue of queues.values()) hidden(queue.giveBackDue(now));
  };

  for (const resource of resources) {
    const context = { store, log, now: () => clock.now(), find, hidden };
    queues.set(resource.name, new Queue(resource, boot, context));
  }
  for (const { deadLetter } of resources) if (deadLetter !== undefined) find(deadLetter.queue);

  const add = (tx: Tx, queue: Queue, message: NewMessage): void => {
    const { name, fifo } = queue.resource;
    const { deduplicationId } = message;
    if (fifo && deduplicationId !== undefined && deduplication.seen(tx, name, deduplicationId, clock.now()))
      return;
    queue.add(tx, message);
  };
  const delayed = openDelayed({
    store,
    clock,
    log,
    queues: [...queues.keys()],
    deliver: (tx, queue, message) => add(tx, find(queue), message),
  });

  const expire = (): void => {
    store
      .write((tx) => {
        deduplication.forget(tx, clock.now());
        for (const queue of queues.values()) queue.expire(tx);
      })
      .catch((error: unknown) => log.warn("deleting expired messages failed", { error }));
  };
  const expiry = setInterval(expire, EXPIRE_EVERY_MS);
  expiry.unref();

  const prepareOne = (queue: Queue, message: OutgoingMessage): PreparedMessage => {
    const { body, groupId, deduplicationId, delaySeconds = 0 } = message;
    const { name, fifo } = queue.resource;
    if (body === "") throw limitFault("messageBytes", `an empty message to ${name}`);
    if (exceedsLimit("messageBytes", body)) {
      throw limitFault("messageBytes", `a message to ${name}`, Buffer.byteLength(body));
    }
    if (fifo && !groupId) throw new TypeError(`messages to ${name} require a group`);
    checkRange(delaySeconds, "messageDelaySeconds");
    if (fifo && delaySeconds > 0) throw new TypeError(`messages to ${name}, a FIFO queue, cannot be delayed`);
    return { id: randomUUID(), body, groupId, deduplicationId, delaySeconds, sentAt: clock.now() };
  };
  const prepare: EmbeddedQueues["prepare"] = (name, messages) => {
    const queue = find(name);
    recordValue("messageBatch", messages.length);
    return { queue, messages: messages.map((message) => prepareOne(queue, message)) };
  };
  const coalesces = (name: string, detailType: string): boolean =>
    find(name).resource.coalesces?.includes(detailType) === true;
  const prepareEvent: EmbeddedQueues["prepareEvent"] = (name, detailType, message) => {
    const queue = find(name);
    const make = (): PreparedMessage => prepareOne(queue, message());
    return { queue, messages: [coalesces(name, detailType) ? { make } : make()] };
  };
  const send = (tx: Tx, { queue, messages }: PreparedSend): void => {
    for (const message of messages) {
      if ("make" in message) {
        // The consumer of a later delivery finds everything that was committed before it.
        if (!queue.hasUndelivered(tx)) add(tx, queue, message.make());
      } else if (message.delaySeconds === 0) add(tx, queue, message);
      else {
        const due = message.sentAt + message.delaySeconds * 1000;
        delayed.put(tx, `${DELAY_KEY}${message.id}`, due, queue.resource.name, message);
      }
    }
  };

  const port: Queues = {
    send: async (name, messages) => {
      const prepared = prepare(name, messages);
      if (messages.length > 0) await store.write((tx) => send(tx, prepared));
    },
    receive: async (name, { max, visibilitySeconds, waitSeconds, signal }) => {
      const queue = find(name);
      if (!Number.isInteger(max) || max < 1)
        throw new RangeError("the maximum number of messages must be at least 1");
      if (max > LIMITS.messageBatch.value) throw limitFault("messageBatch", "the request", max);
      checkRange(visibilitySeconds, "visibilitySeconds");
      checkRange(waitSeconds, "messageWaitSeconds");
      if (signal?.aborted) return [];
      try {
        const ready = queue.take({ max, visibilitySeconds });
        if (ready.length > 0 || waitSeconds === 0) {
          await queue.counted();
          return ready;
        }
      } catch (error) {
        throw toStorageFault(error);
      }
      // No await between the check and the wait: a message in between would wake nobody.
      const { messages, giveUp } = queue.wait({ max, visibilitySeconds });
      const timer = setTimeout(giveUp, waitSeconds * 1000);
      signal?.addEventListener("abort", giveUp, { once: true });
      try {
        const served = await messages;
        await queue.counted();
        return served;
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener("abort", giveUp);
      }
    },
    delete: async (name, receipts) => find(name).delete(receipts),
    changeVisibility: async (name, receipt, seconds) => {
      checkRange(seconds, "visibilitySeconds");
      find(name).changeVisibility(receipt, seconds);
    },
    depth: async (name) => ({ ...find(name).depth, delayed: delayed.count(name, DELAY_KEY) }),
  };
  return {
    port,
    delayed,
    has: (queue) => queues.has(queue),
    isFifo: (queue) => find(queue).resource.fifo,
    coalesces,
    prepare,
    prepareEvent,
    send,
    close: () => {
      delayed.close();
      clearTimeout(visibility);
      clearInterval(expiry);
      for (const queue of queues.values()) queue.close();
    },
  };
}
