import { LIMITS } from "../limits.ts";
import type { Store, Tx } from "./store.ts";

const WINDOW_MS = LIMITS.deduplicationSeconds.value * 1000;
const FORGET_BATCH = 1000;

/** The deduplication ids that FIFO queues accepted in the last five minutes. */
export interface Deduplication {
  /** True if the queue accepted a message with this id within the window; otherwise records the id. */
  seen(tx: Tx, queue: string, id: string, now: number): boolean;
  /** Deletes ids older than the window. */
  forget(tx: Tx, now: number): void;
}

export function openDeduplication(store: Store): Deduplication {
  store.define(
    "CREATE TABLE IF NOT EXISTS deduplication (n INTEGER PRIMARY KEY, queue TEXT NOT NULL, id TEXT NOT NULL, at INTEGER NOT NULL, UNIQUE (queue, id))",
  );
  return {
    seen: (tx, queue, id, now) => {
      const at = tx.get("SELECT at FROM deduplication WHERE queue = ? AND id = ?", queue, id)?.at;
      // A time in the future was written before the clock was set back.
      if (at !== undefined && Math.abs(now - Number(at)) < WINDOW_MS) return true;
      tx.run("INSERT OR REPLACE INTO deduplication (queue, id, at) VALUES (?, ?, ?)", queue, id, now);
      return false;
    },
    forget: (tx, now) => {
      const sql = `DELETE FROM deduplication WHERE n IN (SELECT n FROM deduplication ORDER BY n LIMIT ${FORGET_BATCH}) AND at < ?`;
      while (tx.run(sql, now - WINDOW_MS) === FORGET_BATCH);
    },
  };
}
