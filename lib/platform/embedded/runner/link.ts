import { type ChildProcess, fork } from "node:child_process";
import { createInterface } from "node:readline";
import { PlatformFault } from "../../faults.ts";
import type { Log } from "../../log.ts";
import { runHostCall } from "../../scripts/script-tasks.ts";
import type { CallHost } from "../../scripts.ts";
import type { FromRunner, ToRunner } from "./protocol.ts";

const READY_LIMIT_MS = 20_000;
const CLOSE_LIMIT_MS = 3_000;
/** A process that lived this many milliseconds did not fail at its start: the next one is started at once. */
const HEALTHY_AFTER_MS = 10_000;
const FIRST_BACKOFF_MS = 100;
const LONGEST_BACKOFF_MS = 10_000;
/**
 * Megabytes for new objects, of which V8 reserves three times as many, and for older ones before their first collection.
 * With Node's defaults, 16 and 256, a process that runs commands for hours grows all the time. Steps take no longer for it.
 */
const NEW_SPACE_MB = 1;
const OLD_SPACE_MB = 8;

type Answer<Reply> = Extract<FromRunner<Reply>, { kind: "ended" | "refused" }>;

interface Waiting<Reply> {
  readonly ask: CallHost | undefined;
  /** Aborted when the request has ended: responses to its host calls are no longer needed. */
  readonly over: AbortController;
  resolve(answer: Answer<Reply>): void;
  reject(error: PlatformFault): void;
}

/** The process ended while it handled the request. */
export class ProcessLostError extends PlatformFault {}

export interface LinkOptions {
  /** The kind of work, for errors and the log: `scripts`. */
  readonly what: string;
  readonly program: URL;
  readonly args: readonly string[];
  /** The process's whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly log: Log;
  /** Idle time after which the process is ended, in milliseconds. */
  readonly idleMs: number;
}

/** One runner process and its pending requests. */
interface Connected<Reply> {
  readonly child: ChildProcess;
  readonly ready: Promise<void>;
  readonly waiting: Map<number, Waiting<Reply>>;
}

/**
 * The server's side of the channel to a runner process. A request starts the process if it is not running; the process
 * is ended when it is idle.
 */
export class RunnerLink<Request, Reply> {
  readonly #options: LinkOptions;
  #connected: Connected<Reply> | undefined;
  /** Processes that were told to end. */
  readonly #ending = new Set<Promise<unknown>>();
  #idle: NodeJS.Timeout | undefined;
  #failures = 0;
  /** Earliest time of the next start, by the clock of this process. */
  #notBefore = 0;
  #lastId = 0;
  readonly #closed = new AbortController();

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  /** Process id; 0 if the process is not running. */
  get pid(): number {
    return this.#connected?.child.pid ?? 0;
  }

  /**
   * Throws the error that the process returned, and PlatformFault `unavailable` if it does not start, ends meanwhile,
   * or this link is closed.
   */
  async request(request: Request, signal: AbortSignal | undefined, ask?: CallHost): Promise<Reply> {
    await this.#backOff();
    const { child, ready, waiting } = this.#connect();
    this.#lastId += 1;
    const id = this.#lastId;
    const over = new AbortController();
    const abort = (): void => {
      over.abort();
      send<Request>(child, { kind: "abort", id });
    };
    try {
      const answer = await new Promise<Answer<Reply>>((resolve, reject) => {
        // Added immediately, so that the process does not count as idle while it starts.
        waiting.set(id, { ask, over, resolve, reject });
        ready.then(() => {
          send<Request>(child, { kind: "run", id, request, aborted: signal?.aborted === true });
          signal?.addEventListener("abort", abort, { once: true });
        }, reject);
      });
      if (answer.kind === "refused") throw new PlatformFault(answer.code, answer.detail);
      return answer.reply;
    } finally {
      waiting.delete(id);
      over.abort();
      signal?.removeEventListener("abort", abort);
      if (this.#connected?.child === child && waiting.size === 0) this.#rest();
    }
  }

  /** Ends the process and everything it runs; pending requests are rejected. */
  async close(): Promise<void> {
    this.#closed.abort();
    this.#end();
    await Promise.all(this.#ending);
  }

  async #backOff(): Promise<void> {
    const closed = this.#closed.signal;
    const delayMs = this.#notBefore - performance.now();
    if (delayMs > 0 && this.#connected === undefined && !closed.aborted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(done, delayMs);
        function done(): void {
          clearTimeout(timer);
          closed.removeEventListener("abort", done);
          resolve();
        }
        closed.addEventListener("abort", done, { once: true });
      });
    }
    if (closed.aborted) throw new PlatformFault("unavailable", `${this.#options.what} are closed`);
  }

  #connect(): Connected<Reply> {
    clearTimeout(this.#idle);
    this.#connected ??= this.#start();
    return this.#connected;
  }

  /** Detaches the process, so that no request is sent to a process that is about to end. */
  #rest(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#end(), this.#options.idleMs);
    this.#idle.unref();
  }

  #end(): void {
    clearTimeout(this.#idle);
    const child = this.#connected?.child;
    this.#connected = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    const last = setTimeout(() => child.kill("SIGKILL"), CLOSE_LIMIT_MS);
    const ended = gone.then(() => {
      clearTimeout(last);
      this.#ending.delete(ended);
    });
    this.#ending.add(ended);
    if (child.connected) child.disconnect();
  }

  #start(): Connected<Reply> {
    const { what, program, args, env, log } = this.#options;
    // In a separate session: a signal to the server's process group must not kill it, so that it can end its children.
    const child = fork(program, [...args], {
      env: { ...env },
      execArgv: [
        `--max-semi-space-size=${NEW_SPACE_MB}`,
        "--memory-saver-mode",
        `--initial-old-space-size=${OLD_SPACE_MB}`,
      ],
      stdio: ["ignore", "ignore", "pipe", "ipc"],
      detached: true,
    });
    const started = performance.now();
    const waiting = new Map<number, Waiting<Reply>>();
    if (child.stderr !== null) {
      createInterface({ input: child.stderr }).on("line", (line) => log.warn("runner process", { line }));
    }
    let isReady = false;
    const ready = new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => child.kill("SIGKILL"), READY_LIMIT_MS);
      child.on("message", (message: FromRunner<Reply>) => {
        if (message.kind === "ready") {
          clearTimeout(late);
          isReady = true;
          resolve();
        } else if (message.kind === "warning") log.warn(message.message, message.fields);
        else if (message.kind === "ask") void answer(child, message, waiting.get(message.id));
        else waiting.get(message.id)?.resolve(message);
      });
      const onEnd = (how: object): void => {
        clearTimeout(late);
        const fault = isReady
          ? new ProcessLostError("unavailable", `the process of ${what} ended`)
          : new PlatformFault("unavailable", `the process of ${what} did not start`);
        reject(fault);
        for (const one of waiting.values()) one.reject(fault);
        waiting.clear();
        this.#onEnd(child, performance.now() - started, how);
      };
      child.on("error", (error) => {
        log.warn(`the channel to the process of ${what} failed`, { error: error.message });
        // Otherwise the exit event follows.
        if (child.pid === undefined) onEnd({ error: error.message });
      });
      child.once("exit", (code, signal) => onEnd({ code, signal }));
    });
    return { child, ready, waiting };
  }

  #onEnd(child: ChildProcess, livedMs: number, how: object): void {
    const { what, log } = this.#options;
    if (this.#connected?.child !== child) return;
    this.#connected = undefined;
    clearTimeout(this.#idle);
    this.#failures = livedMs > HEALTHY_AFTER_MS ? 0 : this.#failures + 1;
    const delayMs =
      this.#failures <= 1 ? 0 : Math.min(FIRST_BACKOFF_MS * 2 ** (this.#failures - 2), LONGEST_BACKOFF_MS);
    this.#notBefore = performance.now() + delayMs;
    log.error(`the process of ${what} ended unexpectedly`, { ...how, restartInMs: delayMs });
  }
}

/** The script's timeout bounds the wait in the runner process. */
async function answer<Reply>(
  child: ChildProcess,
  { id, callId, what, input }: Extract<FromRunner<Reply>, { kind: "ask" }>,
  asker: Waiting<Reply> | undefined,
): Promise<void> {
  if (asker === undefined) return;
  const request = { name: what, input, timeoutMs: 0 };
  const result = await runHostCall(asker.ask, request, asker.over.signal);
  send<never>(child, { kind: "answer", id, callId, result });
}

function send<Request>(child: ChildProcess, message: ToRunner<Request>): void {
  // If the channel is closed, the process is ending, and its exit rejects pending requests.
  if (child.connected) child.send(message, () => {});
}
