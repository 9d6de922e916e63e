import type { Store } from "./store.ts";
import type { Reader, Row, Tx } from "./transaction.ts";

/** A message to send: validated, with id and time. */
export interface NewMessage {
  readonly id: string;
  readonly body: string;
  readonly groupId: string | undefined;
  readonly deduplicationId: string | undefined;
  /** Milliseconds since the epoch. */
  readonly sentAt: number;
}

export interface MessageContent {
  readonly id: string;
  readonly body: string;
  readonly sentAt: number;
}

/** Metadata of a waiting message. */
export interface WaitingMessage {
  readonly seq: number;
  readonly groupId: string | undefined;
  readonly counts: DeliveryCounts;
}

/** Delivery counts of a message. */
export interface DeliveryCounts {
  /** Deliveries that were released, and the current one. */
  readonly receives: number;
  /** Deliveries that ended, or may have ended, with the process. */
  readonly interrupted: number;
}

/** The rows of one queue in a separate table, so that sending only appends. */
export interface QueueRows {
  add(tx: Tx, message: NewMessage): number;
  content(seq: number): MessageContent | undefined;
  /** Rows after `seq`, in order. */
  after(seq: number, limit: number): Iterable<WaitingMessage & MessageContent>;
  allWaiting(): Iterable<WaitingMessage>;
  count(): number;
  /** The highest number when the rows were opened; 0 if there were none. */
  readonly last: number;
  /** The value of an earlier `setDelivered`; 0 by default. */
  readonly markedThrough: number;
  setCounts(tx: Tx, seq: number, counts: DeliveryCounts): void;
  /** Records that messages up to this number may have been delivered, and later ones were not. */
  setDelivered(tx: Tx, through: number): void;
  has(tx: Tx, afterSeq: number): boolean;
  /** Returns the number of deleted rows. */
  remove(tx: Tx, seq: number): number;
  /** Moves the message to another queue and keeps its id; undefined if it no longer exists. */
  moveTo(
    tx: Tx,
    seq: number,
    target: QueueRows,
  ): { readonly seq: number; readonly groupId: string | undefined } | undefined;
  /** Deletes some of the oldest messages that were sent before this time; returns their number. */
  expire(tx: Tx, sentBefore: number): number;
}

const EXPIRE_BATCH = 500;

function groupOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/**
 * A message that an earlier process may have delivered counts as interrupted once, even if that process did not record
 * it: it may have died first, while it handled the message. `inOrder`: messages are delivered in the order of their
 * numbers, so messages after the last delivered one are known to be undelivered.
 */
export function openQueueRows(store: Store, name: string, inOrder: boolean): QueueRows {
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]*$/.test(name)) throw new TypeError(`"${name}" is not a valid queue name`);
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
  // Numbers of failed commits are not reused: numbers only have to grow.
  let next = last + 1;

  const countsOf = (row: Row): DeliveryCounts => ({
    receives: Number(row.receives),
    interrupted: Math.max(Number(row.interrupted), Number(row.seq) <= delivered ? 1 : 0),
  });
  const read = (
    reader: Reader,
    seq: number,
  ): (MessageContent & { groupId: string | undefined }) | undefined => {
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
