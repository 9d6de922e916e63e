import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import { createAlarm } from "./alarm.ts";
import type { NewMessage } from "./queue-rows.ts";
import type { Store } from "./store.ts";
import type { Tx } from "./transaction.ts";

/** Messages that are not in their queue yet: delayed messages and timers. */
export interface DelayedMessages {
  /** Replaces the message with the same key. `due` is in milliseconds since the epoch. */
  put(tx: Tx, key: string, due: number, queue: string, message: NewMessage): void;
  cancel(tx: Tx, key: string): void;
  /** Number of messages for the queue whose keys have this prefix. */
  count(queue: string, keyPrefix: string): number;
  /** Delivers what is due now, and resolves when that is on disk. */
  poke(): Promise<void>;
  close(): void;
}

const BATCH = 500;

/**
 * Stores the messages on disk and only the next due time in memory. `deliver` adds a message to its queue in the commit
 * that deletes it here; messages of undeclared queues are kept.
 */
export function openDelayed(options: {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly queues: readonly string[];
  readonly deliver: (tx: Tx, queue: string, message: NewMessage) => void;
}): DelayedMessages {
  const { store, clock, log, deliver } = options;
  const queues = JSON.stringify(options.queues);
  store.define(`
    CREATE TABLE IF NOT EXISTS delayed (
      key TEXT PRIMARY KEY, due INTEGER NOT NULL, queue TEXT NOT NULL, id TEXT NOT NULL, sent_at INTEGER NOT NULL,
      group_id TEXT, deduplication_id TEXT, body TEXT NOT NULL) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS "delayed.due" ON delayed (due, queue);`);

  const readNext = (): number | undefined => {
    const sql =
      "SELECT due FROM delayed WHERE queue IN (SELECT value FROM json_each(?)) ORDER BY due LIMIT 1";
    const due = store.get(sql, queues)?.due;
    return due === undefined ? undefined : Number(due);
  };
  const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
  const deliverBatch = (tx: Tx): number => {
    const now = clock.now();
    const rows = tx.all(
      "SELECT * FROM delayed WHERE due <= ? AND queue IN (SELECT value FROM json_each(?)) ORDER BY due LIMIT ?",
      now,
      queues,
      BATCH,
    );
    for (const row of rows) {
      tx.run("DELETE FROM delayed WHERE key = ?", String(row.key));
      deliver(tx, String(row.queue), {
        id: String(row.id),
        body: String(row.body),
        groupId: textOf(row.group_id),
        deduplicationId: textOf(row.deduplication_id),
        sentAt: now,
      });
    }
    return rows.length;
  };

  let next = readNext();
  const alarm = createAlarm({
    clock,
    log,
    next: () => next,
    ring: async () => {
      while ((await store.write(deliverBatch)) === BATCH);
      next = readNext();
    },
  });
  alarm.arm();
  return {
    put: (tx, key, due, queue, message) => {
      tx.run(
        "INSERT OR REPLACE INTO delayed (key, due, queue, id, sent_at, group_id, deduplication_id, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        key,
        due,
        queue,
        message.id,
        message.sentAt,
        message.groupId ?? null,
        message.deduplicationId ?? null,
        message.body,
      );
      tx.afterCommit(() => {
        if (next !== undefined && next <= due) return;
        next = due;
        alarm.arm();
      });
    },
    cancel: (tx, key) => {
      tx.run("DELETE FROM delayed WHERE key = ?", key);
    },
    count: (queue, keyPrefix) => {
      const sql = "SELECT count(*) AS n FROM delayed WHERE queue = ? AND substr(key, 1, ?) = ?";
      return Number(store.get(sql, queue, keyPrefix.length, keyPrefix)?.n);
    },
    poke: () => alarm.poke(),
    close: () => alarm.close(),
  };
}
