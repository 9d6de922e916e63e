import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { PlatformFault } from "../../faults.ts";
import type { FullText } from "../../full-text.ts";
import type { Log } from "../../log.ts";
import type {
  FromIndexThread,
  IndexCallName,
  IndexCalls,
  IndexThreadData,
  ToIndexThread,
} from "./protocol.ts";
import { TextRows } from "./text-rows.ts";

/** The database of the index, in the data folder. */
export const INDEX_FILE = "full-text.db";

const THREAD = new URL("./main.ts", import.meta.url);
/** Time without a call after which the thread is ended, milliseconds: its memory is not used. */
const IDLE_MS = 3 * 60_000;
/** Its heap: texts are limited, and few are in memory at once. */
const THREAD_LIMITS = { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 256 } as const;
/** A thread that does not end is terminated after this time, milliseconds. */
const CLOSE_LIMIT_MS = 3_000;

export interface FullTextThreadOptions {
  readonly dataDir: string;
  readonly log: Pick<Log, "warn" | "error">;
  /** Receives the faults of the storage. */
  readonly observe: (fault: PlatformFault) => void;
  /** Resolves when what the texts were read from is on disk: the index must not keep what a power failure undoes. */
  readonly durable: () => Promise<void>;
  readonly idleMs?: number;
}

export interface FullTextThread {
  readonly port: FullText;
  /** Whether the thread runs: the first call starts it. */
  readonly isRunning: boolean;
  releaseMemory(): Promise<void>;
  /** Waits for pending writes, and ends the thread. */
  close(): Promise<void>;
}

interface Pending {
  resolve(value: never): void;
  reject(error: unknown): void;
}

interface Running {
  readonly worker: Worker;
  readonly pending: Map<number, Pending>;
  readonly ended: Promise<void>;
  /** It accepts no more calls. */
  isEnding: boolean;
}

/**
 * Full-text search in a thread of its own, with its own database: neither indexing nor a search delays other work. The
 * first call starts the thread, some idle minutes end it. Choice: infra/decisions/0160.
 */
export function fullTextThread(options: FullTextThreadOptions): FullTextThread {
  const { dataDir, log, observe, durable, idleMs = IDLE_MS } = options;
  const path = join(dataDir, INDEX_FILE);
  const rows = new TextRows();
  let running: Running | undefined;
  let idle: NodeJS.Timeout | undefined;
  let isClosed = false;
  let lastId = 0;

  const start = (): Running => {
    const worker = new Worker(THREAD, {
      workerData: { path } satisfies IndexThreadData,
      env: {},
      execArgv: [],
      resourceLimits: THREAD_LIMITS,
    });
    const pending = new Map<number, Pending>();
    const ended = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
    const started: Running = { worker, pending, ended, isEnding: false };
    worker.on("message", (message: FromIndexThread) => {
      if (message.kind === "replaced") {
        log.warn("the full-text index was damaged: the documents are indexed again", { error: message.why });
        return;
      }
      const call = pending.get(message.id);
      pending.delete(message.id);
      if (message.kind === "done") call?.resolve(message.value as never);
      else call?.reject(toError(message));
      if (pending.size === 0) rest(started);
    });
    worker.on("error", (error) => log.error("the thread of the full-text index failed", { error }));
    void ended.then(() => {
      running = undefined;
      const fault = new PlatformFault("unavailable", "the thread of the full-text index ended");
      for (const { reject } of pending.values()) reject(fault);
      pending.clear();
    });
    return started;
  };

  const toError = ({ code, message }: Extract<FromIndexThread, { kind: "failed" }>): Error => {
    if (code === undefined) return new Error(message);
    const fault = new PlatformFault(code, message);
    observe(fault);
    return fault;
  };

  const call = <Name extends IndexCallName>(
    to: Running,
    name: Name,
    ...args: IndexCalls[Name]["args"]
  ): Promise<IndexCalls[Name]["result"]> =>
    new Promise((resolve, reject) => {
      lastId += 1;
      clearTimeout(idle);
      if (to.pending.size === 0) to.worker.ref();
      to.pending.set(lastId, { resolve, reject });
      to.worker.postMessage({ id: lastId, name, args } satisfies ToIndexThread);
    });

  const ask = async <Name extends IndexCallName>(
    name: Name,
    ...args: IndexCalls[Name]["args"]
  ): Promise<IndexCalls[Name]["result"]> => {
    // Two threads must not have the database open.
    while (running?.isEnding === true) await running.ended;
    if (isClosed) throw new PlatformFault("unavailable", "the full-text index is closed");
    running ??= start();
    return call(running, name, ...args);
  };

  /** A thread without calls does not keep the process alive. */
  const rest = ({ worker }: Running): void => {
    worker.unref();
    clearTimeout(idle);
    idle = setTimeout(() => void end(), idleMs);
    idle.unref();
  };

  const end = async (): Promise<void> => {
    clearTimeout(idle);
    const ending = running;
    if (ending === undefined || ending.isEnding) return ending?.ended;
    const closed = call(ending, "close");
    ending.isEnding = true;
    const late = setTimeout(() => void ending.worker.terminate(), CLOSE_LIMIT_MS);
    await closed.catch(() => undefined);
    await ending.ended;
    clearTimeout(late);
  };

  return {
    port: {
      get: (ids) => ask("get", ids),
      put: async (text, replaces) => {
        await durable();
        return ask("put", text, replaces);
      },
      find: async (terms, among) => {
        for (;;) {
          const found = await ask("find", terms, rows.known);
          if (rows.learn(found)) return rows.placesOf(among, found);
        }
      },
    },
    get isRunning() {
      return running !== undefined;
    },
    releaseMemory: async () => {
      rows.forget();
      if (running?.isEnding === false) await call(running, "shrink");
    },
    close: async () => {
      isClosed = true;
      await end();
    },
  };
}
