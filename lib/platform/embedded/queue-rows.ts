import type { Reader, Row, Store, Tx } from "./store.ts";

/** A message as it is sent: checked, named and timed. */
export interface NewMessage {
  readonly id: string;
  readonly body: string;
  readonly groupId: string | undefined;
  readonly deduplicationId: string | undefined;
  /** Milliseconds since the epoch. */
  readonly sentAt: number;
  /** Left out where another waits that was not delivered yet. */
  readonly coalesces?: boolean;
}

export interface Content {
  readonly id: string;
  readonly body: string;
  readonly sentAt: number;
}

/** What is known of a waiting message without reading it. */
export interface Waiting {
  readonly seq: number;
  readonly groupId: string | undefined;
  readonly counts: Counts;
}

/** How often a message was delivered. */
export interface Counts {
  /** Deliveries that were given back, and the one under way. */
  readonly receives: number;
  /** Deliveries that ended with the process, or may have. */
  readonly interrupted: number;
}

/** The rows of one queue: a table of its own, so that sending is appending. */
export interface QueueRows {
  add(tx: Tx, message: NewMessage): number;
  content(seq: number): Content | undefined;
  /** In order, after `seq`. */
  after(seq: number, limit: number): Iterable<Waiting & Content>;
  allWaiting(): Iterable<Waiting>;
  count(): number;
  /** The highest number there was when the rows were opened; 0 where there was none. */
  readonly last: number;
  /** What an earlier `setDelivered` has written; 0 without one. */
  readonly markedThrough: number;
  setCounts(tx: Tx, seq: number, counts: Counts): void;
  /** Messages up to this number may have been delivered; later ones were not. */
  setDelivered(tx: Tx, through: number): void;
  has(tx: Tx, afterSeq: number): boolean;
  /** Number of rows that were there. */
  remove(tx: Tx, seq: number): number;
  /** Takes the message over to another queue under its id; undefined when it is not there any more. */
  moveTo(
    tx: Tx,
    seq: number,
    target: QueueRows,
  ): { readonly seq: number; readonly groupId: string | undefined } | undefined;
  /** Drops those of the oldest messages that were sent before; answers how many. */
  expire(tx: Tx, sentBefore: number): number;
}

const EXPIRE_BATCH = 500;

function groupOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/**
 * A message that an earlier process may have delivered counts as interrupted once, even where that process did not
 * write it down: it may have died before it could, with the message in its hands. `inOrder`: messages are delivered in
 * the order of their numbers, so that what lies behind the last delivery is known to be fresh.
 */
export function openQueueRows(store: Store, name: string, inOrder: boolean): QueueRows {
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]*$/.test(name))
    throw new TypeError(`"${name}" cannot be the name of a queue`);
  const table = `"q.${name}"`;
  store.define(
    `CREATE TABLE IF NOT EXISTS ${table} (seq INTEGER PRIMARY KEY, id TEXT NOT NULL, receives INTEGER NOT NULL, sent_at INTEGER NOT NULL, group_id TEXT, body TEXT NOT NULL, interrupted INTEGER NOT NULL DEFAULT 0)`,
  );
  if (!store.all(`PRAGMA table_info(${table})`).some((column) => column.name === "interrupted"))
    store.define(`ALTER TABLE ${table} ADD COLUMN interrupted INTEGER NOT NULL DEFAULT 0`);
  store.define(
    "CREATE TABLE IF NOT EXISTS queue_deliveries (queue TEXT PRIMARY KEY, through INTEGER NOT NULL) WITHOUT ROWID",
  );
  const insert = `INSERT INTO ${table} (seq, id, receives, sent_at, group_id, body) VALUES (?, ?, 0, ?, ?, ?)`;
  const select = `SELECT id, sent_at, group_id, body FROM ${table} WHERE seq = ?`;
  const drop = `DELETE FROM ${table} WHERE seq = ?`;
  const last = Number(store.get(`SELECT max(seq) AS seq FROM ${table}`)?.seq ?? 0);
  const stored = store.get("SELECT through FROM queue_deliveries WHERE queue = ?", name)?.through;
  const markedThrough = Number(stored ?? 0);
  const delivered = inOrder && stored !== undefined ? Math.min(last, markedThrough) : last;
  // A number that a failed commit took is not used again: numbers only have to grow.
  let next = last + 1;

  const countsOf = (row: Row): Counts => ({
    receives: Number(row.receives),
    interrupted: Math.max(Number(row.interrupted), Number(row.seq) <= delivered ? 1 : 0),
  });
  const read = (reader: Reader, seq: number): (Content & { groupId: string | undefined }) | undefined => {
    const row = reader.get(select, seq);
    if (row === undefined) return undefined;
    return {
      id: String(row.id),
      body: String(row.body),
      sentAt: Number(row.sent_at),
      groupId: groupOf(row.group_id),
    };
  };
  const rows: QueueRows = {
    last,
    markedThrough,
    add: (tx, { id, body, groupId, sentAt }) => {
      const seq = next++;
      tx.run(insert, seq, id, sentAt, groupId ?? null, body);
      return seq;
    },
    content: (seq) => read(store, seq),
    after: function* (seq, limit) {
      const sql = `SELECT seq, id, receives, interrupted, sent_at, group_id, body FROM ${table} WHERE seq > ? ORDER BY seq LIMIT ?`;
      for (const row of store.iterate(sql, seq, limit)) {
        yield {
          seq: Number(row.seq),
          groupId: groupOf(row.group_id),
          counts: countsOf(row),
          id: String(row.id),
          body: String(row.body),
          sentAt: Number(row.sent_at),
        };
      }
    },
    allWaiting: function* () {
      for (const row of store.iterate(
        `SELECT seq, group_id, receives, interrupted FROM ${table} ORDER BY seq`,
      )) {
        yield {
          seq: Number(row.seq),
          groupId: groupOf(row.group_id),
          counts: countsOf(row),
        };
      }
    },
    count: () => Number(store.get(`SELECT count(*) AS n FROM ${table}`)?.n),
    setCounts: (tx, seq, { receives, interrupted }) => {
      tx.run(`UPDATE ${table} SET receives = ?, interrupted = ? WHERE seq = ?`, receives, interrupted, seq);
    },
    setDelivered: (tx, seq) => {
      tx.run("INSERT OR REPLACE INTO queue_deliveries (queue, through) VALUES (?, ?)", name, seq);
    },
    has: (tx, afterSeq) => tx.get(`SELECT 1 FROM ${table} WHERE seq > ? LIMIT 1`, afterSeq) !== undefined,
    remove: (tx, seq) => tx.run(drop, seq),
    moveTo: (tx, seq, target) => {
      const message = read(tx, seq);
      if (message === undefined) return undefined;
      tx.run(drop, seq);
      return { seq: target.add(tx, { ...message, deduplicationId: undefined }), groupId: message.groupId };
    },
    expire: (tx, sentBefore) =>
      tx.run(
        `DELETE FROM ${table} WHERE sent_at < ? AND seq IN (SELECT seq FROM ${table} ORDER BY seq LIMIT ${EXPIRE_BATCH})`,
        sentBefore,
      ),
  };
  return rows;
}
