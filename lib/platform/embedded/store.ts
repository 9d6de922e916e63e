import { close, closeSync, fdatasync, fdatasyncSync, fsyncSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from "node:sqlite";
import { PlatformFault } from "../faults.ts";
import { asFault, storageFault } from "./storage-faults.ts";

export type Row = Record<string, SQLOutputValue>;

/** Reads. Statements are cached by their text, so the text must come from a bounded set. */
export interface Reader {
  get(sql: string, ...values: SQLInputValue[]): Row | undefined;
  all(sql: string, ...values: SQLInputValue[]): Row[];
  iterate(sql: string, ...values: SQLInputValue[]): Iterable<Row>;
}

export interface Tx extends Reader {
  /** Number of rows changed. */
  run(sql: string, ...values: SQLInputValue[]): number;
  /** Runs at the commit, before the promise of the write resolves; never after a failed one. */
  afterCommit(effect: () => void): void;
  /** Runs once the commit is on disk, before the promise of the write resolves; the promise then waits for it. */
  onceDurable(effect: () => void): void;
}

/**
 * Committed data is visible to every reader and survives the end of the process. A power failure may undo the last
 * commits, but never one without all later ones. So work that only leads to further writes here may continue at the
 * commit, and only effects outside wait until the commit is on disk.
 */
export interface Store extends Reader {
  /**
   * Runs `work` in the next group commit and resolves after it. `work` must check everything that it depends on before
   * its first write, and may run again if another write of its group had to be rolled back. Rejects with PlatformFault
   * `storage_full`, `storage_read_only` or `unavailable` if nothing was written.
   */
  write<Result>(work: (tx: Tx) => Result): Promise<Result>;
  /** Like `write`, for work that nobody waits for: it joins the next group, or forms one a little later. */
  writeSoon<Result>(work: (tx: Tx) => Result): Promise<Result>;
  /** Resolves when everything committed before the call is on disk. */
  durable(): Promise<void>;
  /** Changes the schema: at once, outside any group. */
  define(sql: string): void;
  /** Runs several schema changes in one transaction, which costs as much as a single change. Allows no other writes. */
  defineTogether<Result>(work: () => Result): Result;
  /** Releases the memory of the page cache. */
  shrink(): void;
  /** Commits pending writes, then closes; later writes are rejected. */
  close(): void;
}

interface Job {
  readonly work: (tx: Tx) => unknown;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

interface Done {
  readonly job: Job;
  readonly value: unknown;
  readonly effects: readonly (() => void)[];
  readonly durableEffects: readonly (() => void)[];
}

/** Maximum number of writes per group, which bounds how long a group blocks the event loop. */
const GROUP_LIMIT = 500;
/** Milliseconds that a `writeSoon` may wait for a group. */
const SOON_MS = 20;
/** Maximum number of event loop turns that a growing group waits. */
const TURNS_MAX = 8;
/** Up to this many writes or waiters are served as soon as possible. */
const FEW = 2;
/**
 * If no response outside waits and a sync takes at most this many milliseconds, the event loop runs it synchronously:
 * passing it to a thread and back takes as long again.
 */
const WAITED_FOR_MS = 0.5;
/** Milliseconds after which data that nobody waits for is synced. */
const SYNC_AFTER_MS = 50;

const SETTINGS = `
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA cache_size = -16384;
PRAGMA mmap_size = 0;
PRAGMA temp_store = MEMORY;
PRAGMA wal_autocheckpoint = 4000;
PRAGMA journal_size_limit = 16777216;
`;

/**
 * One SQLite file that is written in group commits: all writes requested in the same turn of the event loop share one
 * transaction. SQLite appends it to its log without waiting for the disk. The log is synced here, outside the event
 * loop, and everything committed before a sync starts is on disk when it ends. The file is locked while it is open,
 * which avoids the shared-memory file (whose pages cannot fault when the disk is full) and the locks of every read.
 * `observe` receives every fault of the storage.
 */
export function openStore(path: string, observe: (fault: PlatformFault) => void = () => {}): Store {
  const faulty = (error: unknown): unknown => {
    const fault = asFault(error);
    if (fault instanceof PlatformFault) observe(fault);
    return fault;
  };
  closeSync(openSync(path, "a", 0o600));
  const db = new DatabaseSync(path, { timeout: 0 });
  const statements = new Map<string, StatementSync>();
  const prepared = (sql: string): StatementSync => {
    const known = statements.get(sql);
    if (known) return known;
    const statement = db.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  const read = <Result>(reading: () => Result): Result => {
    try {
      return reading();
    } catch (error) {
      throw faulty(error);
    }
  };
  try {
    db.exec(SETTINGS);
  } catch (error) {
    db.close();
    throw asFault(error);
  }

  let waiting: Job[] = [];
  let scheduled = false;
  let closed = false;
  let dirty = false;
  let effects: (() => void)[] = [];
  let durableEffects: (() => void)[] = [];

  const reader: Reader = {
    get: (sql, ...values) => prepared(sql).get(...values),
    all: (sql, ...values) => prepared(sql).all(...values),
    iterate: (sql, ...values) => prepared(sql).iterate(...values) as Iterable<Row>,
  };
  const tx: Tx = {
    ...reader,
    run: (sql, ...values) => {
      dirty = true;
      return Number(prepared(sql).run(...values).changes);
    },
    afterCommit: (effect) => {
      effects.push(effect);
    },
    onceDurable: (effect) => {
      durableEffects.push(effect);
    },
  };

  const rollBack = (): void => {
    // SQLite has already rolled back after some faults (disk full, I/O).
    if (db.isTransaction) db.exec("ROLLBACK");
  };

  /** Runs the jobs in the open transaction; false if one failed after a write, so that all must be rolled back. */
  const runJobs = (jobs: ReadonlySet<Job>, refused: Set<Job>, done: Done[]): boolean => {
    for (const job of jobs) {
      if (refused.has(job)) continue;
      dirty = false;
      effects = [];
      durableEffects = [];
      try {
        const value = job.work(tx);
        done.push({ job, value, effects, durableEffects });
      } catch (error) {
        if (storageFault(error)) throw error;
        refused.add(job);
        job.reject(error);
        if (dirty) return false;
      }
    }
    return true;
  };

  const takeEffect = ({ job }: Done, effectsOfJob: readonly (() => void)[]): void => {
    try {
      for (const effect of effectsOfJob) effect();
    } catch (error) {
      job.reject(error);
    }
  };

  /** Callbacks that wait until everything committed is on disk. */
  let unsynced: (() => void)[] = [];
  let syncing: (() => void)[] | undefined;
  /** Nothing was committed since the last sync started. */
  let isSynced = true;
  let lateSync: NodeJS.Timeout | undefined;
  let log: number | undefined;
  /** Opened at the first commit, because the log may not exist earlier. The folder is synced too. */
  const openLog = (): number => {
    const folder = openSync(dirname(path), "r");
    fsyncSync(folder);
    closeSync(folder);
    return openSync(`${path}-wal`, "r");
  };
  /** The number of waiting callbacks that lead to responses outside. */
  let acknowledgements = 0;
  let syncMs = 0;
  const sync = (): void => {
    if (syncing !== undefined || closed) return;
    clearTimeout(lateSync);
    lateSync = undefined;
    log ??= openLog();
    isSynced = true;
    syncing = unsynced;
    unsynced = [];
    const begunAt = performance.now();
    const ended = (error: Error | null): void => {
      syncMs = performance.now() - begunAt;
      synced(error);
    };
    if (acknowledgements > 0 || syncing.length > FEW || syncMs > WAITED_FOR_MS) {
      acknowledgements = 0;
      fdatasync(log, ended);
    } else {
      fdatasyncSync(log);
      ended(null);
    }
  };
  const synced = (error: Error | null): void => {
    const waited = syncing ?? [];
    syncing = undefined;
    if (closed) {
      if (log !== undefined) close(log, () => {});
      return;
    }
    // The state of the log is unknown now: only a restart can read it.
    if (error !== null) throw error;
    for (const settled of waited) settled();
    if (unsynced.length > 0) sync();
    if (held) {
      held = false;
      setImmediate(flush);
    }
  };

  const committed = (done: readonly Done[]): void => {
    isSynced = false;
    for (const one of done) {
      takeEffect(one, one.effects);
      const settle = (): void => {
        takeEffect(one, one.durableEffects);
        one.job.resolve(one.value as never);
      };
      if (one.durableEffects.length === 0) settle();
      else unsynced.push(settle);
    }
    if (unsynced.length > 0) sync();
    else if (syncing === undefined) lateSync ??= setTimeout(sync, SYNC_AFTER_MS).unref();
  };

  /** One transaction of all jobs that were not rejected; repeated without each job that must be rolled back. */
  const commitJobs = (jobs: ReadonlySet<Job>, refused: Set<Job>): readonly Done[] => {
    for (;;) {
      const done: Done[] = [];
      prepared("BEGIN IMMEDIATE").run();
      if (runJobs(jobs, refused, done)) {
        prepared("COMMIT").run();
        return done;
      }
      rollBack();
    }
  };

  const commit = (group: readonly Job[]): void => {
    const jobs = new Set(group);
    const refused = new Set<Job>();
    let done: readonly Done[];
    try {
      try {
        done = commitJobs(jobs, refused);
      } catch (error) {
        rollBack();
        if (storageFault(error)?.code !== "storage_full") throw error;
        // The log may contain data that fits into the file: a checkpoint releases its space.
        db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
        done = commitJobs(jobs, refused);
      }
    } catch (error) {
      rollBack();
      const fault = faulty(error);
      for (const job of jobs) job.reject(fault);
      return;
    }
    // Outside the try block: a failed sync ends the process, and committed work never runs again.
    committed(done);
  };

  let soon: NodeJS.Timeout | undefined;
  const enqueue = <Result>(work: (tx: Tx) => Result, urgent: boolean): Promise<Result> =>
    new Promise((resolve, reject) => {
      if (closed) {
        reject(new PlatformFault("unavailable", "the store is closed"));
        return;
      }
      waiting.push({ work, resolve, reject });
      if (scheduled) return;
      if (urgent) schedule();
      else soon ??= setTimeout(schedule, SOON_MS);
    });
  const schedule = (): void => {
    clearTimeout(soon);
    soon = undefined;
    if (scheduled || waiting.length === 0) return;
    scheduled = true;
    setImmediate(flush);
  };

  /** While many wait for a sync, groups grow: none of them can be on disk before the next sync. */
  let held = false;
  let seen = 0;
  let turns = 0;
  const flush = (): void => {
    if (syncing !== undefined && syncing.length > FEW) {
      held = true;
      return;
    }
    if (waiting.length > Math.max(seen, FEW) && turns < TURNS_MAX) {
      seen = waiting.length;
      turns += 1;
      setImmediate(flush);
      return;
    }
    seen = 0;
    turns = 0;
    const group = waiting.length <= GROUP_LIMIT ? waiting : waiting.slice(0, GROUP_LIMIT);
    waiting = waiting.length <= GROUP_LIMIT ? [] : waiting.slice(GROUP_LIMIT);
    scheduled = waiting.length > 0;
    if (scheduled) setImmediate(flush);
    if (!closed) commit(group);
  };

  return {
    get: (sql, ...values) => read(() => reader.get(sql, ...values)),
    all: (sql, ...values) => read(() => reader.all(sql, ...values)),
    iterate: function* (sql, ...values) {
      try {
        yield* reader.iterate(sql, ...values);
      } catch (error) {
        throw faulty(error);
      }
    },
    write: (work) => enqueue(work, true),
    writeSoon: (work) => enqueue(work, false),
    durable: () =>
      new Promise((resolve) => {
        if (isSynced && syncing !== undefined) syncing.push(resolve);
        else if (isSynced || closed) resolve();
        else {
          unsynced.push(resolve);
          acknowledgements += 1;
          sync();
        }
      }),
    define: (sql) => read(() => db.exec(sql)),
    defineTogether: (work) => {
      try {
        db.exec("BEGIN");
        const result = work();
        db.exec("COMMIT");
        return result;
      } catch (error) {
        rollBack();
        throw asFault(error);
      }
    },
    shrink: () => {
      if (!closed) read(() => db.exec("PRAGMA shrink_memory"));
    },
    close: () => {
      if (closed) return;
      clearTimeout(soon);
      while (waiting.length > 0) commit(waiting.splice(0, GROUP_LIMIT));
      closed = true;
      clearTimeout(lateSync);
      if (log !== undefined) fdatasyncSync(log);
      for (const settled of [...(syncing ?? []), ...unsynced]) settled();
      if (syncing === undefined && log !== undefined) closeSync(log);
      statements.clear();
      db.close();
    },
  };
}
