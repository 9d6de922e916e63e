import { type ChildProcess, fork } from "node:child_process";
import { createInterface } from "node:readline";
import { PlatformFault } from "../../faults.ts";
import type { Log } from "../../log.ts";
import type { ScriptMessage } from "../../scripts/script-messages.ts";
import type { CommandMessage, FromRunner, ToRunner, Work } from "./protocol.ts";

const READY_LIMIT_MS = 20_000;
const CLOSE_LIMIT_MS = 3_000;
/** A runner that lived this long did not fail by its start: the next restart is at once again. */
const HEALTHY_AFTER_MS = 10_000;
const FIRST_BACKOFF_MS = 100;
const LONGEST_BACKOFF_MS = 10_000;

export type Job =
  | { readonly kind: "command"; readonly request: CommandMessage }
  | { readonly kind: "script"; readonly request: ScriptMessage };

type Answer = Extract<FromRunner, { id: number }>;

interface Waiting {
  readonly token: string;
  resolve(answer: Answer): void;
  reject(error: PlatformFault): void;
}

/** The server's side of the channel to its runner process, which it starts again when it dies by itself. */
export class RunnerLink {
  readonly #args: readonly string[];
  readonly #env: Readonly<Record<string, string>>;
  readonly #log: Log;
  readonly #waiting = new Map<number, Waiting>();
  #lostTokens: string[] = [];
  #up: Promise<ChildProcess>;
  #child: ChildProcess | undefined;
  #cancelRestart: () => void = () => {};
  #failures = 0;
  #lastId = 0;
  #closed = false;

  private constructor(args: readonly string[], env: Readonly<Record<string, string>>, log: Log) {
    this.#args = args;
    this.#env = env;
    this.#log = log;
    this.#up = this.#start();
  }

  /** Starts the process and waits until it takes requests. Throws PlatformFault `unavailable`. */
  static async open(
    args: readonly string[],
    env: Readonly<Record<string, string>>,
    log: Log,
  ): Promise<RunnerLink> {
    const link = new RunnerLink(args, env, log);
    try {
      await link.#up;
      return link;
    } catch (error) {
      await link.close();
      throw error;
    }
  }

  /** Of the running process; 0 while there is none. */
  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Throws what the runner refused with, and PlatformFault `unavailable` when the runner ends meanwhile. */
  async request(job: Job, signal: AbortSignal | undefined): Promise<Answer> {
    const child = await this.#up;
    if (this.#closed || this.#child !== child)
      throw new PlatformFault("unavailable", "the runner process ended");
    this.#lastId += 1;
    const id = this.#lastId;
    const work: Work = { ...job, id, aborted: signal?.aborted === true };
    const abort = (): void => this.#send(child, { kind: "abort", id });
    signal?.addEventListener("abort", abort, { once: true });
    try {
      const answer = await new Promise<Answer>((resolve, reject) => {
        this.#waiting.set(id, { token: job.request.token, resolve, reject });
        this.#send(child, work);
      });
      if (answer.kind === "refused") throw new PlatformFault(answer.code, answer.detail);
      return answer;
    } finally {
      this.#waiting.delete(id);
      signal?.removeEventListener("abort", abort);
    }
  }

  /** Ends the runner and with it every process and script; requests under way are rejected. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelRestart();
    this.#up.catch(() => {});
    const child = this.#child;
    if (child === undefined) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    const last = setTimeout(() => child.kill("SIGKILL"), CLOSE_LIMIT_MS);
    if (child.connected) child.disconnect();
    await gone;
    clearTimeout(last);
  }

  #start(): Promise<ChildProcess> {
    // A session of its own: a signal to the server's process group must leave it alive to end the steps.
    const child = fork(new URL("./main.ts", import.meta.url), [...this.#args], {
      env: { ...this.#env },
      execArgv: [],
      stdio: ["ignore", "ignore", "pipe", "ipc"],
      detached: true,
    });
    const started = Date.now();
    this.#child = child;
    if (child.stderr !== null) {
      createInterface({ input: child.stderr }).on("line", (line) =>
        this.#log.warn("runner process", { line }),
      );
    }
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => child.kill("SIGKILL"), READY_LIMIT_MS);
      child.on("message", (message: FromRunner) => {
        if (message.kind === "ready") {
          clearTimeout(late);
          resolve(child);
        } else this.#receive(message);
      });
      // A message that could not be sent: the exit that follows settles everything.
      child.on("error", (error) => this.#log.warn("the runner's channel failed", { error: error.message }));
      child.once("exit", (code, signal) => {
        clearTimeout(late);
        reject(new PlatformFault("unavailable", "the runner process did not start"));
        this.#onExit(Date.now() - started, { code, signal });
      });
    });
  }

  #onExit(livedMs: number, how: { code: number | null; signal: string | null }): void {
    this.#child = undefined;
    for (const waiting of this.#waiting.values()) {
      this.#lostTokens.push(waiting.token);
      waiting.reject(new PlatformFault("unavailable", "the runner process ended"));
    }
    this.#waiting.clear();
    if (this.#closed) return;
    this.#failures = livedMs > HEALTHY_AFTER_MS ? 0 : this.#failures + 1;
    const delayMs =
      this.#failures <= 1 ? 0 : Math.min(FIRST_BACKOFF_MS * 2 ** (this.#failures - 2), LONGEST_BACKOFF_MS);
    this.#log.error("the runner process ended by itself", { ...how, restartInMs: delayMs });
    this.#up = new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#start().then(resolve, reject), delayMs);
      this.#cancelRestart = () => {
        clearTimeout(timer);
        reject(new PlatformFault("unavailable", "the runner was closed"));
      };
    });
    this.#up.then(
      (child) => {
        const tokens = this.#lostTokens.splice(0);
        if (tokens.length > 0) this.#send(child, { kind: "sweep", tokens });
      },
      () => {},
    );
  }

  #receive(message: FromRunner): void {
    if (message.kind === "left-over") {
      this.#log.warn("ended processes that a step left behind", { count: message.count });
    } else if (message.kind !== "ready") this.#waiting.get(message.id)?.resolve(message);
  }

  #send(child: ChildProcess, message: ToRunner): void {
    // When the channel is closed the process is ending, and its exit rejects what waits.
    if (child.connected) child.send(message, () => {});
  }
}
