import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from "node:sqlite";
import { storageFault } from "./storage-faults.ts";

export type Row = Record<string, SQLOutputValue>;
export type Reader = Pick<Tx, "get" | "all" | "iterate">;
type Effects = readonly (() => void)[];

/** One write of a group. */
export interface Job {
  readonly work: (tx: Tx) => unknown;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

export interface Done {
  readonly job: Job;
  readonly value: unknown;
  readonly commitEffects: Effects;
  readonly durableEffects: Effects;
}

/** The transaction of a group of writes. Statements are cached by their text, so it must come from a bounded set. */
export class Tx {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  #hasWritten = false;
  #commitEffects: (() => void)[] = [];
  #durableEffects: (() => void)[] = [];

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  get(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#prepare(sql).get(...values);
  }

  all(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#prepare(sql).all(...values);
  }

  iterate(sql: string, ...values: SQLInputValue[]): Iterable<Row> {
    return this.#prepare(sql).iterate(...values) as Iterable<Row>;
  }

  /** Returns the number of rows changed. */
  run(sql: string, ...values: SQLInputValue[]): number {
    this.#hasWritten = true;
    return Number(this.#prepare(sql).run(...values).changes);
  }

  /** Runs at the commit, before the promise of the write resolves; never after a failed one. */
  afterCommit(effect: () => void): void {
    this.#commitEffects.push(effect);
  }

  /** Runs once the commit is on disk, before the promise of the write resolves; the promise then waits for it. */
  onceDurable(effect: () => void): void {
    this.#durableEffects.push(effect);
  }

  /**
   * Commits a group, without the jobs that fail: rejects and removes these. Throws if the storage fails; if it is full,
   * after a second attempt behind a checkpoint, because the log may contain data that fits into the file.
   */
  commit(jobs: Set<Job>): readonly Done[] {
    try {
      return this.#runAndCommit(jobs);
    } catch (error) {
      if (storageFault(error)?.code !== "storage_full") throw error;
      this.#db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      return this.#runAndCommit(jobs);
    }
  }

  rollBack(): void {
    // SQLite has already rolled back after some faults (disk full, I/O).
    if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
  }

  #runAndCommit(jobs: Set<Job>): readonly Done[] {
    try {
      for (;;) {
        this.#prepare("BEGIN IMMEDIATE").run();
        const done = this.#runJobs(jobs);
        if (done === undefined) {
          this.rollBack();
          continue;
        }
        this.#prepare("COMMIT").run();
        return done;
      }
    } catch (error) {
      this.rollBack();
      throw error;
    }
  }

  /** `undefined` if a job failed after a write, so that all must be rolled back. */
  #runJobs(jobs: Set<Job>): readonly Done[] | undefined {
    const done: Done[] = [];
    for (const job of jobs) {
      this.#hasWritten = false;
      this.#commitEffects = [];
      this.#durableEffects = [];
      try {
        const value = job.work(this);
        done.push({ job, value, commitEffects: this.#commitEffects, durableEffects: this.#durableEffects });
      } catch (error) {
        if (storageFault(error)) throw error;
        jobs.delete(job);
        job.reject(error);
        if (this.#hasWritten) return undefined;
      }
    }
    return done;
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

/** Applies effects of a job after its commit; rejects it if one fails. */
export function applyEffects(job: Job, effects: Effects): void {
  try {
    for (const effect of effects) effect();
  } catch (error) {
    job.reject(error);
  }
}
