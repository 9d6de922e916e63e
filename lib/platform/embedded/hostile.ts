import type { Outbox } from "../outbox.ts";
import type { Ports } from "../ports.ts";
import type { Resources } from "../resources.ts";
import type { Tables } from "../tables.ts";
import { type CallOptions, type Calls, type Crash, hostileCalls, type Through } from "./hostile-calls.ts";
import { laggingTables } from "./hostile-indexes.ts";
import { type DeliveryOptions, hostileQueues } from "./hostile-queues.ts";
import { seededRandom } from "./random.ts";

export interface HostileOptions extends CallOptions, DeliveryOptions {
  /** The same seed and the same order of calls give the same misbehaviour. */
  readonly seed: number;
  /** Queries of an index do not show writes younger than a random delay, which is at most this many milliseconds. */
  readonly indexLagMs?: number;
  /** The number, from 1, of the commit at which the process crashes; the seed decides whether before or after it. */
  readonly crashAtCommit?: number;
  /** Called once, at the crash. */
  readonly onCrash?: () => void;
}

/** The error of every call to a platform that crashed, including pending calls. */
export class CrashError extends Error {
  readonly code = "crashed";
  constructor() {
    super("crash injected by the hostile platform");
    this.name = "Crashed";
  }
}

function crashAt({ crashAtCommit, onCrash }: HostileOptions, random: () => number): Crash {
  const afterwards = random() < 0.5;
  const { promise: dead, reject } = Promise.withResolvers<never>();
  dead.catch(() => undefined);
  let crashed = false;
  let commits = 0;
  const crash = (): void => {
    crashed = true;
    reject(new CrashError());
    onCrash?.();
  };
  const alive = (): void => {
    if (crashed) throw new CrashError();
  };
  const guard: Through = async (work) => {
    alive();
    return crashAtCommit === undefined ? work() : Promise.race([work(), dead]);
  };
  const commit: Through = async (work) => {
    alive();
    commits += 1;
    if (commits !== crashAtCommit) return guard(work);
    if (afterwards) await work();
    crash();
    throw new CrashError();
  };
  return { alive, guard, commit };
}

function hostileTables(tables: Tables, { read, write }: Calls): Tables {
  return {
    get: (table, key) => read(() => tables.get(table, key)),
    batchGet: (table, keys) => read(() => tables.batchGet(table, keys)),
    query: (table, query) => read(() => tables.query(table, query)),
    scan: (table, scan) => read(() => tables.scan(table, scan)),
    write: (writes) => write(() => tables.write(writes)),
    update: (table, key, change, when) => write(() => tables.update(table, key, change, when)),
  };
}

/**
 * The embedded platform's ports with the failures that AWS may show: duplicate, late and reordered messages, indexes
 * that lag behind their tables, rejected calls and lost responses, an outbox that sends its messages in separate
 * commits after its writes, and a crash at a given commit, after which every call rejects with Crashed. Deterministic
 * for a seed.
 */
export function hostilePorts(ports: Ports, options: HostileOptions, resources: Resources): Ports {
  const { indexLagMs = 0 } = options;
  const { bus, timers, blobs, claims, clock, fullText } = ports;
  const random = seededRandom(options.seed);
  const calls = hostileCalls(options, crashAt(options, random), random);
  const { read, commit } = calls;
  const lagging = indexLagMs === 0 ? ports.tables : laggingTables(ports.tables, clock, indexLagMs, random);
  const tables = hostileTables(lagging, calls);
  const queues = hostileQueues(ports.queues, { ...options, resources, clock }, random, calls);
  const outbox: Outbox = {
    commit: async ({ writes, publish = [], send = [] }) => {
      const outcome = await tables.write(writes);
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
    tables,
    bus: { publish: (entries) => commit(() => bus.publish(entries)) },
    timers: {
      set: (id, at, queue, message) => commit(() => timers.set(id, at, queue, message)),
      cancel: (id) => commit(() => timers.cancel(id)),
    },
    claims: {
      take: (name) => commit(() => claims.take(name)),
      isTaken: (name) => read(() => claims.isTaken(name)),
    },
    fullText: {
      get: (ids) => read(() => fullText.get(ids)),
      put: (text, replaces) => commit(() => fullText.put(text, replaces)),
      find: (terms, among) => read(() => fullText.find(terms, among)),
    },
    blobs: {
      put: (key, data) => commit(() => blobs.put(key, data)),
      putStream: (key, chunks) => commit(() => blobs.putStream(key, chunks)),
      putFile: (key, path) => commit(() => blobs.putFile(key, path)),
      get: (key, range) => read(() => blobs.get(key, range)),
      stream: (key, range) => read(() => blobs.stream(key, range)),
      head: (key) => read(() => blobs.head(key)),
      uploadTo: (key, allowed) => read(() => blobs.uploadTo(key, allowed)),
      delete: (keys) => commit(() => blobs.delete(keys)),
      list: (prefix, listing) => read(() => blobs.list(prefix, listing)),
    },
  };
}
