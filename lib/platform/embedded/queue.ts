import type { Log } from "../log.ts";
import type { ReceivedMessage } from "../queues.ts";
import type { QueueResource } from "../resources.ts";
import {
  type DeliveryQueue,
  type Entry,
  fifoDeliveryQueue,
  newEntry,
  standardDeliveryQueue,
} from "./delivery-queues.ts";
import { type DeliveryCounts, type NewMessage, openQueueRows, type QueueRows } from "./queue-rows.ts";
import type { Store } from "./store.ts";
import type { Tx } from "./transaction.ts";

export interface ReceiveRequest {
  readonly max: number;
  readonly visibilitySeconds: number;
}

interface Waiter extends ReceiveRequest {
  readonly resolve: (messages: ReceivedMessage[]) => void;
}

export interface QueueContext {
  readonly store: Store;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Finds the dead-letter queue by its name. */
  readonly find: (name: string) => Queue;
  /** Called when a message is hidden until this time (monotonic milliseconds). */
  readonly hidden: (deadline: number) => void;
}

/** Milliseconds that receive counts may stay in memory. A message that is deleted earlier needs no write. */
const COUNT_DELAY_MS = 20;
const MOVE_RETRY_MS = 1000;
/** `markedThrough` is set this many messages ahead, so that few deliveries wait for its write. */
const MARKED_AHEAD = 16;
/** Interrupted deliveries before a message is dead-lettered: it may be the cause of the crashes. */
export const INTERRUPTED_MAX = 1_000;

/**
 * One queue: rows on disk, order and deliveries in memory. Visibility is only in memory, because only this process
 * holds the messages: after a restart all are visible.
 */
export class Queue {
  readonly resource: QueueResource;
  readonly #context: QueueContext;
  readonly #rows: QueueRows;
  readonly #deliveries: DeliveryQueue;
  /** Distinguishes receipts of this process from those of earlier ones. */
  readonly #boot: string;
  #total: number;
  /** The highest number that this process delivered. */
  #lastDelivered = 0;
  /** On disk: messages up to this number may have been delivered. */
  #markedThrough: number;
  /** Messages that were delivered at least once and still exist, by number. */
  readonly #delivered = new Map<number, Entry>();
  readonly #inFlight = new Set<Entry>();
  readonly #uncounted = new Set<Entry>();
  #counting: NodeJS.Timeout | undefined;
  #waiters: Waiter[] = [];

  constructor(resource: QueueResource, boot: string, context: QueueContext) {
    this.resource = resource;
    this.#context = context;
    this.#boot = boot;
    this.#rows = openQueueRows(context.store, resource.name, !resource.fifo);
    // Never lowered: an earlier process may have delivered messages that this one has not reached when it ends.
    this.#markedThrough = this.#rows.markedThrough;
    this.#deliveries = resource.fifo ? fifoDeliveryQueue(this.#rows) : standardDeliveryQueue(this.#rows);
    this.#total = this.#rows.count();
  }

  get depth(): { visible: number; inFlight: number } {
    return { visible: Math.max(0, this.#total - this.#inFlight.size), inFlight: this.#inFlight.size };
  }

  /** Whether a message is waiting that this process has not delivered. */
  hasUndelivered(tx: Tx): boolean {
    return this.#rows.has(tx, this.#lastDelivered);
  }

  /** Within a commit; waiting receivers are served after it, or once it is on disk. */
  add(tx: Tx, message: NewMessage): void {
    const seq = this.#rows.add(tx, message);
    // A receiver waits, so the message is delivered soon: its delivery then waits for no further write.
    if (this.#waiters.length > 0 && !this.resource.fifo && seq > this.#markedThrough) {
      const through = seq + MARKED_AHEAD;
      this.#rows.setDelivered(tx, through);
      tx.afterCommit(() => this.#marked(through));
    }
    const arrived = (): void => this.#arrived(newEntry(seq, message.groupId, undefined, message));
    if (this.resource.eager === true) tx.afterCommit(arrived);
    else tx.onceDurable(arrived);
  }

  /** Available messages, without waiting. Throws if not even the first one can be read. */
  take({ max, visibilitySeconds }: ReceiveRequest): ReceivedMessage[] {
    const messages: ReceivedMessage[] = [];
    let entry: Entry | undefined;
    while (messages.length < max) {
      entry = this.#deliveries.next(entry);
      if (entry === undefined) break;
      try {
        const message = this.#deliver(entry, visibilitySeconds);
        if (message !== undefined) messages.push(message);
      } catch (error) {
        this.#deliveries.giveBack(entry);
        if (messages.length === 0) throw error;
        break;
      }
    }
    return messages;
  }

  /**
   * Resolves once the disk records which messages may have been delivered and, for those that existed at the start, how
   * often: one of them may have ended the last process, and would otherwise end every later process uncounted.
   */
  async counted(): Promise<void> {
    if (!this.resource.fifo && this.#lastDelivered > this.#markedThrough) await this.#mark();
    for (const { seq } of this.#uncounted) if (seq <= this.#rows.last) return this.#writeCounts();
  }

  /** Resolves with the first messages that arrive, or with an empty list after `giveUp`. */
  wait(wanted: ReceiveRequest): { readonly messages: Promise<ReceivedMessage[]>; giveUp(): void } {
    const { promise, resolve } = Promise.withResolvers<ReceivedMessage[]>();
    const waiter: Waiter = { ...wanted, resolve };
    this.#waiters.push(waiter);
    const giveUp = (): void => {
      this.#waiters = this.#waiters.filter((other) => other !== waiter);
      resolve([]);
    };
    return { messages: promise, giveUp };
  }

  async delete(receipts: readonly string[]): Promise<void> {
    const entries = receipts.map((receipt) => this.#find(receipt)).filter((entry) => entry !== undefined);
    if (entries.length === 0) return;
    const { store } = this.#context;
    // Later messages of the group wait for it.
    const followed = this.resource.fifo && this.#total > this.#inFlight.size;
    const remove = (tx: Tx): void => {
      const removed = entries.reduce((sum, { seq }) => sum + this.#rows.remove(tx, seq), 0);
      tx.afterCommit(() => {
        for (const entry of entries) this.#forget(entry);
        this.#total -= removed;
        this.#serve();
      });
    };
    await (followed ? store.write(remove) : store.writeSoon(remove));
  }

  changeVisibility(receipt: string, seconds: number): void {
    const entry = this.#find(receipt);
    if (entry === undefined || !this.#inFlight.has(entry)) return;
    if (seconds === 0) {
      this.#giveBack(entry);
      this.#serve();
    } else {
      this.#hide(entry, seconds);
    }
  }

  /** Releases messages whose visibility timeout has ended; returns the next such time (monotonic milliseconds). */
  giveBackDue(now: number): number {
    let next = Number.POSITIVE_INFINITY;
    let some = false;
    for (const entry of this.#inFlight) {
      if (entry.deadline > now) {
        next = Math.min(next, entry.deadline);
      } else {
        this.#giveBack(entry);
        some = true;
      }
    }
    if (some) this.#serve();
    return next;
  }

  /** Deletes messages that are older than the retention period. */
  expire(tx: Tx): void {
    const removed = this.#rows.expire(tx, this.#oldest());
    tx.afterCommit(() => {
      this.#total -= removed;
    });
  }

  /** Ends waits, and leaves the receive counts to the store's last commit. */
  close(): void {
    void this.#writeCounts();
    for (const waiter of this.#waiters) waiter.resolve([]);
    this.#waiters = [];
  }

  #oldest(): number {
    return this.#context.now() - this.resource.retentionSeconds * 1000;
  }

  #arrived(entry: Entry): void {
    this.#total += 1;
    this.#deliveries.arrive(entry);
    this.#serve();
  }

  /** Never throws: its callers have committed, or are timers. */
  #serve(): void {
    try {
      for (let waiter = this.#waiters[0]; waiter !== undefined; waiter = this.#waiters[0]) {
        const messages = this.take(waiter);
        if (messages.length === 0) return;
        this.#waiters.shift();
        waiter.resolve(messages);
      }
    } catch (error) {
      this.#context.log.error("reading messages failed", { queue: this.resource.name, error });
    }
  }

  #receipt(entry: Entry): string {
    return `${this.#boot}.${entry.seq}.${entry.receives}`;
  }

  /** The message of a receipt; undefined if it was deleted or delivered again. */
  #find(receipt: string): Entry | undefined {
    const entry = this.#delivered.get(Number(receipt.split(".")[1]));
    return entry !== undefined && this.#receipt(entry) === receipt ? entry : undefined;
  }

  #deliver(entry: Entry, visibilitySeconds: number): ReceivedMessage | undefined {
    const { deadLetter } = this.resource;
    const isOut = (max: number): boolean => entry.receives >= max || entry.interrupted >= INTERRUPTED_MAX;
    if (deadLetter !== undefined && isOut(deadLetter.maxReceiveCount)) {
      this.#bury(entry, deadLetter.queue);
      return undefined;
    }
    const content = entry.content ?? this.#rows.content(entry.seq);
    if (content === undefined || content.sentAt < this.#oldest()) {
      // `expire` deletes it now or soon.
      this.#forget(entry);
      return undefined;
    }
    entry.content = undefined;
    entry.receives += 1;
    this.#lastDelivered = Math.max(this.#lastDelivered, entry.seq);
    this.#delivered.set(entry.seq, entry);
    this.#inFlight.add(entry);
    this.#hide(entry, visibilitySeconds);
    this.#count(entry);
    const { id, body, sentAt } = content;
    const { receives: receiveCount, interrupted, groupId } = entry;
    return {
      id,
      receipt: this.#receipt(entry),
      body,
      receiveCount,
      sentAt,
      ...(interrupted === 0 ? {} : { interrupted }),
      ...(groupId === undefined ? {} : { groupId }),
    };
  }

  #hide(entry: Entry, seconds: number): void {
    entry.deadline = performance.now() + seconds * 1000;
    this.#context.hidden(entry.deadline);
  }

  #giveBack(entry: Entry): void {
    this.#inFlight.delete(entry);
    this.#deliveries.giveBack(entry);
  }

  #forget(entry: Entry): void {
    this.#uncounted.delete(entry);
    this.#delivered.delete(entry.seq);
    this.#inFlight.delete(entry);
    this.#deliveries.remove(entry);
  }

  #count(entry: Entry): void {
    this.#uncounted.add(entry);
    this.#counting ??= setTimeout(() => void this.#writeCounts(), COUNT_DELAY_MS);
  }

  async #mark(): Promise<void> {
    const through = this.#lastDelivered + MARKED_AHEAD;
    try {
      await this.#context.store.write((tx) => this.#rows.setDelivered(tx, through));
      this.#marked(through);
    } catch (error) {
      this.#context.log.warn("recording deliveries failed", { queue: this.resource.name, error });
    }
  }

  #marked(through: number): void {
    this.#markedThrough = Math.max(this.#markedThrough, through);
  }

  async #writeCounts(): Promise<void> {
    clearTimeout(this.#counting);
    this.#counting = undefined;
    if (this.#uncounted.size === 0) return;
    try {
      await this.#context.store.write((tx) => {
        const entries = [...this.#uncounted];
        for (const entry of entries) this.#rows.setCounts(tx, entry.seq, countsOf(entry));
        tx.afterCommit(() => {
          for (const entry of entries) this.#uncounted.delete(entry);
        });
      });
    } catch (error) {
      // The counts in memory remain correct; the next delivery writes them.
      this.#context.log.warn("writing receive counts failed", { queue: this.resource.name, error });
    }
  }

  /** Moves a message to the dead-letter queue; it is hidden meanwhile, and a failure is retried. */
  #bury(entry: Entry, target: string): void {
    const { store, log, find } = this.#context;
    const dead = find(target);
    const move = (tx: Tx): void => {
      const moved = this.#rows.moveTo(tx, entry.seq, dead.#rows);
      tx.afterCommit(() => {
        this.#forget(entry);
        if (moved !== undefined) {
          this.#total -= 1;
          dead.#arrived(newEntry(moved.seq, moved.groupId));
        }
        this.#serve();
      });
    };
    store.write(move).then(
      () =>
        log.error("moved a message to the dead-letter queue", {
          queue: this.resource.name,
          deadLetterQueue: target,
        }),
      (error: unknown) => {
        log.error("moving a message to the dead-letter queue failed", { queue: this.resource.name, error });
        setTimeout(() => {
          this.#deliveries.giveBack(entry);
          this.#serve();
        }, MOVE_RETRY_MS).unref();
      },
    );
  }
}

/** The counts to persist in case the process ends now. */
function countsOf({ state, receives, interrupted }: Entry): DeliveryCounts {
  return state === "in-flight"
    ? { receives: receives - 1, interrupted: interrupted + 1 }
    : { receives, interrupted };
}
