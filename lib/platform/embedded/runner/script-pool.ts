import { readFile } from "node:fs/promises";
import type { Processes } from "./processes.ts";
import type { ScriptMessage, ScriptReply } from "./protocol.ts";
import { ScriptThread } from "./script-thread.ts";
import { stopVerdict } from "./guest.ts";

const FEWEST_THREADS = 2;
const MOST_THREADS = 8;
/** A script that waits this long for a thread gets one more, until there are most. */
const PATIENCE_MS = 100;
/** Threads above the fewest that had nothing to do for this long are ended. */
const IDLE_MS = 30_000;

interface Waiting {
  readonly job: ScriptMessage;
  readonly signal: AbortSignal;
  resolve(reply: ScriptReply): void;
}

/** The threads that evaluate scripts: a few, more while they are held up by long calls or loops. */
export class ScriptPool {
  readonly #wasm: WebAssembly.Module;
  readonly #functionsModule: string;
  readonly #processes: Processes;
  readonly #idle = new Set<ScriptThread>();
  readonly #waiting: Waiting[] = [];
  #threads = 0;
  #patience: NodeJS.Timeout | undefined;
  #shrink: NodeJS.Timeout | undefined;
  #startError: string | undefined;

  private constructor(wasm: WebAssembly.Module, functionsModule: string, processes: Processes) {
    this.#wasm = wasm;
    this.#functionsModule = functionsModule;
    this.#processes = processes;
  }

  /** Compiles the engine once for all threads. */
  static async create(functionsModule: string, processes: Processes): Promise<ScriptPool> {
    const bytes = await readFile(new URL(import.meta.resolve("quickjs-wasi/quickjs.wasm")));
    return new ScriptPool(await WebAssembly.compile(bytes), functionsModule, processes);
  }

  /** Evaluates on a free thread; its time starts then. Throws when threads cannot start at all. */
  run(request: ScriptMessage, signal: AbortSignal): Promise<ScriptReply> {
    const job = { ...request, env: this.#processes.environment(request.env) };
    return new Promise((resolve, reject) => {
      this.#startError = undefined;
      this.#waiting.push({ job, signal, resolve, reject });
      this.#serve();
    });
  }
}
