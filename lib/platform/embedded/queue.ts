import type { Log } from "../log.ts";
import type { ReceivedMessage } from "../queues.ts";
import type { QueueResource } from "../resources.ts";
import { type Entry, fifoLane, type Lane, newEntry, standardLane } from "./lanes.ts";
import { type Counts, type NewMessage, openQueueRows, type QueueRows } from "./queue-rows.ts";
import type { Store, Tx } from "./store.ts";

export interface Wanted {
  readonly max: number;
  readonly visibilitySeconds: number;
}

interface Waiter extends Wanted {
  readonly settle: (messages: ReceivedMessage[]) => void;
}

export interface QueueContext {
  readonly store: Store;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** The dead-letter queue by its name. */
  readonly find: (name: string) => Queue;
  /** A message was hidden until then (monotonic milliseconds). */
  readonly hidden: (deadline: number) => void;
}

/** How long receive counts may stay in memory. A message that is deleted sooner never has its count written. */
const COUNT_DELAY_MS = 20;
const MOVE_RETRY_MS = 1000;
/** The mark of what may have been delivered is set ahead by so many messages, so that few deliveries wait for its write. */
const MARKED_AHEAD = 16;
/** Servers that may end with a message in their hands before it is dead-lettered: it may be what ends them. */
export const INTERRUPTED_MAX = 1_000;

/**
 * One queue: rows on disk, order and deliveries in memory. What is hidden from whom is only in memory,
 * because the one process that holds the messages is this one: after a restart all are visible.
 */
export class Queue {
  readonly resource: QueueResource;
  readonly #context: QueueContext;
  readonly #rows: QueueRows;
  readonly #lane: Lane;
  /** Tells deliveries of this process from those of one before. */
  readonly #boot: string;
  #total: number;
  /** The highest number that was delivered by this process. */
  #lastDelivered = 0;
  /** On disk: messages up to this number may have been delivered. */
  #markedThrough: number;
  /** Delivered at least once and still there, by number. */
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
    this.#lane = resource.fifo ? fifoLane(this.#rows) : standardLane(this.#rows);
    this.#total = this.#rows.count();
  }

  get depth(): { visible: number; inFlight: number } {
    return { visible: Math.max(0, this.#total - this.#inFlight.size), inFlight: this.#inFlight.size };
  }

  /** Within a commit; those who wait are served after it, or once it is on disk. */
  add(tx: Tx, message: NewMessage): void {
    // What was committed before a delivery is there for its consumer to find.
    if (message.coalesces === true && this.#rows.has(tx, this.#lastDelivered)) return;
    const seq = this.#rows.add(tx, message);
    const arrived = (): void => this.#arrived(newEntry(seq, message.groupId, undefined, message));
    if (this.resource.eager === true) tx.afterCommit(arrived);
    else tx.onceDurable(arrived);
  }

  /** What there is, at once. Throws where not even the first can be read. */
  take({ max, visibilitySeconds }: Wanted): ReceivedMessage[] {
    const messages: ReceivedMessage[] = [];
    let entry: Entry | undefined;
    while (messages.length < max) {
      entry = this.#lane.next(entry);
      if (entry === undefined) break;
      try {
        const message = this.#deliver(entry, visibilitySeconds);
        if (message !== undefined) messages.push(message);
      } catch (error) {
        this.#lane.giveBack(entry);
        if (messages.length === 0) throw error;
        break;
      }
    }
    return messages;
  }

  /**
   * Settles once it is on disk which messages may have been delivered, and for those that were there at the start how
   * often: the one that ended the last process may be among them, and would else end every process after it, uncounted.
   */
  async counted(): Promise<void> {
    if (!this.resource.fifo && this.#lastDelivered > this.#markedThrough) await this.#mark();
    for (const { seq } of this.#uncounted) if (seq <= this.#rows.last) return this.#writeCounts();
  }

  /** Settles with the first messages that come, or empty when told to give up. */
  wait(wanted: Wanted): { readonly messages: Promise<ReceivedMessage[]>; giveUp(): void } {
    const { promise, resolve } = Promise.withResolvers<ReceivedMessage[]>();
    const waiter: Waiter = { ...wanted, settle: resolve };
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
    const { write, writeSoon } = this.#context.store;
    // What follows in a group waits for it.
    const followed = this.resource.fifo && this.#total > this.#inFlight.size;
    await (followed ? write : writeSoon)((tx) => {
      const removed = entries.reduce((sum, { seq }) => sum + this.#rows.remove(tx, seq), 0);
      tx.afterCommit(() => {
        for (const entry of entries) this.#forget(entry);
        this.#total -= removed;
        this.#serve();
      });
    });
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

  /** Gives back what was hidden until now; answers when the next of it is due (monotonic milliseconds). */
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

  /** Drops messages that are older than the queue keeps them. */
  expire(tx: Tx): void {
    const removed = this.#rows.expire(tx, this.#oldest());
    tx.afterCommit(() => {
      this.#total -= removed;
    });
  }

  /** Ends waits, and leaves the receive counts to the last commit of the store. */
  close(): void {
    void this.#writeCounts();
    for (const waiter of this.#waiters) waiter.settle([]);
    this.#waiters = [];
  }

  #oldest(): number {
    return this.#context.now() - this.resource.retentionSeconds * 1000;
  }

  #arrived(entry: Entry): void {
    this.#total += 1;
    this.#lane.arrive(entry);
    this.#serve();
  }

  /** Never throws: what it follows is committed, or is a timer. */
  #serve(): void {
    try {
      for (let waiter = this.#waiters[0]; waiter !== undefined; waiter = this.#waiters[0]) {
        const messages = this.take(waiter);
        if (messages.length === 0) return;
        this.#waiters.shift();
        waiter.settle(messages);
      }
    } catch (error) {
      this.#context.log.error("messages could not be read", { queue: this.resource.name, error });
    }
  }

  #receipt(entry: Entry): string {
    return `${this.#boot}.${entry.seq}.${entry.receives}`;
  }

  /** The message of a receipt; undefined when it is gone or was delivered again since. */
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
      // Dropped by `expire`, now or soon.
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
    this.#lane.giveBack(entry);
  }

  #forget(entry: Entry): void {
    this.#uncounted.delete(entry);
    this.#delivered.delete(entry.seq);
    this.#inFlight.delete(entry);
    this.#lane.remove(entry);
  }

  #count(entry: Entry): void {
    this.#uncounted.add(entry);
    this.#counting ??= setTimeout(() => void this.#writeCounts(), COUNT_DELAY_MS);
  }

  async #mark(): Promise<void> {
    const through = this.#lastDelivered + MARKED_AHEAD;
    try {
      await this.#context.store.write((tx) => this.#rows.setDelivered(tx, through));
      this.#markedThrough = Math.max(this.#markedThrough, through);
    } catch (error) {
      this.#context.log.warn("deliveries could not be marked", { queue: this.resource.name, error });
    }
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
      // The counts in memory go on; they are written with the next delivery.
      this.#context.log.warn("receive counts could not be written", { queue: this.resource.name, error });
    }
  }

  /** To the dead-letter queue; held back meanwhile, and tried again when that fails. */
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
      () => log.error("a message was dead-lettered", { queue: this.resource.name, deadLetterQueue: target }),
      (error: unknown) => {
        log.error("a message could not be dead-lettered", { queue: this.resource.name, error });
        setTimeout(() => {
          this.#lane.giveBack(entry);
          this.#serve();
        }, MOVE_RETRY_MS).unref();
      },
    );
  }
}

/** As they are true should the process end now. */
function countsOf({ state, receives, interrupted }: Entry): Counts {
  return state === "in-flight"
    ? { receives: receives - 1, interrupted: interrupted + 1 }
    : { receives, interrupted };
}
