import type { Outbox } from "../outbox.ts";
import type { Ports } from "../ports.ts";
import type { Queues, ReceivedMessage } from "../queues.ts";
import type { Resources } from "../resources.ts";
import { seededRandom } from "./random.ts";

export interface HostileOptions {
  /** The same seed and the same order of calls give the same misbehaviour. */
  readonly seed: number;
  /** Share of the messages that are delivered twice, 0 to 1. */
  readonly duplicates?: number;
  /** Share of the messages of standard queues that others overtake, 0 to 1. */
  readonly reorders?: number;
  /** Which commit the process dies at, from 1; whether just before or just after it, the seed says. */
  readonly crashAtCommit?: number;
  /** Told once, at the crash. */
  readonly onCrash?: () => void;
}

/** What every call to a platform that crashed rejects with, also those under way. */
export class Crashed extends Error {
  readonly code = "crashed";
  constructor() {
    super("the hostile platform crashed, as it was told to");
    this.name = "Crashed";
  }
}

type Through = <Result>(work: () => Promise<Result>) => Promise<Result>;

interface Crash {
  /** A call that changes nothing on disk. */
  readonly guard: Through;
  /** A call that does. */
  readonly commit: Through;
}

function crashAt({ crashAtCommit, onCrash }: HostileOptions, random: () => number): Crash {
  const afterwards = random() < 0.5;
  const { promise: dead, reject } = Promise.withResolvers<never>();
  dead.catch(() => undefined);
  let crashed = false;
  let commits = 0;
  const crash = (): void => {
    crashed = true;
    reject(new Crashed());
    onCrash?.();
  };
  const guard: Through = async (work) => {
    if (crashed) throw new Crashed();
    return crashAtCommit === undefined ? work() : Promise.race([work(), dead]);
  };
  const commit: Through = async (work) => {
    if (crashed) throw new Crashed();
    commits += 1;
    if (commits !== crashAtCommit) return guard(work);
    if (afterwards) await work();
    crash();
    throw new Crashed();
  };
  return { guard, commit };
}

/** Deliveries of one queue that the wrapper makes up or holds back. */
interface Mischief {
  /** For the next receive: copies of messages, and messages that were overtaken. */
  readonly later: ReceivedMessage[];
  /** Ids of messages that were made to come twice already. */
  readonly doubled: Set<string>;
  /** FIFO queues: which message a receipt is of. */
  readonly ids: Map<string, string>;
}

const COPY_MARK = "~copy";

function hostileQueues(
  queues: Queues,
  { duplicates = 0, reorders = 0 }: HostileOptions,
  resources: Resources,
  random: () => number,
  { guard, commit }: Crash,
): Queues {
  const mischief = new Map<string, Mischief>();
  const of = (queue: string): Mischief => {
    let known = mischief.get(queue);
    if (known === undefined) {
      known = { later: [], doubled: new Set(), ids: new Map() };
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
  /** Standard queues: some messages come again next time, some come next time only, the rest in any order. */
  const disturb = (queue: string, messages: ReceivedMessage[], max: number): ReceivedMessage[] => {
    const { later, doubled } = of(queue);
    const now: ReceivedMessage[] = later.splice(0, max);
    for (const message of messages) {
      if (random() < duplicates && !doubled.has(message.id)) {
        doubled.add(message.id);
        later.push({ ...message, receipt: `${message.receipt}${COPY_MARK}` });
      }
      if (now.length >= max || (random() < reorders && now.length > 0)) later.push(message);
      else now.push(message);
    }
    if (random() < reorders) shuffle(now);
    return now;
  };

  return {
    send: (queue, messages) => commit(() => queues.send(queue, messages)),
    receive: (queue, options) =>
      guard(async () => {
        const { later, ids } = of(queue);
        if (fifo.has(queue)) {
          const messages = await queues.receive(queue, options);
          for (const { receipt, id } of messages) ids.set(receipt, id);
          return messages;
        }
        if (later.length >= options.max) return later.splice(0, options.max);
        const waitSeconds = later.length > 0 ? 0 : options.waitSeconds;
        return disturb(queue, await queues.receive(queue, { ...options, waitSeconds }), options.max);
      }),
    delete: async (queue, receipts) => {
      const { doubled, ids } = of(queue);
      for (const receipt of receipts.filter((one) => !one.endsWith(COPY_MARK))) {
        const id = ids.get(receipt);
        ids.delete(receipt);
        // A FIFO queue never has one message out twice at once: there the delete gets lost.
        if (id !== undefined && !deliveredOnce.has(queue) && !doubled.has(id) && random() < duplicates) {
          doubled.add(id);
          await guard(() => queues.changeVisibility(queue, receipt, 0));
        } else {
          await commit(() => queues.delete(queue, [receipt]));
        }
      }
    },
    changeVisibility: (queue, receipt, seconds) =>
      guard(async () => {
        if (!receipt.endsWith(COPY_MARK)) await queues.changeVisibility(queue, receipt, seconds);
      }),
    depth: (queue) => guard(() => queues.depth(queue)),
  };
}

/**
 * The ports of the embedded platform as bad as AWS may be: messages twice and out of order, an outbox
 * whose messages follow its writes in commits of their own, and a crash at a given commit, after which
 * every call rejects with Crashed. The same seed misbehaves the same way.
 */
export function hostilePorts(ports: Ports, options: HostileOptions, resources: Resources): Ports {
  const random = seededRandom(options.seed);
  const crash = crashAt(options, random);
  const { guard, commit } = crash;
  const { tables, bus, timers, blobs } = ports;
  const queues = hostileQueues(ports.queues, options, resources, random, crash);
  const outbox: Outbox = {
    commit: async ({ writes, publish = [], send = [] }) => {
      const outcome = await commit(() => tables.write(writes));
      if (!outcome.ok) return outcome;
      if (publish.length > 0) await commit(() => bus.publish(publish));
      for (const { queue, messages } of send) await queues.send(queue, messages);
      return outcome;
    },
  };
  return {
    ...ports,
    queues,
    outbox,
    tables: {
      get: (table, key) => guard(() => tables.get(table, key)),
      batchGet: (table, keys) => guard(() => tables.batchGet(table, keys)),
      query: (table, query) => guard(() => tables.query(table, query)),
      write: (writes) => commit(() => tables.write(writes)),
      update: (table, key, change, when) => commit(() => tables.update(table, key, change, when)),
    },
    bus: { publish: (entries) => commit(() => bus.publish(entries)) },
    timers: {
      set: (id, at, queue, message) => commit(() => timers.set(id, at, queue, message)),
      cancel: (id) => commit(() => timers.cancel(id)),
    },
    blobs: {
      put: (key, data) => commit(() => blobs.put(key, data)),
      putFile: (key, path) => commit(() => blobs.putFile(key, path)),
      get: (key, range) => guard(() => blobs.get(key, range)),
      stream: (key) => guard(() => blobs.stream(key)),
      head: (key) => guard(() => blobs.head(key)),
      delete: (keys) => commit(() => blobs.delete(keys)),
      list: (prefix, listing) => guard(() => blobs.list(prefix, listing)),
    },
  };
}
