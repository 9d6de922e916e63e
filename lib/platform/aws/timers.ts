import type { Clock } from "../clock.ts";
import { LIMITS } from "../limits.ts";
import type { OutgoingMessage } from "../queues.ts";
import type { Key, Tables } from "../tables.ts";
import type { Timers } from "../timers.ts";
import { type DueTimer, timersTable } from "../timers-table.ts";
import type { AwsQueues } from "./queues.ts";

export interface AwsTimers {
  readonly port: Timers;
  /**
   * Sends the timers that are due by `now` (milliseconds since the epoch) or within the next minute. Returns their
   * number.
   */
  sweep(now: number): Promise<number>;
}

/** The only partition of the index; a sweep reads it from the start. */
const DUE = "due";
/** Sort key of every item; only the partition key varies. */
const TIMER = "timer";
/** Interval of the sweeps plus their possible delay. */
const AHEAD_MS = 90_000;
const PAGE = 100;

const keyOf = (id: string): Key => ({ pk: id, sk: TIMER });
/** Sorts as text in the order of time. */
const timeText = (at: number): string => new Date(at).toISOString();

/**
 * The timers port: a timer up to 15 minutes ahead is a delayed message; a later one is an item of the timers table,
 * which a sweep every minute turns into a message. A timer that is already a message cannot be recalled: it is
 * delivered even after `cancel` or a second `set`. FIFO queues cannot delay a message, so their timers are always items
 * and are sent up to a minute late.
 */
export function awsTimers(options: { tables: Tables; queues: AwsQueues; clock: Clock }): AwsTimers {
  const { tables, queues, clock } = options;

  const sendAt = async (at: number, now: number, queue: string, message: OutgoingMessage): Promise<void> => {
    const wait = Math.max(0, Math.ceil((at - now) / 1000));
    const delay = wait === 0 || queues.isFifo(queue) ? {} : { delaySeconds: wait };
    await queues.port.send(queue, [{ ...message, ...delay }]);
  };

  const fire = async (timer: DueTimer, now: number): Promise<void> => {
    const { pk, sk, at, queue, body, groupId, deduplicationId } = timer;
    const message = {
      body,
      ...(groupId === undefined ? {} : { groupId }),
      ...(deduplicationId === undefined ? {} : { deduplicationId }),
    };
    await sendAt(at, now, queue, message);
    // Sent before it is deleted, so that a crash in between does not lose it; not deleted if its time changed
    // meanwhile.
    await tables.write([{ op: "delete", table: timersTable, key: { pk, sk }, when: [["at", "=", at]] }]);
  };

  const port: Timers = {
    set: async (id, at, queue, message) => {
      if (!Number.isFinite(at)) throw new RangeError("a timer requires a time");
      queues.prepare(queue, [message]);
      const now = clock.now();
      const soon = at - now <= (queues.isFifo(queue) ? 0 : LIMITS.messageDelaySeconds.value * 1000);
      if (soon) {
        await sendAt(at, now, queue, message);
        await port.cancel(id);
        return;
      }
      const { body, groupId, deduplicationId } = message;
      const item: DueTimer = {
        ...keyOf(id),
        due: DUE,
        dueAt: timeText(at),
        at,
        queue,
        body,
        ...(groupId === undefined ? {} : { groupId }),
        ...(deduplicationId === undefined ? {} : { deduplicationId }),
      };
      await tables.write([{ op: "put", table: timersTable, item }]);
    },
    cancel: async (id) => {
      await tables.write([{ op: "delete", table: timersTable, key: keyOf(id) }]);
    },
  };

  const sweep = async (now: number): Promise<number> => {
    let count = 0;
    let cursor: string | undefined;
    do {
      const page = await tables.query(timersTable, {
        index: "byTime",
        pk: DUE,
        sk: { to: timeText(now + AHEAD_MS) },
        limit: PAGE,
        ...(cursor === undefined ? {} : { cursor }),
      });
      // FIFO queues cannot delay messages, so their timers wait for the first sweep after their time.
      const due = page.items.filter(({ at, queue }) => at <= now || !queues.isFifo(queue));
      await Promise.all(due.map((timer) => fire(timer, now)));
      count += due.length;
      cursor = page.cursor;
    } while (cursor !== undefined);
    return count;
  };
  return { port, sweep };
}
