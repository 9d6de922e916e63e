import { readFile } from "node:fs/promises";
import { stopVerdict } from "./guest.ts";
import type { Processes } from "./processes.ts";
import type { ScriptMessage, ScriptReply } from "./protocol.ts";
import { ScriptThread } from "./script-thread.ts";
import { wasmApi } from "./web-assembly.ts";

const FEWEST_THREADS = 2;
const MOST_THREADS = 8;
/** When scripts wait this long for a thread there is one more, until there are most. */
const PATIENCE_MS = 100;
/** Threads above the fewest that have nothing to do for this long are ended. */
const IDLE_MS = 30_000;

interface Waiting {
  readonly job: ScriptMessage;
  readonly signal: AbortSignal;
  resolve(reply: ScriptReply | Promise<ScriptReply>): void;
  reject(error: unknown): void;
}

/** The threads that evaluate scripts: a few, and more while they are held up by long calls or loops. */
export class ScriptPool {
  readonly #wasm: WebAssembly.Module;
  readonly #functionsModule: string;
  readonly #processes: Processes;
  readonly #idle = new Set<ScriptThread>();
  readonly #waiting: Waiting[] = [];
  #threads = 0;
  #starting = 0;
  #patience: NodeJS.Timeout | undefined;

  private constructor(wasm: WebAssembly.Module, functionsModule: string, processes: Processes) {
    this.#wasm = wasm;
    this.#functionsModule = functionsModule;
    this.#processes = processes;
  }

  /** Compiles the engine once for all threads. */
  static async create(functionsModule: string, processes: Processes): Promise<ScriptPool> {
    const bytes = await readFile(new URL(import.meta.resolve("quickjs-wasi/quickjs.wasm")));
    return new ScriptPool(await wasmApi.compile(bytes), functionsModule, processes);
  }

  /** Evaluates on a free thread; the script's time starts then. Throws when no thread can be started. */
  run(request: ScriptMessage, signal: AbortSignal): Promise<ScriptReply> {
    const job = { ...request, env: this.#processes.environment(request.env) };
    return new Promise((resolve, reject) => {
      this.#waiting.push({ job, signal, resolve, reject });
      signal.addEventListener("abort", () => this.#dropAborted(), { once: true });
      this.#serve();
    });
  }

  #serve(): void {
    this.#dropAborted();
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const thread = this.#pick(next.job.isolate);
      if (thread === undefined) break;
      this.#waiting.shift();
      this.#idle.delete(thread);
      next.resolve(thread.run(next.job, next.signal).finally(() => this.#rest(thread)));
    }
    if (this.#waiting.length <= this.#starting) return;
    if (this.#threads < FEWEST_THREADS) this.#start();
    else if (this.#threads < MOST_THREADS) {
      this.#patience ??= setTimeout(() => {
        this.#patience = undefined;
        if (this.#waiting.length > this.#starting) this.#start();
        this.#serve();
      }, PATIENCE_MS);
    }
  }

  /** The thread that served this run last, else any that is free. */
  #pick(isolate: string): ScriptThread | undefined {
    let free: ScriptThread | undefined;
    for (const thread of this.#idle) {
      if (thread.lastIsolate === isolate) return thread;
      free ??= thread;
    }
    return free;
  }

  #rest(thread: ScriptThread): void {
    if (thread.gone) return;
    this.#idle.add(thread);
    this.#serve();
    if (this.#idle.has(thread)) thread.endAfter(IDLE_MS, () => this.#threads > FEWEST_THREADS);
  }

  #start(): void {
    this.#threads += 1;
    this.#starting += 1;
    const thread = new ScriptThread({
      wasm: this.#wasm,
      functionsModule: this.#functionsModule,
      processes: this.#processes,
      onGone: () => {
        this.#threads -= 1;
        this.#idle.delete(thread);
        this.#serve();
      },
    });
    thread.ready.then(
      () => {
        this.#starting -= 1;
        this.#rest(thread);
      },
      (error: unknown) => {
        this.#starting -= 1;
        // Every thread would fail alike: a functions module that does not load.
        for (const { reject } of this.#waiting.splice(0)) reject(error);
      },
    );
  }

  #dropAborted(): void {
    for (let at = this.#waiting.length - 1; at >= 0; at -= 1) {
      const waiting = this.#waiting[at];
      if (waiting?.signal.aborted !== true) continue;
      this.#waiting.splice(at, 1);
      waiting.resolve({ ...stopVerdict("aborted"), events: [], logs: [] });
    }
  }
}
