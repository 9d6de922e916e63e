import { close, closeSync, fdatasync, fdatasyncSync, fsyncSync, openSync } from "node:fs";
import { dirname } from "node:path";

/** Milliseconds after which commits that nobody waits for are synced. */
const SYNC_AFTER_MS = 50;
/**
 * A sync runs in the event loop if at most this many callbacks wait for it and the last sync took at most this many
 * milliseconds: passing it to a thread and back would take longer.
 */
const BLOCKING_CALLBACKS_MAX = 2;
const BLOCKING_MS_MAX = 0.5;
/**
 * A sync that takes longer than `STALL_MS` means that the disk stalls. For `AFTER_STALL_MS`, syncs then run in a thread:
 * in the event loop, the next stall would also block reads. Milliseconds.
 */
const STALL_MS = 10;
const AFTER_STALL_MS = 10_000;

/**
 * Syncs the write-ahead log of a database, one sync at a time, usually in a thread. Everything that was committed before
 * a sync starts is on disk when it ends. A failed sync ends the process: only a restart can read the state of the log
 * then.
 */
export class LogSync {
  readonly #database: string;
  #log: number | undefined;
  /** Whether there are commits since the last sync started. */
  #hasCommits = false;
  /** Callbacks of the running sync. */
  #running: (() => void)[] | undefined;
  /** Callbacks of the sync after it. */
  #next: (() => void)[] = [];
  #lastMs = 0;
  /** When the last stall ended, milliseconds of `performance.now()`. */
  #stalledAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(database: string) {
    this.#database = database;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** The owner calls this after each commit. */
  committed(): void {
    this.#hasCommits = true;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#start();
    }, SYNC_AFTER_MS).unref();
  }

  /** Calls back when all earlier commits are on disk: now if they already are. */
  onceDurable(callbacks: readonly (() => void)[]): void {
    if (callbacks.length === 0) return;
    if (this.#hasCommits) {
      this.#next.push(...callbacks);
      this.#start();
    } else for (const callback of callbacks) this.afterSync(callback);
  }

  /** Calls back after the running sync: now if none is running. */
  afterSync(callback: () => void): void {
    if (this.#running === undefined || this.#isClosed) callback();
    else this.#running.push(callback);
  }

  /** Syncs at once, and calls everybody back. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    if (this.#log !== undefined) fdatasyncSync(this.#log);
    this.#hasCommits = false;
    callAll([...(this.#running ?? []), ...this.#next]);
    if (this.#running === undefined && this.#log !== undefined) closeSync(this.#log);
  }

  #start(): void {
    if (this.#running !== undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#hasCommits = false;
    this.#running = this.#next;
    this.#next = [];
    this.#log ??= this.#open();
    const startedAt = performance.now();
    const end = (error: Error | null): void => {
      const endedAt = performance.now();
      this.#lastMs = endedAt - startedAt;
      if (this.#lastMs > STALL_MS) this.#stalledAt = endedAt;
      this.#end(error);
    };
    const isFast = this.#lastMs <= BLOCKING_MS_MAX && startedAt - this.#stalledAt > AFTER_STALL_MS;
    if (isFast && this.#running.length <= BLOCKING_CALLBACKS_MAX) {
      try {
        fdatasyncSync(this.#log);
      } catch (error) {
        // Not into a caller, who would continue: it ends the process.
        setImmediate(() => {
          throw error;
        });
        return;
      }
      end(null);
    } else fdatasync(this.#log, end);
  }

  #end(error: Error | null): void {
    const callbacks = this.#running ?? [];
    this.#running = undefined;
    if (this.#isClosed) {
      if (this.#log !== undefined) close(this.#log, () => {});
      return;
    }
    if (error !== null) throw error;
    callAll(callbacks);
    if (this.#next.length > 0) this.#start();
    else if (this.#hasCommits) this.committed();
  }

  /** Opens the log, which exists after the first commit, and syncs its folder. */
  #open(): number {
    const folder = openSync(dirname(this.#database), "r");
    fsyncSync(folder);
    closeSync(folder);
    return openSync(`${this.#database}-wal`, "r");
  }
}

function callAll(callbacks: readonly (() => void)[]): void {
  for (const callback of callbacks) callback();
}
