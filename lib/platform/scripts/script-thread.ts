import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import type { CallHost } from "../scripts.ts";
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
import { runHostCall, runTask } from "./script-tasks.ts";
import { type StopResult, stopResult } from "./stop-result.ts";

/**
 * Milliseconds after the engine's own deadline at which the thread is ended: long built-ins do not check the deadline.
 */
const OUTER_GRACE_MS = 250;
/**
 * Limits for the engine (a WebAssembly stack frame can be large) and for the memory of functions outside the VM. The
 * young generation is small: otherwise V8 would keep tens of megabytes per thread for short-lived objects.
 */
const THREAD_LIMITS = { stackSizeMb: 8, maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 4 };
const MAX_TIMER_MS = 2 ** 31 - 1;
/**
 * The engine measures its CPU time itself, but not in a long built-in. Then the thread is ended after this multiple of
 * the CPU limit in wall time, because a busy machine gives it only a share of the CPU.
 */
const CPU_TIMES = 4;
/** Milliseconds between checks whether a waiting script continues. */
const LOOK_MS = 1_000;
/** About a third of the CPU share of a service thread or a command on a busy machine. */
const NICENESS = 5;

export interface ThreadOptions extends Pick<ThreadData, "wasm" | "functionsModule" | "keptGuests"> {
  /** URL of `script-worker.ts`, or of its build. */
  readonly worker: URL;
  readonly exec: Exec;
  /** Milliseconds that an `exec` command may take to end after it was told to. */
  readonly execGraceMs: number;
  /** Called when the thread has ended, by itself or because it was terminated. */
  readonly onGone: () => void;
}

interface Running {
  readonly job: ScriptMessage;
  readonly exec: AbortController;
  readonly ask: CallHost | undefined;
  settle(reply: ScriptReply): void;
}

/** One worker thread, evaluating one script at a time. */
export class ScriptThread {
  readonly ready: Promise<void>;
  /** The run served last: its VM is probably still available. */
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
      // Engines print to the console when they trap; the output is dropped.
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
          outOfMemory ? stopResult("memory") : { ok: false, reason: "failed", message: error.message },
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

  /** Ended or ending: it accepts no more scripts. */
  get gone(): boolean {
    return this.#gone;
  }

  /** Evaluates a script; the thread is ended if the script does not stop in time. */
  async run(job: ScriptMessage, signal: AbortSignal, ask?: CallHost): Promise<ScriptReply> {
    const exec = new AbortController();
    for (const cell of [STOP_CELL, WAITS_CELL, WAITED_CELL]) Atomics.store(this.#cells, cell, 0);
    this.lastIsolate = job.isolate;
    clearTimeout(this.#rest);
    let outer: NodeJS.Timeout | undefined;
    let cpu: NodeJS.Timeout | undefined;
    const end = (reason: "timeout" | "cpu" | "aborted"): void => {
      exec.abort();
      this.#fail(stopResult(reason));
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

  /** Ends the thread after this idle time if `dispensable` then returns true. */
  endAfter(milliseconds: number, dispensable: () => boolean): void {
    clearTimeout(this.#rest);
    this.#rest = setTimeout(() => {
      if (dispensable()) this.end();
    }, milliseconds);
  }

  #fail(verdict: Extract<StopResult, { ok: false }>): void {
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
        : await runHostCall(running.ask, request, running.exec.signal);
    this.#execPort.postMessage(result);
    this.#wake();
  }
}
