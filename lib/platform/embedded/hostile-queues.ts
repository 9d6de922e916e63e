import type { Clock } from "../clock.ts";
import type { Queues, ReceivedMessage } from "../queues.ts";
import type { Resources } from "../resources.ts";
import type { Calls } from "./hostile-calls.ts";

/** Misfortunes of messages. Shares are from 0 to 1. */
export interface DeliveryOptions {
  /** Share of the messages that are delivered twice. */
  readonly duplicates?: number;
  /** Share of the messages of standard queues that others overtake. */
  readonly reorders?: number;
  /** Share of the deliveries that come late, by up to `delayMs`. */
  readonly delays?: number;
  /** Milliseconds of the platform's clock, 30,000 unless given. */
  readonly delayMs?: number;
}

/** A delivery that is held back. */
interface Held {
  readonly message: ReceivedMessage;
  /** When it may be made, by the platform's clock. */
  readonly from: number;
  /** When the message is hidden no more, so that the platform delivers it anew: in monotonic milliseconds, as there. */
  readonly until: number;
}

/** Deliveries of one queue that the wrapper makes up or holds back. */
interface Mischief {
  held: Held[];
  /** Ids of messages that were made to come twice already. */
  readonly doubled: Set<string>;
  /** FIFO queues: which message a receipt is of. */
  readonly ids: Map<string, string>;
}

const COPY_MARK = "~copy";
const DELAY_MS = 30_000;

/** Queues whose messages come twice, late and, where they are not FIFO, in any order; none is lost. */
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
  /** A second redelivery may bury a message that is delivered once only. */
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
  /** Takes out what may be delivered now, and forgets what the platform delivers anew. */
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

  /** Standard queues: some messages come again next time, some later only, the rest in any order. */
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
        // All of them or none: a message must not overtake another of its group.
        const from = clock.now() + lateness();
        known.held.push(...messages.map((message) => ({ message, from, until })));
        return released;
      }),
    delete: async (queue, receipts) => {
      const { doubled, ids } = of(queue);
      for (const receipt of receipts.filter((one) => !one.endsWith(COPY_MARK))) {
        const id = ids.get(receipt);
        ids.delete(receipt);
        // A FIFO queue never has one message out twice at once: there the delete gets lost.
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
