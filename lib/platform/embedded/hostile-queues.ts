import type { Clock } from "../clock.ts";
import type { Queues, ReceivedMessage } from "../queues.ts";
import type { Resources } from "../resources.ts";
import type { Calls } from "./hostile-calls.ts";

/** Failures of deliveries. Shares are from 0 to 1. */
export interface DeliveryOptions {
  /** Share of the messages that are delivered twice. */
  readonly duplicates?: number;
  /** Share of the messages of standard queues that later ones overtake. */
  readonly reorders?: number;
  /** Share of the deliveries that are late, by up to `delayMs`. */
  readonly delays?: number;
  /** Milliseconds of the platform's clock; default 30,000. */
  readonly delayMs?: number;
}

/** A delayed delivery. */
interface Held {
  readonly message: ReceivedMessage;
  /** Earliest delivery time, by the platform's clock. */
  readonly from: number;
  /** When the visibility timeout ends and the platform redelivers the message, in monotonic milliseconds. */
  readonly until: number;
}

/** Duplicated and delayed deliveries of one queue. */
interface Mischief {
  held: Held[];
  /** Ids of messages that were already duplicated. */
  readonly doubled: Set<string>;
  /** FIFO queues: message id by receipt. */
  readonly ids: Map<string, string>;
}

const COPY_MARK = "~copy";
const DELAY_MS = 30_000;

/** Queues that deliver messages twice, late and, unless they are FIFO, out of order; no message is lost. */
export function hostileQueues(
  queues: Queues,
  options: DeliveryOptions & { readonly resources: Resources; readonly clock: Clock },
  random: () => number,
  { read, commit }: Calls,
): Queues {
  const { resources, clock, duplicates = 0, reorders = 0, delays = 0, delayMs = DELAY_MS } = options;
  const mischief = new Map<string, Mischief>();
  const of = (queue: string): Mischief => {
    let known = mischief.get(queue);
    if (known === undefined) {
      known = { held: [], doubled: new Set(), ids: new Map() };
      mischief.set(queue, known);
    }
    return known;
  };
  const fifo = new Set(resources.queues.filter((queue) => queue.fifo).map(({ name }) => name));
  /** Queues with a maximum of one delivery: a duplicate would move the message to the dead-letter queue. */
  const deliveredOnce = new Set(
    resources.queues.filter(({ deadLetter }) => deadLetter?.maxReceiveCount === 1).map(({ name }) => name),
  );

  const shuffle = (messages: ReceivedMessage[]): void => {
    for (let at = messages.length - 1; at > 0; at -= 1) {
      const other = Math.floor(random() * (at + 1));
      const moved = messages[at];
      const taken = messages[other];
      if (moved === undefined || taken === undefined) continue;
      messages[at] = taken;
      messages[other] = moved;
    }
  };
  /** Returns the deliveries that are due, and drops those that the platform redelivers. */
  const release = (queue: string, max: number): ReceivedMessage[] => {
    const known = of(queue);
    const now = clock.now();
    const left = known.held.filter(({ until }) => until > performance.now());
    const due = left.filter(({ from }) => from <= now).slice(0, max);
    known.held = left.filter((one) => !due.includes(one));
    return due.map(({ message }) => message);
  };
  const isLate = (): boolean => delays > 0 && random() < delays;
  const lateness = (): number => Math.ceil(random() * delayMs);

  /** Standard queues: duplicates some messages, delays some and shuffles the rest. */
  const disturb = (
    { held, doubled }: Mischief,
    released: readonly ReceivedMessage[],
    messages: readonly ReceivedMessage[],
    max: number,
    until: number,
  ): ReceivedMessage[] => {
    const now: ReceivedMessage[] = [...released];
    const at = clock.now();
    for (const message of messages) {
      if (random() < duplicates && !doubled.has(message.id)) {
        doubled.add(message.id);
        held.push({ message: { ...message, receipt: `${message.receipt}${COPY_MARK}` }, from: at, until });
      }
      if (isLate()) held.push({ message, from: at + lateness(), until });
      else if (now.length >= max || (random() < reorders && now.length > 0))
        held.push({ message, from: at, until });
      else now.push(message);
    }
    if (random() < reorders) shuffle(now);
    return now;
  };

  return {
    send: (queue, messages) => commit(() => queues.send(queue, messages)),
    receive: (queue, wish) =>
      read(async () => {
        const { max, visibilitySeconds } = wish;
        const released = release(queue, max);
        if (released.length >= max) return released;
        const known = of(queue);
        const waitSeconds = released.length + known.held.length > 0 ? 0 : wish.waitSeconds;
        const messages = await queues.receive(queue, { ...wish, max: max - released.length, waitSeconds });
        const until = performance.now() + visibilitySeconds * 1000;
        if (!fifo.has(queue)) return disturb(known, released, messages, max, until);
        for (const { receipt, id } of messages) known.ids.set(receipt, id);
        if (messages.length === 0 || !isLate()) return [...released, ...messages];
        // All or none of them: a message must not overtake another of its group.
        const from = clock.now() + lateness();
        known.held.push(...messages.map((message) => ({ message, from, until })));
        return released;
      }),
    delete: async (queue, receipts) => {
      const { doubled, ids } = of(queue);
      for (const receipt of receipts.filter((one) => !one.endsWith(COPY_MARK))) {
        const id = ids.get(receipt);
        ids.delete(receipt);
        // A FIFO queue never delivers a message twice at once; losing the delete causes the second delivery.
        if (id !== undefined && !deliveredOnce.has(queue) && !doubled.has(id) && random() < duplicates) {
          doubled.add(id);
          await read(() => queues.changeVisibility(queue, receipt, 0));
        } else {
          await commit(() => queues.delete(queue, [receipt]));
        }
      }
    },
    changeVisibility: (queue, receipt, seconds) =>
      read(async () => {
        if (!receipt.endsWith(COPY_MARK)) await queues.changeVisibility(queue, receipt, seconds);
      }),
    depth: (queue) => read(() => queues.depth(queue)),
  };
}
