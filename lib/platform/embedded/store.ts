import { close, closeSync, fdatasync, fdatasyncSync, fsyncSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from "node:sqlite";
import { PlatformFault } from "../faults.ts";
import { asFault, storageFault } from "./storage-faults.ts";

export type Row = Record<string, SQLOutputValue>;

/** Reading; statements are kept by their text, so the text must come from a bounded set. */
export interface Reader {
  get(sql: string, ...values: SQLInputValue[]): Row | undefined;
  all(sql: string, ...values: SQLInputValue[]): Row[];
  iterate(sql: string, ...values: SQLInputValue[]): Iterable<Row>;
}

export interface Tx extends Reader {
  /** Number of rows changed. */
  run(sql: string, ...values: SQLInputValue[]): number;
  /** Runs at the commit, before the promise of the write settles; never after a failed one. */
  afterCommit(effect: () => void): void;
  /** Runs once the commit is on disk, before the promise of the write settles, which then waits for it. */
  onceDurable(effect: () => void): void;
}

/**
 * What is committed is seen by every reader and survives the end of the process; a power cut may undo the last
 * commits, never one without all that came after it. So what leads to nothing but further writes here may go on at
 * the commit, and only what the world outside is told of or made to do waits until it is on disk.
 */
export interface Store extends Reader {
  /**
   * Runs `work` in the next group commit and settles when that is done. `work` must test all that it
   * depends on before its first write, and may run again when another of its group had to be undone.
   * Rejects with PlatformFault `storage_full`, `storage_read_only` or `unavailable`, nothing written.
   */
  write<Result>(work: (tx: Tx) => Result): Promise<Result>;
  /** As `write`, for what nobody waits for: it goes along with the next group, or makes one a little later. */
  writeSoon<Result>(work: (tx: Tx) => Result): Promise<Result>;
  /** Settles when all that is committed by now is on disk. */
  durable(): Promise<void>;
  /** Changes the schema: at once, outside of any group. */
  define(sql: string): void;
  /** Changes of the schema in one transaction, as one alone costs as much as all. Nothing else is written meanwhile. */
  defineTogether<Result>(work: () => Result): Result;
  /** Gives back the memory of pages that are kept for further reads. */
  shrink(): void;
  /** Commits what waits, then closes; every later write is refused. */
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

/** Bounds how long one group holds the loop. */
const GROUP_LIMIT = 500;
/** How long what nobody waits for may wait for a group to go along with, milliseconds. */
const SOON_MS = 20;
/** A group that grows waits for so many turns of the loop at most. */
const TURNS_MAX = 8;
/** So many writes or waiters are no crowd: each of them is served as soon as it can be. */
const FEW = 2;
/**
 * Where nobody outside waits, and a sync takes no longer than that, milliseconds, the loop waits for it: handing it to
 * a thread and back takes as long again.
 */
const WAITED_FOR_MS = 0.5;
/** What nobody waits for is on disk after so long, milliseconds. */
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
 * One SQLite file that is written in group commits: all writes asked for in the same turn of the event
 * loop share one transaction. SQLite appends it to its log without waiting for the disk; the log is synced here,
 * outside of the loop, and all that was committed before a sync began is on disk when it ends. The file is locked
 * as long as it is open, which spares the shared-memory file (nothing can fault in it when the disk is full) and
 * the locks of every read. `observe` receives every fault of the storage.
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

  /** Runs the jobs in the open transaction; false when one failed after a write, so that all must be undone. */
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

  /** What waits until all that is committed is on disk. */
  let unsynced: (() => void)[] = [];
  let syncing: (() => void)[] | undefined;
  /** Nothing was committed since the last sync began. */
  let isSynced = true;
  let lateSync: NodeJS.Timeout | undefined;
  let log: number | undefined;
  /** Opened with the first commit: before it there may be no log. The folder has to know of it as well. */
  const openLog = (): number => {
    const folder = openSync(dirname(path), "r");
    fsyncSync(folder);
    closeSync(folder);
    return openSync(`${path}-wal`, "r");
  };
  /** Of what waits: that those outside are told of something. */
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
    // What the log holds now nobody can say: only a new start can read it.
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

  /** One transaction of all jobs that are not refused; again without each that has to be undone. */
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
        // The log may hold what would fit into the file: copied there, its space is free again.
        db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
        done = commitJobs(jobs, refused);
      }
    } catch (error) {
      rollBack();
      const fault = faulty(error);
      for (const job of jobs) job.reject(fault);
      return;
    }
    // Not among what is undone: a sync that fails ends the process, and nothing that is committed runs again.
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

  /** While a sync is under way that many wait for, groups grow: none of them could be on disk before the one after it. */
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
