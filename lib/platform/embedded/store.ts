import { closeSync, openSync } from "node:fs";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { PlatformFault } from "../faults.ts";
import { LogSync } from "./log-sync.ts";
import { toStorageFault } from "./storage-faults.ts";
import { applyEffects, type Done, type Job, type Reader, type Row, Tx } from "./transaction.ts";

/** Maximum number of writes per group, which bounds how long a group blocks the event loop. */
const GROUP_MAX = 500;
/** Milliseconds that a `writeSoon` may wait for another write. */
const SOON_MS = 20;

/**
 * A checkpoint copies the pages of the log into the file, in the commit that makes the log this long, pages of 4 KB: it
 * blocks the event loop for some 15 ms, and at 4,000 pages for 40 to 70 (decision 0260).
 */
const CHECKPOINT_PAGES = 1000;

const SETTINGS = `
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA cache_size = -16384;
PRAGMA mmap_size = 0;
PRAGMA temp_store = MEMORY;
PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES};
PRAGMA journal_size_limit = 16777216;
`;

/**
 * One SQLite file that is written in group commits. A group is complete, and is committed in one transaction, in the
 * first turn of the event loop that adds no write to it while the log is not being synced: the end of a sync lets
 * callers continue, whose next writes join the group.
 *
 * Committed data is visible to every reader and survives the end of the process. A power failure may undo the last
 * commits, but never one without all later ones. So work that only leads to further writes here may continue at the
 * commit, and only effects outside wait until the commit is on disk.
 *
 * The file is locked while it is open, which avoids the shared-memory file (whose pages cannot fault when the disk is
 * full) and the locks of every read. `observe` receives every fault of the storage.
 */
export class Store implements Reader {
  readonly #db: DatabaseSync;
  readonly #tx: Tx;
  readonly #log: LogSync;
  readonly #observe: (fault: PlatformFault) => void;
  #waiting: Job[] = [];
  #isScheduled = false;
  #soon: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(path: string, observe: (fault: PlatformFault) => void = () => {}) {
    closeSync(openSync(path, "a", 0o600));
    this.#db = new DatabaseSync(path, { timeout: 0 });
    this.#tx = new Tx(this.#db);
    this.#log = new LogSync(path);
    this.#observe = observe;
    try {
      this.#db.exec(SETTINGS);
    } catch (error) {
      this.#db.close();
      throw toStorageFault(error);
    }
  }

  get(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#observed(() => this.#tx.get(sql, ...values));
  }

  all(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#observed(() => this.#tx.all(sql, ...values));
  }

  *iterate(sql: string, ...values: SQLInputValue[]): Iterable<Row> {
    try {
      yield* this.#tx.iterate(sql, ...values);
    } catch (error) {
      throw this.#observedFault(error);
    }
  }

  /**
   * Runs `work` in the next group commit and resolves after it. `work` must check everything that it depends on before
   * its first write, and may run again if another write of its group had to be rolled back. Rejects with PlatformFault
   * `storage_full`, `storage_read_only` or `unavailable` if nothing was written.
   */
  write<Result>(work: (tx: Tx) => Result): Promise<Result> {
    if (!this.#isClosed) this.#schedule();
    return this.#enqueue(work);
  }

  /** Like `write`, for work that nobody waits for: it joins the group of another write, or forms one a little later. */
  writeSoon<Result>(work: (tx: Tx) => Result): Promise<Result> {
    if (!this.#isClosed) this.#soon ??= setTimeout(() => this.#schedule(), SOON_MS);
    return this.#enqueue(work);
  }

  /** Resolves when everything committed before the call is on disk. */
  durable(): Promise<void> {
    return new Promise((resolve) => this.#log.onceDurable([resolve]));
  }

  /** Changes the schema: at once, outside any group. */
  define(sql: string): void {
    this.#observed(() => this.#db.exec(sql));
  }

  /** Runs several schema changes in one transaction, which costs as much as a single change. Allows no other writes. */
  defineTogether<Result>(work: () => Result): Result {
    try {
      this.#db.exec("BEGIN");
      const result = work();
      this.#db.exec("COMMIT");
      return result;
    } catch (error) {
      this.#tx.rollBack();
      throw toStorageFault(error);
    }
  }

  /** Releases the memory of the page cache. */
  shrink(): void {
    if (!this.#isClosed) this.define("PRAGMA shrink_memory");
  }

  /** Commits pending writes, then closes; later writes are rejected. */
  close(): void {
    if (this.#isClosed) return;
    while (this.#waiting.length > 0) this.#commitGroup();
    clearTimeout(this.#soon);
    this.#isClosed = true;
    this.#log.close();
    this.#db.close();
  }

  #enqueue<Result>(work: (tx: Tx) => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) reject(new PlatformFault("unavailable", "the store is closed"));
      else this.#waiting.push({ work, resolve, reject });
    });
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#commitIfComplete(0));
  }

  /** `before` is the number of writes in the previous turn. */
  #commitIfComplete(before: number): void {
    const size = this.#waiting.length;
    if (this.#log.isRunning) this.#log.afterSync(() => setImmediate(() => this.#commitIfComplete(0)));
    else if (size > before && size < GROUP_MAX) setImmediate(() => this.#commitIfComplete(size));
    else {
      this.#isScheduled = false;
      if (size > GROUP_MAX) this.#schedule();
      if (size > 0) this.#commitGroup();
    }
  }

  #commitGroup(): void {
    clearTimeout(this.#soon);
    this.#soon = undefined;
    const jobs = new Set(this.#waiting.splice(0, GROUP_MAX));
    let done: readonly Done[];
    try {
      done = this.#tx.commit(jobs);
    } catch (error) {
      const fault = this.#observedFault(error);
      for (const job of jobs) job.reject(fault);
      return;
    }
    // Outside the try block: a failed sync ends the process, and committed work never runs again.
    this.#log.committed();
    const unsynced: (() => void)[] = [];
    for (const { job, value, commitEffects, durableEffects } of done) {
      applyEffects(job, commitEffects);
      const settle = (): void => {
        applyEffects(job, durableEffects);
        job.resolve(value as never);
      };
      if (durableEffects.length === 0) settle();
      else unsynced.push(settle);
    }
    this.#log.onceDurable(unsynced);
  }

  #observed<Result>(read: () => Result): Result {
    try {
      return read();
    } catch (error) {
      throw this.#observedFault(error);
    }
  }

  #observedFault(error: unknown): unknown {
    const fault = toStorageFault(error);
    if (fault instanceof PlatformFault) this.#observe(fault);
    return fault;
  }
}
