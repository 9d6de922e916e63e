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
  readonly receives: number;
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
  setReceives(tx: Tx, seq: number, receives: number): void;
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
 * `deliveredBefore` counts for messages of an earlier process that it has not counted itself: it may have died
 * before it could, with the message in its hands.
 */
export function openQueueRows(store: Store, name: string, deliveredBefore = 0): QueueRows {
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]*$/.test(name))
    throw new TypeError(`"${name}" cannot be the name of a queue`);
  const table = `"q.${name}"`;
  store.define(
    `CREATE TABLE IF NOT EXISTS ${table} (seq INTEGER PRIMARY KEY, id TEXT NOT NULL, receives INTEGER NOT NULL, sent_at INTEGER NOT NULL, group_id TEXT, body TEXT NOT NULL)`,
  );
  const insert = `INSERT INTO ${table} (seq, id, receives, sent_at, group_id, body) VALUES (?, ?, 0, ?, ?, ?)`;
  const select = `SELECT id, sent_at, group_id, body FROM ${table} WHERE seq = ?`;
  const drop = `DELETE FROM ${table} WHERE seq = ?`;
  const last = Number(store.get(`SELECT max(seq) AS seq FROM ${table}`)?.seq ?? 0);
  // A number that a failed commit took is not used again: numbers only have to grow.
  let next = last + 1;

  const receivesOf = (row: Row): number =>
    Number(row.seq) <= last ? Math.max(deliveredBefore, Number(row.receives)) : Number(row.receives);
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
    add: (tx, { id, body, groupId, sentAt }) => {
      const seq = next++;
      tx.run(insert, seq, id, sentAt, groupId ?? null, body);
      return seq;
    },
    content: (seq) => read(store, seq),
    after: function* (seq, limit) {
      const sql = `SELECT seq, id, receives, sent_at, group_id, body FROM ${table} WHERE seq > ? ORDER BY seq LIMIT ?`;
      for (const row of store.iterate(sql, seq, limit)) {
        yield {
          seq: Number(row.seq),
          groupId: groupOf(row.group_id),
          receives: receivesOf(row),
          id: String(row.id),
          body: String(row.body),
          sentAt: Number(row.sent_at),
        };
      }
    },
    allWaiting: function* () {
      for (const row of store.iterate(`SELECT seq, group_id, receives FROM ${table} ORDER BY seq`)) {
        yield {
          seq: Number(row.seq),
          groupId: groupOf(row.group_id),
          receives: receivesOf(row),
        };
      }
    },
    count: () => Number(store.get(`SELECT count(*) AS n FROM ${table}`)?.n),
    setReceives: (tx, seq, receives) => {
      tx.run(`UPDATE ${table} SET receives = ? WHERE seq = ?`, receives, seq);
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
