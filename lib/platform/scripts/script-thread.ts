import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import type { Ask } from "../scripts.ts";
import {
  type Exec,
  type ExecRequest,
  type FromThread,
  REPLY_CELL,
  STOP_CELL,
  type TaskRequest,
  type ThreadData,
  WAITED_CELL,
  WAITS_CELL,
} from "./script-job.ts";
import type { ScriptMessage, ScriptReply } from "./script-messages.ts";
import { runAsk, runTask } from "./script-tasks.ts";
import { stopVerdict, type Verdict } from "./verdict.ts";

/** The engine stops itself at its deadline; long built-ins do not look at it, and then the thread is ended. */
const OUTER_GRACE_MS = 250;
/**
 * For the engine (a WebAssembly stack frame can be large) and for what functions hold outside the VM. What is young is
 * small: V8 would let each thread keep tens of megabytes for what lives for one script.
 */
const THREAD_LIMITS = { stackSizeMb: 8, maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 4 };
const MAX_TIMER_MS = 2 ** 31 - 1;
/**
 * The engine measures its processor time by itself. In a long built-in it does not: then the thread is ended once it
 * has been at work for so many times as long, since a busy machine gives it only a part of the processor.
 */
const CPU_TIMES = 4;
/** How often is looked whether a script that waits goes on, milliseconds. */
const LOOK_MS = 1_000;
/** About a third of the share of a thread of the service, or of a command, where both have work. */
const NICENESS = 5;

export interface ThreadOptions extends Pick<ThreadData, "wasm" | "functionsModule" | "keptGuests"> {
  /** Of `script-worker.ts`, or of what was built from it. */
  readonly worker: URL;
  readonly exec: Exec;
  /** How long a command of `exec` that was told to end may take to do so, milliseconds. */
  readonly execGraceMs: number;
  /** The thread is gone, by itself or ended by us. */
  readonly onGone: () => void;
}

interface Running {
  readonly job: ScriptMessage;
  readonly exec: AbortController;
  readonly ask: Ask | undefined;
  settle(reply: ScriptReply): void;
}

/** One worker thread, evaluating one script at a time. */
export class ScriptThread {
  readonly ready: Promise<void>;
  /** The run served last: its VM is likely still there. */
  lastIsolate = "";
  readonly #worker: Worker;
  readonly #cells: Int32Array;
  readonly #execPort: MessagePort;
  readonly #runCommand: Exec;
  readonly #functionsModule: string;
  readonly #graceMs: number;
  #running: Running | undefined;
  #rest: NodeJS.Timeout | undefined;
  #gone = false;

  constructor(options: ThreadOptions) {
    const { wasm, functionsModule, keptGuests, onGone } = options;
    const cells = new SharedArrayBuffer(16);
    const channel = new MessageChannel();
    const data: ThreadData = {
      wasm,
      functionsModule,
      cells,
      execPort: channel.port2,
      keptGuests,
      niceness: NICENESS,
    };
    this.#runCommand = options.exec;
    this.#functionsModule = functionsModule;
    this.#graceMs = options.execGraceMs + OUTER_GRACE_MS;
    this.#cells = new Int32Array(cells);
    this.#execPort = channel.port1;
    this.#worker = new Worker(options.worker, {
      workerData: data,
      transferList: [channel.port2],
      env: {},
      execArgv: [],
      // Engines print to the console when they trap; nobody reads it.
      stdout: true,
      stderr: true,
      resourceLimits: THREAD_LIMITS,
    });
    this.#worker.stdout.resume();
    this.#worker.stderr.resume();
    this.ready = new Promise((resolve, reject) => {
      this.#worker.on("message", (message: FromThread) => {
        if (message.kind === "ready") resolve();
        else if (message.kind === "done") this.#running?.settle(message.reply);
        else if (message.kind === "task" || message.kind === "ask") void this.#answer(message);
        else void this.#exec(message.request);
      });
      this.#worker.on("error", (error: Error & { code?: string }) => {
        this.#gone = true;
        reject(error);
        const outOfMemory = error.code === "ERR_WORKER_OUT_OF_MEMORY";
        this.#fail(
          outOfMemory ? stopVerdict("memory") : { ok: false, reason: "failed", message: error.message },
        );
      });
      this.#worker.on("exit", () => {
        this.#gone = true;
        clearTimeout(this.#rest);
        reject(new Error("the script thread ended"));
        this.#fail({ ok: false, reason: "failed", message: "the script thread ended" });
        this.#execPort.close();
        onGone();
      });
    });
  }

  /** Ended or about to: it takes no more scripts. */
  get gone(): boolean {
    return this.#gone;
  }

  /** Evaluates; when it does not stop in time, the thread is ended. */
  async run(job: ScriptMessage, signal: AbortSignal, ask?: Ask): Promise<ScriptReply> {
    const exec = new AbortController();
    for (const cell of [STOP_CELL, WAITS_CELL, WAITED_CELL]) Atomics.store(this.#cells, cell, 0);
    this.lastIsolate = job.isolate;
    clearTimeout(this.#rest);
    let outer: NodeJS.Timeout | undefined;
    let cpu: NodeJS.Timeout | undefined;
    const end = (reason: "timeout" | "cpu" | "aborted"): void => {
      exec.abort();
      this.#fail(stopVerdict(reason));
      this.end();
    };
    const endWithin = (milliseconds: number, reason: "timeout" | "aborted"): void => {
      clearTimeout(outer);
      outer = setTimeout(() => end(reason), Math.min(milliseconds, MAX_TIMER_MS));
    };
    const began = performance.now();
    const endAtCpu = (cpuMs: number): void => {
      const left = (): number =>
        cpuMs * CPU_TIMES - (performance.now() - began - Atomics.load(this.#cells, WAITED_CELL));
      const look = (): void => {
        if (Atomics.load(this.#cells, WAITS_CELL) === 0 && left() <= 0) end("cpu");
        else cpu = setTimeout(look, Math.min(MAX_TIMER_MS, Math.max(LOOK_MS, left())));
      };
      cpu = setTimeout(look, Math.min(MAX_TIMER_MS, left()));
    };
    const onAbort = (): void => {
      Atomics.store(this.#cells, STOP_CELL, 1);
      this.#wake();
      exec.abort();
      endWithin(this.#graceMs, "aborted");
    };
    try {
      return await new Promise((settle) => {
        this.#running = { job, exec, ask, settle };
        if (job.timeoutMs > 0) endWithin(job.timeoutMs + this.#graceMs, "timeout");
        if (job.cpuMs !== undefined) endAtCpu(job.cpuMs);
        signal.addEventListener("abort", onAbort, { once: true });
        if (signal.aborted) onAbort();
        this.#worker.postMessage(job);
      });
    } finally {
      clearTimeout(outer);
      clearTimeout(cpu);
      signal.removeEventListener("abort", onAbort);
      this.#running = undefined;
    }
  }

  end(): void {
    this.#gone = true;
    void this.#worker.terminate();
  }

  /** Ends the thread when it has had nothing to do for so long and `dispensable` says yes then. */
  endAfter(milliseconds: number, dispensable: () => boolean): void {
    clearTimeout(this.#rest);
    this.#rest = setTimeout(() => {
      if (dispensable()) this.end();
    }, milliseconds);
  }

  #fail(verdict: Extract<Verdict, { ok: false }>): void {
    this.#running?.settle({ ...verdict, events: [], logs: [] });
  }

  #wake(): void {
    Atomics.add(this.#cells, REPLY_CELL, 1);
    Atomics.notify(this.#cells, REPLY_CELL);
  }

  async #exec(request: ExecRequest): Promise<void> {
    const running = this.#running;
    if (running === undefined) return;
    const result = await this.#runCommand(request, running.job.token, running.exec.signal);
    this.#execPort.postMessage(result);
    this.#wake();
  }

  async #answer({ kind, request }: { kind: "task" | "ask"; request: TaskRequest }): Promise<void> {
    const running = this.#running;
    if (running === undefined) return;
    const result =
      kind === "task"
        ? await runTask(this.#functionsModule, request, running.exec.signal)
        : await runAsk(running.ask, request, running.exec.signal);
    this.#execPort.postMessage(result);
    this.#wake();
  }
}
