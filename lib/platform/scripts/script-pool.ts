import { readFile } from "node:fs/promises";
import type { CallHost } from "../scripts.ts";
import type { Exec } from "./script-job.ts";
import type { ScriptMessage, ScriptReply } from "./script-messages.ts";
import { ScriptThread, type ThreadOptions } from "./script-thread.ts";
import { stopResult } from "./stop-result.ts";
import { wasmApi } from "./web-assembly.ts";

/** When scripts wait this many milliseconds for a thread, the pool adds one, up to the maximum. */
const PATIENCE_MS = 100;
/** Threads above the minimum are ended after this many idle milliseconds, by default. */
const IDLE_MS = 30_000;

export interface PoolOptions {
  /** URL of `script-worker.ts`, or of its build. */
  readonly worker: URL;
  /** URL of QuickJS's WebAssembly. */
  readonly engine: URL;
  /** URL of a module that exports `callables`: the functions that scripts may call, by name. */
  readonly functionsModule: URL;
  readonly exec: Exec;
  /** Milliseconds that an `exec` command may take to end after it was told to. */
  readonly execGraceMs: number;
  /** Number of threads that are kept ready. */
  readonly fewestThreads: number;
  readonly mostThreads: number;
  /** Threads above the minimum are ended after this many idle milliseconds; default: 30 seconds. */
  readonly idleMs?: number;
  /** Number of VMs that each thread keeps for its most recent runs. */
  readonly keptGuests: number;
}

interface Waiting {
  readonly job: ScriptMessage;
  readonly signal: AbortSignal;
  readonly ask: CallHost | undefined;
  resolve(reply: ScriptReply | Promise<ScriptReply>): void;
  reject(error: unknown): void;
}

/** The threads that evaluate scripts: a few, and more while long calls or loops block them. */
export class ScriptPool {
  readonly #options: PoolOptions;
  readonly #threadOptions: Omit<ThreadOptions, "onGone">;
  readonly #all = new Set<ScriptThread>();
  readonly #idle = new Set<ScriptThread>();
  readonly #waiting: Waiting[] = [];
  #starting = 0;
  #isClosed = false;
  #patience: NodeJS.Timeout | undefined;

  private constructor(options: PoolOptions, wasm: WebAssembly.Module) {
    this.#options = options;
    this.#threadOptions = { ...options, wasm, functionsModule: options.functionsModule.href };
  }

  /** Compiles the engine once for all threads. Throws if it cannot be read. */
  static async create(options: PoolOptions): Promise<ScriptPool> {
    return new ScriptPool(options, await wasmApi.compile(await readFile(options.engine)));
  }

  /** Evaluates on a free thread; the script's time starts then. Throws if no thread can be started. */
  run(job: ScriptMessage, signal: AbortSignal, ask?: CallHost): Promise<ScriptReply> {
    const onAbort = (): void => this.#dropAborted();
    signal.addEventListener("abort", onAbort, { once: true });
    const answered = new Promise<ScriptReply>((resolve, reject) => {
      if (this.#isClosed) throw new Error("the script threads are closed");
      this.#waiting.push({ job, signal, ask, resolve, reject });
      this.#serve();
    });
    return answered.finally(() => signal.removeEventListener("abort", onAbort));
  }

  /** Ends all threads; scripts that wait or run are rejected or fail. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#patience);
    for (const { reject } of this.#waiting.splice(0)) reject(new Error("the script threads are closed"));
    for (const thread of this.#all) thread.end();
  }

  #serve(): void {
    this.#dropAborted();
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const thread = this.#pick(next.job.isolate);
      if (thread === undefined) break;
      this.#waiting.shift();
      this.#idle.delete(thread);
      next.resolve(thread.run(next.job, next.signal, next.ask).finally(() => this.#rest(thread)));
    }
    if (this.#waiting.length <= this.#starting) return;
    if (this.#all.size < Math.max(1, this.#options.fewestThreads)) this.#start();
    else if (this.#all.size < this.#options.mostThreads) {
      this.#patience ??= setTimeout(() => {
        this.#patience = undefined;
        if (this.#waiting.length > this.#starting) this.#start();
        this.#serve();
      }, PATIENCE_MS);
    }
  }

  /** The thread that served this run last, otherwise any free thread. */
  #pick(isolate: string): ScriptThread | undefined {
    let free: ScriptThread | undefined;
    for (const thread of this.#idle) {
      if (thread.gone) continue;
      if (thread.lastIsolate === isolate) return thread;
      free ??= thread;
    }
    return free;
  }

  #rest(thread: ScriptThread): void {
    if (thread.gone) return;
    this.#idle.add(thread);
    this.#serve();
    const { idleMs = IDLE_MS, fewestThreads } = this.#options;
    if (this.#idle.has(thread)) thread.endAfter(idleMs, () => this.#all.size > fewestThreads);
  }

  #start(): void {
    this.#starting += 1;
    const thread = new ScriptThread({
      ...this.#threadOptions,
      onGone: () => {
        this.#all.delete(thread);
        this.#idle.delete(thread);
        if (!this.#isClosed) this.#serve();
      },
    });
    this.#all.add(thread);
    thread.ready.then(
      () => {
        this.#starting -= 1;
        this.#rest(thread);
      },
      (error: unknown) => {
        this.#starting -= 1;
        // Every thread would fail in the same way: the functions module does not load.
        for (const { reject } of this.#waiting.splice(0)) reject(error);
      },
    );
  }

  #dropAborted(): void {
    for (let at = this.#waiting.length - 1; at >= 0; at -= 1) {
      const waiting = this.#waiting[at];
      if (waiting?.signal.aborted !== true) continue;
      this.#waiting.splice(at, 1);
      waiting.resolve({ ...stopResult("aborted"), events: [], logs: [] });
    }
  }
}
